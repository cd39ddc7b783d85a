"""What the in-memory store keeps, and how it is looked up within a scope."""

from dataclasses import dataclass, field

from lumina.memory.embedding import Vector
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import AppliedDelta, DeltaJob, ModelUse, Snapshot, StoredReceipt
from lumina.memory.turns import IndexedPassage, Source, ThreadInfo, ToolRecord, Turn, TurnPage

Key = tuple[int, int]


@dataclass(slots=True, kw_only=True)
class KeptTurn:
    turn: Turn  # its delta's status is the job's
    page: TurnPage
    read: list[int] = field(default_factory=list)
    calls: dict[int, ToolRecord] = field(default_factory=dict)
    receipts: dict[int, StoredReceipt] = field(default_factory=dict)
    uses: list[ModelUse] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class KeptThread:
    info: ThreadInfo
    number: int = 0
    turns: dict[Key, KeptTurn] = field(default_factory=dict)
    by_client: dict[str, Key] = field(default_factory=dict)
    logs: dict[Key, list[str]] = field(default_factory=dict)
    sources: dict[int, Source] = field(default_factory=dict)
    by_locator: dict[str, int] = field(default_factory=dict)
    passages: dict[int, tuple[Key, IndexedPassage]] = field(default_factory=dict)
    passage_ids: list[int] = field(default_factory=list)  # ascending: a thread ends its turns one after the other
    words: dict[str, list[int]] = field(default_factory=dict)
    vectors: dict[int, tuple[str, Vector]] = field(default_factory=dict)  # by passage: embedder, vector
    jobs: dict[Key, DeltaJob] = field(default_factory=dict)
    deltas: dict[tuple[int, int, int], AppliedDelta] = field(default_factory=dict)
    state: Snapshot = field(default_factory=Snapshot)
    last_source: int = 0  # the last number given out
    expires_at: str = ""


@dataclass(slots=True, kw_only=True)
class KeptSubject:
    number: int = 0
    threads: dict[str, KeptThread] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    profile: Snapshot = field(default_factory=Snapshot)


class Kept:
    """All subjects, each reached through a scope only."""

    def __init__(self) -> None:
        super().__init__()
        self._subjects: dict[tuple[str, str], KeptSubject] = {}
        self._closed = False

    def _subject(self, scope: SubjectScope | ThreadScope) -> KeptSubject:
        if self._closed:
            raise UsageError("This store is closed. Open it again.")
        # A subject that nobody has written for is not remembered for having been asked about.
        return self._subjects.get((scope.tenant, scope.subject)) or KeptSubject()

    def _look(self, scope: ThreadScope) -> KeptThread | None:
        return self._subject(scope).threads.get(scope.thread)

    def _thread(self, scope: ThreadScope) -> KeptThread:
        thread = self._look(scope)
        if thread is None:
            raise NotFound(f"There is no thread {scope.thread!r} here. Open it first; nothing was changed.")
        return thread

    def _turn(self, scope: ThreadScope, seq: int, attempt: int) -> tuple[KeptThread, KeptTurn]:
        thread = self._look(scope)
        turn = thread.turns.get((seq, attempt)) if thread else None
        if thread is None or turn is None:
            raise NotFound(f"There is no turn {seq} (attempt {attempt}) in this thread. Nothing was changed.")
        return thread, turn

    def _written(self, scope: ThreadScope, seq: int, attempt: int) -> tuple[KeptThread, KeptTurn]:
        """A turn that is to be written to. NotFound when it was forgotten, too."""
        thread, turn = self._turn(scope, seq, attempt)
        if turn.turn.forgotten:
            raise NotFound(f"Turn {seq} was forgotten. Nothing was changed.")
        return thread, turn
