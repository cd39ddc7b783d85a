"""The in-memory twin of `lumina.stores.sql.forgetting`, `held` and `late`."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from lumina.memory.change import About
from lumina.memory.late import late_events, late_receipt
from lumina.memory.removal import (
    Audited,
    HeldDelta,
    HeldJob,
    HeldReceipt,
    MaskedTurn,
    NewAudit,
    Removal,
    Rule,
    TurnKey,
)
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import AppliedDelta, Snapshot, StoredReceipt
from lumina.memory.turns import Citation, Source, ThreadInfo, ToolRecord, Turn
from lumina.memory.words import content_words
from lumina.stores.in_memory_kept import Kept, KeptSubject, KeptThread

EMPTY_DIGEST = hashlib.sha256(b"").hexdigest()


class InMemoryForgetting(Kept):
    """Forgetting and the audit."""

    def __init__(self) -> None:
        super().__init__()
        self._audits: dict[tuple[str, str], list[Audited]] = {}

    async def forget(self, scope: SubjectScope, rule: Rule, audit: NewAudit) -> Removal | None:
        subject = self._subject(scope)
        owner = (scope.tenant, scope.subject)
        documents = bool(getattr(self, "_documents", {}).get(owner))
        removal = rule(_Held(subject, anything=owner in self._subjects or documents))
        if removal is None:
            return None
        self._add_audit(owner, audit, json.dumps(dict(removal.detail)))
        if removal.whole:
            self._subjects.pop(owner, None)
            getattr(self, "_documents", {}).pop(owner, None)
            self._audits[owner] = self._audits[owner][-1:]
        else:
            _carry_out(subject, removal)
        return removal

    def _add_audit(self, owner: tuple[str, str], new: NewAudit, detail: str) -> None:
        known = self._audits.get(owner, [])
        row = Audited(
            number=known[-1].number + 1 if known else 1, thread=new.thread, action=new.action, by=new.by, at=new.at,
            detail=detail,
        )  # fmt: skip
        self._audits[owner] = [*known, row]

    async def scrub(self) -> bool:
        return True  # there is no file

    async def audit(self, scope: SubjectScope) -> list[Audited]:
        self._subject(scope)
        return list(self._audits.get((scope.tenant, scope.subject), ()))

    def _forgot(self, scope: ThreadScope) -> str:
        """The day of the last forget of the subject, "" without one."""
        rows = self._audits.get((scope.tenant, scope.subject), ())
        return next((row.at[:10] for row in reversed(rows) if row.action.startswith("forget")), "")

    def _late_receipt(self, scope: ThreadScope, receipt: StoredReceipt) -> StoredReceipt:
        day = self._forgot(scope)
        if not day:
            return receipt
        remains = _Remains(self._subject(scope), scope.thread)
        return replace(receipt, body=late_receipt(scope.thread, receipt, remains, day))

    def _late_events(self, scope: ThreadScope, bodies: Sequence[str]) -> Sequence[str]:
        return late_events(bodies, _Remains(self._subject(scope), scope.thread)) if self._forgot(scope) else bodies


class _Remains:
    def __init__(self, subject: KeptSubject, thread: str) -> None:
        self._subject = subject
        self._thread = subject.threads[thread]

    def forgotten_turns(self, seqs: Collection[int]) -> dict[TurnKey, str]:
        turns = self._thread.turns
        return {key: kept.turn.forgotten for key, kept in turns.items() if key[0] in seqs and kept.turn.forgotten}

    def deltas_of(self, *, seqs: Collection[int] = (), numbers: Collection[int] = ()) -> list[str]:
        found = [delta.changes for delta in self._thread.deltas.values() if delta.seq in seqs]
        for thread in self._subject.threads.values():
            found += [delta.changes for delta in thread.deltas.values() if delta.number in numbers]
        return found

    def snapshots(self) -> list[tuple[About, str]]:
        return [("thread", self._thread.state.body), ("subject", self._subject.profile.body)]


class _Held:
    """A `Held` over what is kept."""

    def __init__(self, subject: KeptSubject, *, anything: bool) -> None:
        self._subject = subject
        self._anything = anything

    def anything(self) -> bool:
        return self._anything

    def threads(self) -> list[ThreadInfo]:
        return [self._subject.threads[name].info for name in sorted(self._subject.threads)]

    def turn_keys(self, thread: str) -> list[TurnKey]:
        return sorted(self._subject.threads[thread].turns)

    def turns(self, thread: str) -> dict[TurnKey, Turn]:
        return {key: kept.turn for key, kept in sorted(self._subject.threads[thread].turns.items())}

    def followups(self, thread: str) -> dict[TurnKey, tuple[str, ...]]:
        return {key: kept.page.followups for key, kept in self._subject.threads[thread].turns.items()}

    def citations(self, thread: str, key: TurnKey) -> Sequence[Citation]:
        return self._subject.threads[thread].turns[key].page.citations

    def tool_calls(self, thread: str, key: TurnKey) -> list[ToolRecord]:
        calls = self._subject.threads[thread].turns[key].calls
        return [calls[index] for index in sorted(calls)]

    def log(self, thread: str, key: TurnKey) -> list[tuple[int, str]]:
        return list(enumerate(self._subject.threads[thread].logs.get(key, ()), 1))

    def jobs(self, thread: str) -> list[HeldJob]:
        jobs = sorted(self._subject.threads[thread].jobs.items())
        return [HeldJob(seq=job.seq, attempt=job.attempt, status=job.status) for _, job in jobs]

    def deltas(self) -> list[HeldDelta]:
        return [
            HeldDelta(
                thread=name, seq=one.seq, attempt=one.attempt, correction=one.correction, number=one.number,
                changes=one.changes,
                live=one.correction > 0 or not thread.turns[one.seq, one.attempt].page.superseded,
            )
            for name, thread in sorted(self._subject.threads.items())
            for _, one in sorted(thread.deltas.items())
        ]  # fmt: skip

    def receipts(self) -> list[HeldReceipt]:
        return [
            HeldReceipt(
                thread=name, seq=one.seq, attempt=one.attempt, call=one.call, purpose=one.purpose, body=one.body
            )
            for name, thread in sorted(self._subject.threads.items())
            for _, kept in sorted(thread.turns.items())
            for _, one in sorted(kept.receipts.items())
        ]

    def sources(self, thread: str) -> list[Source]:
        sources = self._subject.threads[thread].sources
        return [sources[n] for n in sorted(sources)]

    def readings(self, thread: str) -> list[tuple[TurnKey, int]]:
        return [(key, n) for key, kept in sorted(self._subject.threads[thread].turns.items()) for n in kept.read]


def _carry_out(subject: KeptSubject, removal: Removal) -> None:
    threads = subject.threads
    for name, key in removal.turns:
        _blank_turn(threads[name], key, removal.day)
    for turn in removal.masked:
        _mask_turn(threads[turn.thread], turn)
    for name, key, record in removal.calls:
        threads[name].turns[key].calls[record.index] = record
    for name, key, number, body in removal.events:
        threads[name].logs[key][number - 1] = body
    for name in removal.jobs:
        jobs = threads[name].jobs
        jobs.update({key: replace(job, answer="", reason="") for key, job in jobs.items()})
    for receipt in removal.receipts:
        kept = threads[receipt.thread].turns[receipt.seq, receipt.attempt].receipts
        kept[receipt.call] = replace(kept[receipt.call], body=receipt.body)
    for name, n in removal.sources:
        _blank_source(subject, threads[name], n)
    for name in removal.titles:
        threads[name].info = replace(threads[name].info, title="")
    for name in removal.threads:
        del threads[name]
    for one in removal.deltas:
        threads[one.thread].deltas[one.seq, one.attempt, one.correction] = AppliedDelta(
            seq=one.seq, attempt=one.attempt, correction=one.correction, number=one.number, changes=one.changes,
            thread=one.thread,
        )  # fmt: skip
    for name, body in removal.states:
        if threads[name].state.version:
            threads[name].state = Snapshot(version=threads[name].state.version + 1, body=body)
    if removal.profile is not None and subject.profile.version:
        subject.profile = Snapshot(version=subject.profile.version + 1, body=removal.profile)
    if removal.texts is not None:
        _drop_texts(subject, removal.texts)


def _blank_turn(thread: KeptThread, key: TurnKey, day: str) -> None:
    kept = thread.turns[key]
    ids = {id for id, (turn, _) in thread.passages.items() if turn == key}
    _unindex(thread, ids)
    thread.passage_ids = [id for id in thread.passage_ids if id not in ids]
    for id in ids:
        del thread.passages[id]
    thread.logs.pop(key, None)
    kept.calls.clear()
    kept.read.clear()
    kept.uses.clear()
    job = thread.jobs.get(key)
    status = kept.turn.delta
    if job is not None:
        status = job.status if job.status == "applied" else "set aside"
        thread.jobs[key] = replace(job, status=status, answer="", reason="", tries=0)
    kept.turn = replace(
        kept.turn, question="", answer="", reason="", exchanges=(), cited=(), delta=status, forgotten=day,
        read_sources=False,
    )  # fmt: skip
    kept.page = replace(
        kept.page, question="", answer="", reason="", citations=(), followups=(), usage="{}", searched="not needed",
        delta=status, forgotten=day,
    )  # fmt: skip


def _mask_turn(thread: KeptThread, turn: MaskedTurn) -> None:
    kept = thread.turns[turn.key]
    kept.turn = replace(kept.turn, question=turn.question, answer=turn.answer, exchanges=turn.exchanges)
    kept.page = replace(
        kept.page, question=turn.question, answer=turn.answer, followups=turn.followups, citations=turn.citations
    )
    mine = {id: one for id, (key, one) in thread.passages.items() if key == turn.key}
    _unindex(thread, set(mine))
    texts = {"question": turn.question, "answer": turn.answer}
    for id, one in mine.items():
        words = tuple(content_words(texts[one.part][one.start : one.end]))
        thread.passages[id] = turn.key, replace(one, words=words)
        for word in set(words):
            thread.words[word] = sorted([*thread.words.get(word, ()), id])


def _unindex(thread: KeptThread, ids: set[int]) -> None:
    """Takes passages out of the index of words and of embeddings."""
    for id in ids:
        thread.vectors.pop(id, None)
    for word in {word for id in ids for word in thread.passages[id][1].words}:
        left = [id for id in thread.words.get(word, ()) if id not in ids]
        if left:
            thread.words[word] = left
        else:
            thread.words.pop(word, None)


def _blank_source(subject: KeptSubject, thread: KeptThread, n: int) -> None:
    subject.texts.setdefault(EMPTY_DIGEST, "")
    source = thread.sources[n]
    del thread.by_locator[source.locator]
    locator = f"forgotten:{n}"
    thread.by_locator[locator] = n
    thread.sources[n] = replace(source, locator=locator, url="", title="", host="", digest=EMPTY_DIGEST)


def _drop_texts(subject: KeptSubject, kept: frozenset[str]) -> None:
    named = {source.digest for thread in subject.threads.values() for source in thread.sources.values()}
    named |= {
        one.digest
        for thread in subject.threads.values()
        for turn in thread.turns.values()
        for one in turn.page.citations
    }
    for digest in set(subject.texts) - named - kept:
        del subject.texts[digest]
