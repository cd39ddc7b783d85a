"""A store on a relational database: which method reads and which writes.

Each method is one transaction, and each transaction is one job of a worker thread: what it does is in the modules
beside this one, as plain functions over a connection. A database's own module (`lumina.stores.sqlite`) says how a job
gets its connection and who is alive; the statements are the same everywhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, select

from lumina.agent.ports import DocumentInfo, NewDocument, PassageMatches
from lumina.memory.embedding import Vector
from lumina.memory.errors import StoreError
from lumina.memory.removal import Audited, NewAudit, Removal, Rule
from lumina.memory.scope import SubjectScope, TenantScope, ThreadScope
from lumina.memory.store import (
    AppliedDelta,
    DeltaJob,
    ModelUse,
    Snapshot,
    StoredPassage,
    StoredReceipt,
    VectorEnds,
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
)
from lumina.stores.checks import check_moment
from lumina.stores.schema import meta
from lumina.stores.sql import documents as library
from lumina.stores.sql import events, forgetting, ledger, recall, removing, threads, transfer, turns, usage
from lumina.stores.sql import state as fold
from lumina.stores.sql import vectors as vector_rows

P = ParamSpec("P")
T = TypeVar("T")
SECRET = select(meta.c.value).where(meta.c.name == "secret")


class SQLStore(ABC):
    """A `Store` and a `DocumentStore` on a SQLAlchemy connection."""

    _secret: bytes | None = None

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def _read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        """Runs `work` in a transaction that only reads."""

    @abstractmethod
    async def _write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        """Runs `work` in a transaction that writes: wholly or not at all, and over when a cancelled caller is told."""

    @abstractmethod
    def _token(self) -> str:
        """Stands for this store in the turns that it is answering."""

    @abstractmethod
    def _mine(self) -> str:
        """That token, or "" as long as this store has begun no turn."""

    @abstractmethod
    def _alive(self) -> Callable[[str], bool]:
        """Tells whether the store with a token is still open somewhere."""

    async def secret(self) -> bytes:
        if self._secret is None:  # it never changes
            found = await self._read(lambda connection: connection.execute(SECRET).scalar())
            if not isinstance(found, bytes) or len(found) != 32:
                raise StoreError("The secret of this database is damaged. Restore the database from a copy.")
            self._secret = found
        return self._secret

    # Threads

    async def open_thread(
        self, scope: ThreadScope, *, deltas: bool, expires_at: datetime | None = None, now: datetime | None = None
    ) -> ThreadInfo:
        found = await self._read(threads.needs_opening, scope, self._alive(), now)
        return found or await self._write(threads.open_thread, scope, deltas, self._alive(), expires_at, now)

    async def threads(self, scope: SubjectScope, *, limit: int = 50, now: datetime | None = None) -> list[ThreadInfo]:
        if check_moment("now", now) and now and await self._read(removing.expired, scope, now, self._alive()):
            await self._write(removing.remove_expired, scope, now, self._alive())
        return await self._read(threads.listed, scope, limit)

    async def thread_info(self, scope: ThreadScope) -> ThreadInfo:
        return await self._read(threads.info, scope)

    async def set_title(self, scope: ThreadScope, title: str, *, turn: tuple[int, int] | None = None) -> None:
        await self._write(threads.set_title, scope, title, turn)

    # Turns

    async def begin_turn(self, scope: ThreadScope, new: NewTurn, *, instead_of: int = 0) -> tuple[Turn, bool]:
        return await self._write(turns.begin, scope, new, self._token(), instead_of)

    async def finish_turn(self, scope: ThreadScope, end: TurnEnd) -> Turn:
        return await self._write(turns.finish, scope, end, self._mine())

    async def record_turn(
        self, scope: ThreadScope, new: NewTurn, end: TurnEnd, receipt: str, *, instead_of: int = 0
    ) -> Turn:
        return await self._write(turns.record, scope, new, end, receipt, instead_of)

    async def recent_turns(self, scope: ThreadScope, *, limit: int, before: int = 0) -> RecentTurns:
        return await self._read(turns.recent, scope, limit, before)

    async def turns(self, scope: ThreadScope, keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Turn]:
        return await self._read(turns.some, scope, keys)

    async def page(
        self, scope: ThreadScope, *, first: int = 1, last: int = 0, superseded: bool = False
    ) -> list[TurnPage | Unreadable]:
        return await self._read(turns.page, scope, first, last, superseded)

    async def add_tool_call(self, scope: ThreadScope, seq: int, attempt: int, record: ToolRecord) -> None:
        await self._write(ledger.add_tool_call, scope, seq, attempt, record, self._mine())

    async def tool_calls(self, scope: ThreadScope, seq: int, attempt: int) -> list[ToolRecord]:
        return await self._read(ledger.read_tool_calls, scope, seq, attempt)

    async def set_followups(self, scope: ThreadScope, seq: int, attempt: int, followups: Sequence[str]) -> None:
        await self._write(turns.set_followups, scope, seq, attempt, followups)

    # Events

    async def append_events(self, scope: ThreadScope, seq: int, attempt: int, bodies: Sequence[str]) -> int:
        return await self._write(events.append, scope, seq, attempt, bodies, self._mine())

    async def events(self, scope: ThreadScope, seq: int, attempt: int, *, after: int = 0) -> list[tuple[int, str]]:
        return await self._read(events.read, scope, seq, attempt, after)

    # Sources and texts

    async def register_source(self, scope: ThreadScope, seq: int, attempt: int, new: NewSource) -> Source:
        return await self._write(ledger.register, scope, seq, attempt, new, self._mine())

    async def sources(self, scope: ThreadScope, numbers: Sequence[int] | None = None) -> list[Source]:
        return await self._read(ledger.read_sources, scope, numbers)

    async def source_names(self, scope: ThreadScope, numbers: Sequence[int]) -> list[SourceName]:
        return await self._read(ledger.source_names, scope, numbers)

    async def put_text(self, scope: SubjectScope, text: str) -> str:
        return await self._write(ledger.put_text, scope, text)

    async def text(self, scope: SubjectScope, digest: str) -> str:
        return await self._read(ledger.text, scope, digest)

    # State

    async def state(self, scope: ThreadScope) -> Snapshot:
        return await self._read(fold.read_state, scope)

    async def profile(self, scope: SubjectScope) -> Snapshot:
        return await self._read(fold.read_profile, scope)

    async def delta_jobs(self, scope: ThreadScope, *statuses: DeltaStatus) -> list[DeltaJob]:
        return await self._read(fold.jobs, scope, statuses)

    async def answer_delta(self, scope: ThreadScope, seq: int, attempt: int, answer: str) -> None:
        await self._write(fold.answer, scope, seq, attempt, answer)

    async def fail_delta(self, scope: ThreadScope, seq: int, attempt: int, reason: str, *, set_aside: bool) -> int:
        return await self._write(fold.fail, scope, seq, attempt, reason, set_aside)

    async def retry_delta(self, scope: ThreadScope, seq: int, attempt: int) -> bool:
        return await self._write(fold.retry, scope, seq, attempt)

    async def apply_delta(
        self, scope: ThreadScope, delta: AppliedDelta, state: Snapshot, profile: Snapshot | None, *,
        audit: NewAudit | None = None, events: Sequence[str] = (),
    ) -> bool:  # fmt: skip
        return await self._write(fold.apply, scope, delta, state, profile, audit, events)

    async def put_state(self, scope: ThreadScope, new: Snapshot) -> None:
        await self._write(fold.put_snapshot, scope, new)

    async def put_profile(self, scope: SubjectScope, new: Snapshot) -> None:
        await self._write(fold.put_snapshot, scope, new)

    async def deltas(
        self, scope: ThreadScope, seqs: Sequence[int] | None = None, *, newest: int = 0
    ) -> list[AppliedDelta]:
        return await self._read(fold.read_deltas, scope, seqs, newest)

    async def subject_deltas(self, scope: SubjectScope, numbers: Sequence[int] | None = None) -> list[AppliedDelta]:
        return await self._read(fold.read_subject_deltas, scope, numbers)

    async def unnoted(self, scope: ThreadScope, *, before: int, limit: int = 100) -> list[int]:
        return await self._read(fold.unnoted, scope, before, limit)

    # Receipts

    async def put_receipt(self, scope: ThreadScope, receipt: StoredReceipt) -> None:
        await self._write(fold.put_receipt, scope, receipt)

    async def receipts(self, scope: ThreadScope, seq: int, attempt: int) -> list[StoredReceipt]:
        return await self._read(fold.read_receipts, scope, seq, attempt)

    # Usage

    async def add_usage(self, scope: ThreadScope, uses: Sequence[ModelUse]) -> None:
        await self._write(usage.add, scope, uses)

    async def usage(self, scope: TenantScope | SubjectScope | ThreadScope, *, since: str = "") -> list[ModelUse]:
        return await self._read(usage.read, scope, since)

    # Recall

    async def matches(self, scope: ThreadScope, words: Sequence[str], *, before: int, cap: int) -> WordMatches:
        return await self._read(recall.matches, scope, words, before, cap)

    async def passages(self, scope: ThreadScope, ids: Sequence[int], *, around: int = 0) -> list[StoredPassage]:
        return await self._read(recall.read_passages, scope, ids, around)

    # Vectors

    async def put_vectors(
        self, scope: ThreadScope, embedder: str, vectors: Mapping[int, Vector], *,
        texts: Mapping[int, str] | None = None,
    ) -> int:  # fmt: skip
        return await self._write(vector_rows.put, scope, embedder, vectors, texts or {})

    async def vectors(self, scope: ThreadScope, ids: Sequence[int], *, embedder: str) -> dict[int, Vector]:
        return await self._read(vector_rows.read, scope, ids, embedder)

    async def nearest(
        self, scope: ThreadScope, vector: Vector, *, embedder: str, before: int, limit: int
    ) -> list[tuple[int, float]]:
        return await self._read(vector_rows.nearest, scope, vector, embedder, before, limit)

    async def without_vectors(
        self, scope: ThreadScope, *, embedder: str = "", after: int = -1, limit: int = 100
    ) -> list[StoredPassage]:
        return await self._read(vector_rows.without, scope, embedder, after, limit)

    async def vector_ends(self, scope: ThreadScope) -> VectorEnds:
        return await self._read(vector_rows.ends, scope)

    async def embedders(self, scope: TenantScope | SubjectScope | ThreadScope) -> dict[str, int]:
        return await self._read(vector_rows.embedders, scope)

    async def mend_words(self) -> None:
        await self._write(recall.mend)

    async def reindex_words(self, scope: ThreadScope, *, after: int = -1, limit: int = 500) -> int:
        return await self._write(recall.reindex, scope, after, limit)

    async def tenant_threads(self, scope: TenantScope) -> list[ThreadScope]:
        return await self._read(vector_rows.tenant_threads, scope)

    # Export and import

    async def export_rows(self, scope: SubjectScope | ThreadScope, take: Callable[[Line], object]) -> None:
        await self._read(transfer.export, scope, take)

    async def import_rows(self, scope: SubjectScope, read: Callable[[int], Iterable[Line]]) -> None:
        await self._write(transfer.import_, scope, read)

    # Forgetting

    async def forget(self, scope: SubjectScope, rule: Rule, audit: NewAudit) -> Removal | None:
        return await self._write(forgetting.forget, scope, rule, audit)

    async def scrub(self) -> bool:
        return False  # what a deletion leaves in a database's files is that database's own matter

    async def audit(self, scope: SubjectScope) -> list[Audited]:
        return await self._read(forgetting.audit, scope)

    # Documents

    async def put_documents(self, scope: SubjectScope, documents: Sequence[NewDocument], *, own: bool = False) -> None:
        await self._write(library.put, scope, documents, own)

    async def documents(self, scope: SubjectScope, *, under: str = "") -> list[DocumentInfo]:
        return await self._read(library.listed, scope, under)

    async def document_text(self, scope: SubjectScope, document: int) -> str:
        return await self._read(library.text, scope, document)

    async def remove_documents(self, scope: SubjectScope, ids: Sequence[int]) -> int:
        return await self._write(library.remove, scope, ids)

    async def find_passages(self, scope: SubjectScope, words: Sequence[str], *, limit: int) -> PassageMatches:
        return await self._read(library.find, scope, words, limit)
