"""The in-memory twin of `lumina.stores.sql.state` and `lumina.stores.sql.recall`."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.removal import NewAudit
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import (
    AppliedDelta,
    DeltaJob,
    Snapshot,
    StoredPassage,
    StoredReceipt,
    VersionConflict,
    WordMatches,
)
from lumina.memory.turns import DeltaStatus
from lumina.stores import checks
from lumina.stores.in_memory_forgetting import InMemoryForgetting
from lumina.stores.in_memory_kept import KeptThread
from lumina.stores.passage_ids import PLACE_BITS


class InMemoryState(InMemoryForgetting):
    """Jobs, deltas, snapshots, receipts, and the word index of turns."""

    async def state(self, scope: ThreadScope) -> Snapshot:
        thread = self._look(scope)
        return thread.state if thread else Snapshot()

    async def profile(self, scope: SubjectScope) -> Snapshot:
        return self._subject(scope).profile

    async def delta_jobs(self, scope: ThreadScope, *statuses: DeltaStatus) -> list[DeltaJob]:
        thread = self._look(scope)
        if thread is None:
            return []
        asked = [(key, job) for key, job in thread.jobs.items() if job.status in statuses]
        return [job for key, job in sorted(asked, key=itemgetter(0)) if not thread.turns[key].page.superseded]

    def _job(self, scope: ThreadScope, seq: int, attempt: int) -> tuple[KeptThread, DeltaJob]:
        thread = self._look(scope)
        job = thread.jobs.get((seq, attempt)) if thread else None
        if thread is None or job is None:
            raise NotFound(f"Turn {seq} (attempt {attempt}) has no delta job. Nothing was changed.")
        return thread, job

    async def answer_delta(self, scope: ThreadScope, seq: int, attempt: int, answer: str) -> None:
        checks.check_text("answer", answer)
        thread, job = self._job(scope, seq, attempt)
        if job.status == "waiting":
            _set(thread, replace(job, status="answered", answer=answer))

    async def fail_delta(self, scope: ThreadScope, seq: int, attempt: int, reason: str, *, set_aside: bool) -> int:
        checks.check_text("reason", reason)
        thread, job = self._job(scope, seq, attempt)
        if job.status in ("applied", "set aside"):
            return job.tries
        status: DeltaStatus = "set aside" if set_aside else "waiting"
        _set(thread, replace(job, status=status, tries=job.tries + 1, reason=reason))
        return job.tries + 1

    async def retry_delta(self, scope: ThreadScope, seq: int, attempt: int) -> bool:
        thread, job = self._job(scope, seq, attempt)
        if job.status == "set aside":
            _set(thread, replace(job, status="waiting", tries=0, answer=""))
        return job.status == "set aside"

    async def apply_delta(
        self, scope: ThreadScope, delta: AppliedDelta, state: Snapshot, profile: Snapshot | None, *,
        audit: NewAudit | None = None, events: Sequence[str] = (),
    ) -> bool:  # fmt: skip
        checks.check_delta(delta, state, profile)
        checks.check_audit(audit)
        checks.check_bodies(events)
        of_turn = self._turn if delta.correction else self._written
        thread, kept = of_turn(scope, delta.seq, delta.attempt)
        if kept.turn.number != delta.number:
            raise UsageError(
                f"Turn {delta.seq} has number {kept.turn.number}, not {delta.number}. Nothing was applied."
            )
        key = delta.seq, delta.attempt, delta.correction
        if key in thread.deltas or (kept.page.superseded and not delta.correction):
            return False
        subject = self._subject(scope)
        _check_next("state", thread.state, state)
        if profile is not None:
            _check_next("profile", subject.profile, profile)
            subject.profile = profile
        thread.state = state
        thread.deltas[key] = replace(delta, thread=scope.thread)
        job = thread.jobs.get((delta.seq, delta.attempt))
        if delta.correction == 0 and job is not None:
            _set(thread, replace(job, status="applied"))
        if audit is not None:
            self._add_audit((scope.tenant, scope.subject), audit, audit.detail)
        if events:
            thread.logs.setdefault((0, 0), []).extend(self._late_events(scope, events))
        return True

    async def put_state(self, scope: ThreadScope, new: Snapshot) -> None:
        checks.check_snapshot("snapshot", new)
        thread = self._thread(scope)
        _check_next("state", thread.state, new)
        thread.state = new

    async def put_profile(self, scope: SubjectScope, new: Snapshot) -> None:
        checks.check_snapshot("snapshot", new)
        subject = self._subject(scope)
        if (scope.tenant, scope.subject) not in self._subjects:
            raise checks.no_subject(scope.subject)
        _check_next("profile", subject.profile, new)
        subject.profile = new

    async def deltas(
        self, scope: ThreadScope, seqs: Sequence[int] | None = None, *, newest: int = 0
    ) -> list[AppliedDelta]:
        thread = self._look(scope)
        found = _wanted(thread, None if seqs is None else set(seqs), lambda delta: delta.seq) if thread else []
        ordered = sorted(found, key=_in_thread)
        return [one for one in ordered if one.changes != "[]"][-newest:] if newest and seqs is None else ordered

    async def subject_deltas(self, scope: SubjectScope, numbers: Sequence[int] | None = None) -> list[AppliedDelta]:
        threads: Iterable[KeptThread] = self._subject(scope).threads.values()
        some = None if numbers is None else set(numbers)
        found = [delta for thread in threads for delta in _wanted(thread, some, lambda delta: delta.number)]
        return sorted(found, key=lambda one: (one.number, one.correction, one.thread, one.attempt))

    async def unnoted(self, scope: ThreadScope, *, before: int, limit: int = 100) -> list[int]:
        jobs = await self.delta_jobs(scope, "waiting", "answered", "set aside")
        return sorted({job.seq for job in jobs if job.seq < before})[-limit:] if limit > 0 else []

    # Receipts

    async def put_receipt(self, scope: ThreadScope, receipt: StoredReceipt) -> None:
        checks.check_receipt(receipt)
        _, kept = self._written(scope, receipt.seq, receipt.attempt)
        kept.receipts[receipt.call] = self._late_receipt(scope, receipt)

    async def receipts(self, scope: ThreadScope, seq: int, attempt: int) -> list[StoredReceipt]:
        thread = self._look(scope)
        kept = thread.turns.get((seq, attempt)) if thread else None
        return [kept.receipts[call] for call in sorted(kept.receipts)] if kept else []

    # Recall

    async def matches(self, scope: ThreadScope, words: Sequence[str], *, before: int, cap: int) -> WordMatches:
        thread = self._look(scope)
        ids: dict[str, tuple[int, ...]] = {}
        for word in words:
            held = thread.words.get(word, []) if thread else []
            end = bisect_left(held, max(before, 0) << PLACE_BITS)
            ids[word] = tuple(reversed(held[max(end - max(cap, 0), 0) : end]))
        return WordMatches(ids=ids, turns=thread.info.turns if thread else 0)

    async def passages(self, scope: ThreadScope, ids: Sequence[int], *, around: int = 0) -> list[StoredPassage]:
        thread = self._look(scope)
        if thread is None:
            return []
        wanted: set[int] = set()
        for id in set(thread.passage_ids) & set(ids):
            at = bisect_left(thread.passage_ids, id)
            wanted.update(thread.passage_ids[max(at - max(around, 0), 0) : at + max(around, 0) + 1])
        found = [_passage(thread, id) for id in wanted]
        return sorted(found, key=lambda one: (one.seq, one.part != "question", one.start, one.attempt))


def _passage(thread: KeptThread, id: int) -> StoredPassage:
    (seq, attempt), passage = thread.passages[id]
    turn = thread.turns[seq, attempt].turn
    text = (turn.question if passage.part == "question" else turn.answer)[passage.start : passage.end]
    return StoredPassage(
        id=id, seq=seq, attempt=attempt, part=passage.part, start=passage.start, end=passage.end, day=turn.day,
        text=text,
    )  # fmt: skip


def _set(thread: KeptThread, job: DeltaJob) -> None:
    key = job.seq, job.attempt
    thread.jobs[key] = job
    kept = thread.turns[key]
    kept.turn = replace(kept.turn, delta=job.status)
    kept.page = replace(kept.page, delta=job.status)


def _check_next(name: str, known: Snapshot, new: Snapshot) -> None:
    if known.version + 1 != new.version:
        raise VersionConflict(
            f"The {name} is at version {known.version} by now; this change was made from version {new.version - 1}. "
            "Nothing was applied: read it again and fold again."
        )


def _wanted(thread: KeptThread, some: set[int] | None, at: Callable[[AppliedDelta], int]) -> list[AppliedDelta]:
    """Those asked for, or those in the fold: a correction stays in it whatever became of the attempt it followed."""
    if some is not None:
        return [delta for delta in thread.deltas.values() if at(delta) in some]
    return [
        delta
        for (seq, attempt, correction), delta in thread.deltas.items()
        if correction or not thread.turns[seq, attempt].page.superseded
    ]


def _in_thread(delta: AppliedDelta) -> tuple[int, bool, int, int]:
    return delta.seq, delta.correction > 0, delta.correction or delta.attempt, delta.attempt
