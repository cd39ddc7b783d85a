"""Threads in memory: the twin of the SQLite store, for tests and for what need not last.

The same answers, refusals and numbers, from dictionaries. No method waits for anything between its first line and its
last, so each is one step for every other task of the event loop. There is no process to lose: a running turn runs until
it is finished.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from lumina.memory.errors import NotFound, TurnConflict, UsageError
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import (
    DeltaJob,
    StoredReceipt,
)
from lumina.memory.turns import (
    NewSource,
    NewTurn,
    RecentTurns,
    Source,
    SourceName,
    ThreadInfo,
    ToolRecord,
    Turn,
    TurnEnd,
    TurnPage,
    Unreadable,
)
from lumina.stores import checks
from lumina.stores.in_memory_documents import InMemoryDocuments
from lumina.stores.in_memory_kept import KeptSubject, KeptThread, KeptTurn, Key
from lumina.stores.in_memory_removing import remove_expired
from lumina.stores.in_memory_superseding import make_room
from lumina.stores.in_memory_transfer import InMemoryTransfer
from lumina.stores.in_memory_usage import InMemoryUsage
from lumina.stores.in_memory_vectors import InMemoryVectors
from lumina.stores.passage_ids import passage_id


class InMemoryStore(InMemoryTransfer, InMemoryVectors, InMemoryUsage, InMemoryDocuments):
    """A `Store` and a `DocumentStore`."""

    def __init__(self, *, secret: bytes = b"") -> None:
        """`secret` is fixed in tests; otherwise it is made anew."""
        super().__init__()
        self._secret = secret or secrets.token_bytes(32)

    async def secret(self) -> bytes:
        return self._secret

    async def close(self) -> None:
        self._closed = True

    # Threads

    async def open_thread(
        self, scope: ThreadScope, *, deltas: bool, expires_at: datetime | None = None, now: datetime | None = None
    ) -> ThreadInfo:
        checks.check_moment("now", now)
        expires = checks.check_moment("expires_at", expires_at)
        remove_expired(self._subject(scope), now)
        subject = self._subjects.setdefault((scope.tenant, scope.subject), KeptSubject())
        if scope.thread not in subject.threads:
            info = ThreadInfo(
                thread=scope.thread, title="", deltas=bool(deltas), turns=0, running=0, asked_at="", expires_at=expires
            )  # fmt: skip
            subject.threads[scope.thread] = KeptThread(info=info)
        return subject.threads[scope.thread].info

    async def threads(self, scope: SubjectScope, *, limit: int = 50, now: datetime | None = None) -> list[ThreadInfo]:
        checks.check_moment("now", now)
        remove_expired(self._subject(scope), now)
        found = sorted(self._subject(scope).threads.values(), key=lambda one: (-one.number, one.info.thread))
        return [thread.info for thread in found[: max(limit, 0)]]

    async def thread_info(self, scope: ThreadScope) -> ThreadInfo:
        return self._thread(scope).info

    async def set_title(self, scope: ThreadScope, title: str, *, turn: Key | None = None) -> None:
        checks.check_text("title", title)
        thread = self._thread(scope)
        if turn in thread.turns and thread.turns[turn].turn.forgotten:
            return
        thread.info = replace(thread.info, title=title)

    # Turns

    async def begin_turn(self, scope: ThreadScope, new: NewTurn, *, instead_of: int = 0) -> tuple[Turn, bool]:
        checks.check_new_turn(new)
        checks.check_whole("instead_of", instead_of)
        known = self._arrive(scope, new)
        return (known, False) if known is not None else (self._begin(scope, new, instead_of), True)

    async def finish_turn(self, scope: ThreadScope, end: TurnEnd) -> Turn:
        checks.check_end(end)
        thread, kept = self._turn(scope, end.seq, end.attempt)
        return kept.turn if kept.turn.status != "running" else self._finish(thread, kept, end)

    async def record_turn(
        self, scope: ThreadScope, new: NewTurn, end: TurnEnd, receipt: str, *, instead_of: int = 0
    ) -> Turn:
        checks.check_new_turn(new)
        checks.check_whole("instead_of", instead_of)
        checks.check_end(end)
        checks.check_json("receipt", receipt)
        known = self._arrive(scope, new)
        if known is not None:
            return known
        begun = self._begin(scope, new, instead_of)
        thread, kept = self._turn(scope, begun.seq, begun.attempt)
        turn = self._finish(thread, kept, replace(end, seq=begun.seq, attempt=begun.attempt))
        account = StoredReceipt(seq=turn.seq, attempt=turn.attempt, call=1, purpose="answer", body=receipt)
        kept.receipts[1] = self._late_receipt(scope, account)
        return turn

    def _arrive(self, scope: ThreadScope, new: NewTurn) -> Turn | None:
        thread = self._thread(scope)
        if new.client_id in thread.by_client:
            turn = thread.turns[thread.by_client[new.client_id]].turn
            if turn.question != new.question and not turn.forgotten:
                raise UsageError(
                    f"client_id {new.client_id!r} already belongs to turn {turn.seq}, which asks something else. "
                    "Nothing was stored; give a new question a new client_id."
                )
            return turn
        if thread.info.running:
            raise TurnConflict(
                f"Turn {thread.info.running} of this thread is still being answered. One turn runs at a time; nothing "
                "was stored. Wait for it, or stop it.",
                running=thread.info.running,
            )
        return None

    def _begin(self, scope: ThreadScope, new: NewTurn, instead_of: int) -> Turn:
        subject, thread = self._subject(scope), self._thread(scope)
        seq, attempt, number, asked = thread.info.turns + 1, 1, 0, checks.asked_at(new)
        passage_id(seq, 0)
        if instead_of:
            seq = instead_of
            attempt, number = make_room(subject, thread, seq)
        subject.number += 1
        turn = Turn(
            seq=seq, attempt=attempt, question=new.question, answer="", status="running", reason="", day=new.day,
            delta="none", number=number or subject.number,
        )  # fmt: skip
        page = TurnPage(
            seq=seq, attempt=attempt, client_id=new.client_id, question=new.question, answer="", status="running",
            reason="", searched="not needed", asked_at=asked, zone=new.zone, superseded=False, delta="none",
            citations=(), read=(),
        )  # fmt: skip
        thread.turns[seq, attempt] = KeptTurn(turn=turn, page=page)
        thread.by_client[new.client_id] = (seq, attempt)
        thread.number = subject.number
        thread.info = replace(thread.info, turns=max(seq, thread.info.turns), running=seq, asked_at=asked)
        return turn

    def _finish(self, thread: KeptThread, kept: KeptTurn, end: TurnEnd) -> Turn:
        key = end.seq, end.attempt
        kept.turn = replace(
            kept.turn, answer=end.answer, status=end.status, reason=end.reason, delta=end.delta,
            exchanges=end.exchanges, cited=end.cited, window_start=end.window_start,
        )  # fmt: skip
        kept.page = replace(
            kept.page, answer=end.answer, status=end.status, reason=end.reason, delta=end.delta,
            searched=end.searched, citations=end.citations, usage=end.usage,
        )  # fmt: skip
        # An earlier attempt of the same turn has taken the first places.
        taken = sum(seq == end.seq for (seq, _), _ in thread.passages.values())
        found = sorted(end.passages, key=lambda one: (one.part != "question", one.start))
        for place, passage in enumerate(found, taken):
            id = passage_id(end.seq, place)
            thread.passages[id] = key, passage
            thread.passage_ids.append(id)
            for word in set(passage.words):
                thread.words.setdefault(word, []).append(id)
        if end.delta != "none":
            thread.jobs[key] = DeltaJob(
                seq=end.seq, attempt=end.attempt, status=end.delta, answer="", tries=0, reason=""
            )
        if end.events:
            thread.logs.setdefault(key, []).extend(end.events)
        thread.info = replace(thread.info, running=0)
        return kept.turn

    async def recent_turns(self, scope: ThreadScope, *, limit: int, before: int = 0) -> RecentTurns:
        thread = self._look(scope)
        found: list[Turn] = []
        for kept in reversed(thread.turns.values()) if thread else ():
            if len(found) >= limit:
                break
            live = kept.turn.status != "running" and not kept.page.superseded
            if live and (not before or kept.turn.seq < before):
                found.append(kept.turn)
        return RecentTurns(turns=tuple(reversed(found)))

    async def turns(self, scope: ThreadScope, keys: Sequence[Key]) -> dict[Key, Turn]:
        thread = self._look(scope)
        return {key: thread.turns[key].turn for key in sorted(set(keys)) if thread and key in thread.turns}

    async def page(
        self, scope: ThreadScope, *, first: int = 1, last: int = 0, superseded: bool = False
    ) -> list[TurnPage | Unreadable]:
        thread = self._look(scope)
        return [
            replace(kept.page, read=tuple(kept.read))
            for (seq, _), kept in (sorted(thread.turns.items(), key=lambda one: one[0]) if thread else ())
            if first <= seq and (not last or seq <= last) and (superseded or not kept.page.superseded)
        ]

    async def add_tool_call(self, scope: ThreadScope, seq: int, attempt: int, record: ToolRecord) -> None:
        checks.check_tool_record(record)
        _, kept = self._written(scope, seq, attempt)
        if kept.calls.setdefault(record.index, record) != record:
            raise UsageError(
                f"Tool call {record.index} of turn {seq} is already stored with other content. Nothing was changed; "
                "give every call of a turn its own index."
            )

    async def tool_calls(self, scope: ThreadScope, seq: int, attempt: int) -> list[ToolRecord]:
        thread = self._look(scope)
        kept = thread.turns.get((seq, attempt)) if thread else None
        return [kept.calls[index] for index in sorted(kept.calls)] if kept else []

    async def set_followups(self, scope: ThreadScope, seq: int, attempt: int, followups: Sequence[str]) -> None:
        for question in followups:
            checks.check_text("followups", question)
        _, kept = self._turn(scope, seq, attempt)
        if not kept.turn.forgotten:
            kept.page = replace(kept.page, followups=tuple(followups))

    # Events

    async def append_events(self, scope: ThreadScope, seq: int, attempt: int, bodies: Sequence[str]) -> int:
        checks.check_bodies(bodies)
        own = (seq, attempt) == (0, 0)
        thread = self._thread(scope) if own else self._written(scope, seq, attempt)[0]
        bodies = self._late_events(scope, bodies) if own else bodies
        log = thread.logs.setdefault((seq, attempt), [])
        log.extend(bodies)
        return len(log) - len(bodies) + 1

    async def events(self, scope: ThreadScope, seq: int, attempt: int, *, after: int = 0) -> list[tuple[int, str]]:
        thread = self._look(scope)
        log = thread.logs.get((seq, attempt), []) if thread else []
        return [(number, body) for number, body in enumerate(log, 1) if number > after]

    # Sources and texts

    async def register_source(self, scope: ThreadScope, seq: int, attempt: int, new: NewSource) -> Source:
        checks.check_source(new)
        thread, kept = self._written(scope, seq, attempt)
        digest = await self.put_text(scope.of_subject, new.text)
        n = thread.by_locator.setdefault(new.locator, thread.last_source + 1)
        thread.last_source = max(thread.last_source, n)
        known = thread.sources.get(n)
        if known is None or (known.depth, new.depth) != ("page", "snippet"):
            thread.sources[n] = Source(
                n=n, locator=new.locator, url=new.url, title=new.title, host=new.host, depth=new.depth, digest=digest
            )
        if n not in kept.read:
            kept.read.append(n)
            kept.turn = replace(kept.turn, read_sources=True)
        return thread.sources[n]

    async def sources(self, scope: ThreadScope, numbers: Sequence[int] | None = None) -> list[Source]:
        thread = self._look(scope)
        mine = thread.sources if thread else {}
        return [mine[n] for n in sorted(mine if numbers is None else set(numbers)) if n in mine]

    async def source_names(self, scope: ThreadScope, numbers: Sequence[int]) -> list[SourceName]:
        return [SourceName(n=one.n, title=one.title, host=one.host) for one in await self.sources(scope, numbers)]

    async def put_text(self, scope: SubjectScope, text: str) -> str:
        checks.check_text("text", text)
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        self._subject(scope)
        self._subjects.setdefault((scope.tenant, scope.subject), KeptSubject()).texts[digest] = text
        return digest

    async def text(self, scope: SubjectScope, digest: str) -> str:
        texts = self._subject(scope).texts
        if digest not in texts:
            raise NotFound(f"There is no stored text {digest!r} here.")
        return texts[digest]
