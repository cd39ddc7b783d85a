"""Where threads are kept: the protocol that every store fulfils.

The rules live in `lumina.memory` and are pure; a store keeps rows and guards transactions. Every method takes a Scope
and sees nothing outside it. Text goes in and comes back identical to the code point, or is refused with UsageError
(lone surrogates and NUL cannot be kept by every database, so no store keeps them). `lumina.testing` has the suite
that a store must pass.

A method is one transaction. Writes to a state are guarded by its version: whoever read an older one gets
VersionConflict, reads again and folds again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from lumina.memory.embedding import Vector
from lumina.memory.removal import Audited, NewAudit, Removal, Rule
from lumina.memory.scope import SubjectScope, TenantScope, ThreadScope
from lumina.memory.stored import (
    DAMAGED,
    DROPPED,
    AppliedDelta,
    CallPurpose,
    DeltaJob,
    ModelUse,
    Snapshot,
    StoredPassage,
    StoredReceipt,
    VectorEnds,
    VersionConflict,
    WordMatches,
)
from lumina.memory.transfer_lines import Line
from lumina.memory.turns import (
    DeltaStatus,
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
)  # fmt: skip

__all__ = [
    "DAMAGED",
    "DROPPED",
    "AppliedDelta",
    "CallPurpose",
    "DeltaJob",
    "ModelUse",
    "Snapshot",
    "Store",
    "StoredPassage",
    "StoredReceipt",
    "VectorEnds",
    "VersionConflict",
    "WordMatches",
]


class Store(Protocol):
    """Keeps threads. Implementations: `lumina.stores.sqlite`, `lumina.stores.in_memory`."""

    async def secret(self) -> bytes:
        """32 bytes made with the database and kept in it."""
        ...

    async def close(self) -> None: ...

    # Threads

    async def open_thread(
        self, scope: ThreadScope, *, deltas: bool, expires_at: datetime | None = None, now: datetime | None = None
    ) -> ThreadInfo:
        """Makes the thread if there is none (an existing one keeps its own `deltas`), ends a turn whose process is
        gone as partial (interrupted, with the text its events hold), and returns the thread.

        With `expires_at` a thread that is made is temporary. With `now`, the caller's clock, the subject's temporary
        threads whose time has come are removed first, with all their rows; one whose turn is being answered stays."""
        ...

    async def threads(self, scope: SubjectScope, *, limit: int = 50, now: datetime | None = None) -> list[ThreadInfo]:
        """The subject's threads, the one asked last first (by the subject's own count, not by a clock). `now` as in
        open_thread."""
        ...

    async def thread_info(self, scope: ThreadScope) -> ThreadInfo:
        """NotFound when there is none."""
        ...

    async def set_title(self, scope: ThreadScope, title: str, *, turn: tuple[int, int] | None = None) -> None:
        """With the `turn` that it comes from, a title is not set once that turn was forgotten."""
        ...

    # Turns

    async def begin_turn(self, scope: ThreadScope, new: NewTurn, *, instead_of: int = 0) -> tuple[Turn, bool]:
        """Commits the turn as running. A known client_id returns its turn and False (UsageError if the question
        differs). TurnConflict while another turn of the thread runs. Takes the subject's next `number`.

        With `instead_of` it is the next attempt of that seq, with the seq's own `number`; in the same transaction the
        older attempt and every live turn with a higher seq become superseded, their passages leave the word index,
        and the folded state (and the profile, if they had a say in it) is DROPPED with its version moved on. NotFound
        when no live turn has that seq, or it was forgotten. A seq names one turn for ever: the next ordinary turn
        takes the one after the highest there ever was."""
        ...

    async def finish_turn(self, scope: ThreadScope, end: TurnEnd) -> Turn:
        """Answer, status, citations, passages, delta job and last events in one transaction. A turn that has already
        ended is left as it is and returned: ending twice changes nothing."""
        ...

    async def record_turn(
        self, scope: ThreadScope, new: NewTurn, end: TurnEnd, receipt: str, *, instead_of: int = 0
    ) -> Turn:
        """begin_turn and finish_turn with the answer's receipt, in one transaction (seq and attempt of `end` are
        ignored). A known client_id returns its turn unchanged."""
        ...

    async def recent_turns(self, scope: ThreadScope, *, limit: int, before: int = 0) -> RecentTurns:
        """The newest `limit` readable, live turns that have ended (seq < before, if given). Corrupt rows do not count
        and are reported."""
        ...

    async def turns(self, scope: ThreadScope, keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Turn]:
        """Turns by (seq, attempt), superseded ones too. Unknown and unreadable keys are absent."""
        ...

    async def page(
        self, scope: ThreadScope, *, first: int = 1, last: int = 0, superseded: bool = False
    ) -> list[TurnPage | Unreadable]:
        """Live turns `first`..`last` (0: to the end) as a person sees them, running one included. With `superseded`
        every attempt, in the order of (seq, attempt)."""
        ...

    async def add_tool_call(self, scope: ThreadScope, seq: int, attempt: int, record: ToolRecord) -> None: ...

    async def tool_calls(self, scope: ThreadScope, seq: int, attempt: int) -> list[ToolRecord]: ...

    async def set_followups(self, scope: ThreadScope, seq: int, attempt: int, followups: Sequence[str]) -> None: ...

    # Events: a log per (seq, attempt); seq 0 and attempt 0 is the thread's own log

    async def append_events(self, scope: ThreadScope, seq: int, attempt: int, bodies: Sequence[str]) -> int:
        """Appends JSON bodies; returns the log's number of the first (logs count from 1)."""
        ...

    async def events(self, scope: ThreadScope, seq: int, attempt: int, *, after: int = 0) -> list[tuple[int, str]]:
        """(number, body) of every event after `after`."""
        ...

    # Sources

    async def register_source(self, scope: ThreadScope, seq: int, attempt: int, new: NewSource) -> Source:
        """The source under its number for the life of the thread: the locator's old number, or the next one. Notes
        that the turn has read it. The text is kept; an earlier text stays readable by its digest. A snippet of a
        page that was read before changes nothing but that: the page stays what is stored."""
        ...

    async def sources(self, scope: ThreadScope, numbers: Sequence[int] | None = None) -> list[Source]:
        """By number; all of the thread's if `numbers` is None. Page only."""
        ...

    async def source_names(self, scope: ThreadScope, numbers: Sequence[int]) -> list[SourceName]:
        """What a model may see of them, by number."""
        ...

    # Texts by content: stored sources, instructions

    async def put_text(self, scope: SubjectScope, text: str) -> str:
        """Keeps `text` once and returns its digest (SHA-256, hex)."""
        ...

    async def text(self, scope: SubjectScope, digest: str) -> str:
        """NotFound when the subject has no such text."""
        ...

    # State

    async def state(self, scope: ThreadScope) -> Snapshot: ...

    async def profile(self, scope: SubjectScope) -> Snapshot: ...

    async def delta_jobs(self, scope: ThreadScope, *statuses: DeltaStatus) -> list[DeltaJob]:
        """Jobs of live turns in one of `statuses`, oldest turn first."""
        ...

    async def answer_delta(self, scope: ThreadScope, seq: int, attempt: int, answer: str) -> None:
        """waiting -> answered. Any other status is left as it is. That of a superseded attempt is kept, too."""
        ...

    async def fail_delta(self, scope: ThreadScope, seq: int, attempt: int, reason: str, *, set_aside: bool) -> int:
        """Counts a try that failed; the job waits again, or is set aside if asked to. Returns the tries so far."""
        ...

    async def retry_delta(self, scope: ThreadScope, seq: int, attempt: int) -> bool:
        """set aside -> waiting, with no try counted. False, and nothing changed, for any other status."""
        ...

    async def apply_delta(
        self, scope: ThreadScope, delta: AppliedDelta, state: Snapshot, profile: Snapshot | None, *,
        audit: NewAudit | None = None, events: Sequence[str] = (),
    ) -> bool:  # fmt: skip
        """Stores the delta and the folded snapshots (their version = the one read, plus one), job -> applied, and with
        them a row of the audit and `events` of the thread's log, in one transaction. False, and nothing written, if
        this (seq, attempt, correction) was applied before, or is the delta of a superseded attempt. VersionConflict if
        a version moved on."""
        ...

    async def put_state(self, scope: ThreadScope, new: Snapshot) -> None:
        """Keeps what the thread's deltas fold to, over whatever is stored, damaged bytes too. VersionConflict unless
        its version is the stored one plus one."""
        ...

    async def put_profile(self, scope: SubjectScope, new: Snapshot) -> None:
        """The same for the subject."""
        ...

    async def deltas(
        self, scope: ThreadScope, seqs: Sequence[int] | None = None, *, newest: int = 0
    ) -> list[AppliedDelta]:
        """All of the thread's, or those of `seqs`, in the order of the fold: (seq, correction > 0, attempt or
        correction). Those of superseded attempts are left out, unless asked for by seq. With
        `newest`, no more than so many of the newest that changed something."""
        ...

    async def subject_deltas(self, scope: SubjectScope, numbers: Sequence[int] | None = None) -> list[AppliedDelta]:
        """Those of all of the subject's threads, or of the turns with `numbers`, by (number, correction). Those of
        superseded attempts are left out, unless asked for by number."""
        ...

    async def unnoted(self, scope: ThreadScope, *, before: int, limit: int = 100) -> list[int]:
        """Seqs below `before` of live turns whose delta was never applied (waiting, answered or set aside): the newest
        `limit` of them, ascending."""
        ...

    # Receipts

    async def put_receipt(self, scope: ThreadScope, receipt: StoredReceipt) -> None:
        """Keeps it; the same (seq, attempt, call) is replaced."""
        ...

    async def receipts(self, scope: ThreadScope, seq: int, attempt: int) -> list[StoredReceipt]: ...

    # Usage

    async def add_usage(self, scope: ThreadScope, uses: Sequence[ModelUse]) -> None:
        """Keeps what model calls of turns took, behind what is there of each turn, all or nothing. NotFound when one
        of the turns is not there or was forgotten."""
        ...

    async def usage(self, scope: TenantScope | SubjectScope | ThreadScope, *, since: str = "") -> list[ModelUse]:
        """What was kept in the scope, of superseded attempts too, from the day `since` on (ISO 8601, in UTC), in the
        order of (day, subject, thread, seq, attempt, number)."""
        ...

    # Recall

    async def matches(self, scope: ThreadScope, words: Sequence[str], *, before: int, cap: int) -> WordMatches:
        """Passages of live turns with seq < before that hold each word."""
        ...

    async def passages(self, scope: ThreadScope, ids: Sequence[int], *, around: int = 0) -> list[StoredPassage]:
        """By id, each once, in the order of (seq, question before answer, start). Unknown ids are absent. With
        `around`, also that many passages of live turns before and after each, in the same order of the thread."""
        ...

    # Vectors of passages, when there is an embedder: one a passage, by one embedder (see memory.embedding)

    async def put_vectors(
        self, scope: ThreadScope, embedder: str, vectors: Mapping[int, Vector], *,
        texts: Mapping[int, str] | None = None,
    ) -> int:  # fmt: skip
        """Keeps vectors of length 1 by passage id, in the place of any that were there; returns how many. Passages of
        no live turn are passed over and, with `texts` (what the vectors were made of), those that read otherwise by
        now: a vector of forgotten words is never kept."""
        ...

    async def vectors(self, scope: ThreadScope, ids: Sequence[int], *, embedder: str) -> dict[int, Vector]:
        """Those of live turns' passages that this embedder made, by id."""
        ...

    async def nearest(
        self, scope: ThreadScope, vector: Vector, *, embedder: str, before: int, limit: int
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the passages of live turns with seq < before whose vectors by this embedder are nearest to
        `vector`, best first. Exact over the newest 50,000 of them; vectors of other dimensions are passed over."""
        ...

    async def without_vectors(
        self, scope: ThreadScope, *, embedder: str = "", after: int = -1, limit: int = 100
    ) -> list[StoredPassage]:
        """Passages of live turns with id > after that have no vector by this embedder (by any, if none is named), by
        id."""
        ...

    async def vector_ends(self, scope: ThreadScope) -> VectorEnds:
        """Vectors are made in the order of the passages: so the ends tell, at no cost, whether another embedder's are
        among them and where new ones are missing."""
        ...

    async def embedders(self, scope: TenantScope | SubjectScope | ThreadScope) -> dict[str, int]:
        """How many passages of live turns have their vector by which embedder; "" counts those that have none."""
        ...

    async def mend_words(self) -> None:
        """Makes a word index that is damaged as a whole usable again, before `reindex_words` writes what it holds."""
        ...

    async def reindex_words(self, scope: ThreadScope, *, after: int = -1, limit: int = 500) -> int:
        """Writes what the word index holds of the `limit` passages with id > after anew, from their text, and takes out
        what it holds besides. Returns the last one's id, or -1 when there was none."""
        ...

    async def tenant_threads(self, scope: TenantScope) -> list[ThreadScope]:
        """Every thread of the tenant, by subject and name: for work on all of them."""
        ...

    # Export and import

    async def export_rows(self, scope: SubjectScope | ThreadScope, take: Callable[[Line], object]) -> None:
        """Hands every line of an export between its header and its end to `take`, in the order of the file
        (memory.transfer_lines), from one view of the data and without holding it all. A thread comes with the texts
        and the audit that are its own. Left out: a turn that is being answered, documents of the tenant. `take` may
        run in another thread; what it raises ends the export. NotFound when there is no such thread."""
        ...

    async def import_rows(self, scope: SubjectScope, read: Callable[[int], Iterable[Line]]) -> None:
        """Writes lines, which are known to hold together, in one transaction, and makes again what is not in them:
        state, profile, word indexes. `read` is given the subject's count of turns and may run in another thread; what
        it raises ends the import with nothing written. UsageError when a thread is there already; texts and documents
        that are there stay as they are; audit lines are added behind those that are there."""
        ...

    # Forgetting. What was forgotten is not written again: a late write to a forgotten turn is NotFound (its follow-ups
    # and title are passed over), and receipts and events of the thread's log that come late lose what is gone.

    async def forget(self, scope: SubjectScope, rule: Rule, audit: NewAudit) -> Removal | None:
        """Shows the subject's rows to `rule` and carries out what it answers, with a row in the audit, in one
        transaction. None, and nothing written, when the rule finds nothing; what it raises is passed on. When the
        whole subject goes, that row of the audit is all that stays."""
        ...

    async def scrub(self) -> bool:
        """Takes what was deleted out of the database's own files, as far as that is in its power: False when another
        program still holds a part of it. Asking again later is safe."""
        ...

    async def audit(self, scope: SubjectScope) -> list[Audited]:
        """Who read, corrected, exported or forgot something of the subject, in order. Page only."""
        ...
