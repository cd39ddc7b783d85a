"""What a forget takes out of a store: said by rules, carried out by the store in one transaction.

A store shows what it holds of one subject (`Held`) to a rule, and the rule answers with a `Removal`. Both happen inside
the transaction that carries it out, so nothing can come in between: what was committed before is seen, what comes after
finds it gone. A rule is pure: it reads `Held`, decides, and writes nothing itself (`lumina.memory.forgetting`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lumina.memory.turns import Citation, Message, Source, ThreadInfo, ToolRecord, Turn

TurnKey = tuple[int, int]  # seq, attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDelta:
    """A stored delta, those of superseded attempts included. `live`: it counts in the fold."""

    thread: str
    seq: int
    attempt: int
    correction: int
    number: int
    changes: str
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldJob:
    """A delta job: whether its work is still to come."""

    seq: int
    attempt: int
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldReceipt:
    """A receipt as it is stored; the body may be unreadable."""

    thread: str
    seq: int
    attempt: int
    call: int
    purpose: str
    body: str


class Held(Protocol):
    """All that a store holds of one subject, read in the transaction that forgets. Rows come in the order of their
    keys; what cannot be read is left out of `turns` and `tool_calls`, never out of `turn_keys`."""

    def anything(self) -> bool:
        """Whether the store holds anything of the subject at all."""
        ...

    def threads(self) -> Sequence[ThreadInfo]: ...

    def turn_keys(self, thread: str) -> Sequence[TurnKey]: ...

    def turns(self, thread: str) -> Mapping[TurnKey, Turn]: ...

    def followups(self, thread: str) -> Mapping[TurnKey, tuple[str, ...]]: ...

    def citations(self, thread: str, key: TurnKey) -> Sequence[Citation]: ...

    def tool_calls(self, thread: str, key: TurnKey) -> Sequence[ToolRecord]: ...

    def log(self, thread: str, key: TurnKey) -> Sequence[tuple[int, str]]: ...

    def jobs(self, thread: str) -> Sequence[HeldJob]: ...

    def deltas(self) -> Sequence[HeldDelta]: ...

    def receipts(self) -> Sequence[HeldReceipt]: ...

    def sources(self, thread: str) -> Sequence[Source]: ...

    def readings(self, thread: str) -> Sequence[tuple[TurnKey, int]]:
        """Which turn has read which source number."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedTurn:
    """A turn that stays, with some of its words masked. Passages keep their places: their words are indexed anew, and
    embeddings of them are dropped."""

    thread: str
    key: TurnKey
    question: str
    answer: str
    exchanges: tuple[Message, ...]
    followups: tuple[str, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What goes, and what stands in its place. Threads by name, turns by thread and (seq, attempt).

    `turns` lose everything but seq, attempt, number, client id, day, status and the mark `forgotten` = `day`: words,
    passages, index, embeddings, tool calls, citations, readings, follow-ups, usage, reason and log. A job that still
    waits for one of them is set aside. `calls`: tool calls rewritten, by index.
    `sources` keep their number and nothing else. `events` have new bodies, by log and number. The jobs of the threads
    `jobs` lose what a model answered. `deltas` replace what is stored under their key, or are added. `states` and
    `profile` are the folds of what is left; their versions go up. With `whole`, all of the subject goes, documents too.
    `texts`: digests that stay although nothing cites them; every other text that no source or citation of the subject
    names goes. None: no text goes. `detail`, numbers only, goes to the audit. `words`: values and quotes that go, for
    whoever looks for them elsewhere; a store keeps them nowhere.
    """

    day: str
    turns: tuple[tuple[str, TurnKey], ...] = ()
    masked: tuple[MaskedTurn, ...] = ()
    calls: tuple[tuple[str, TurnKey, ToolRecord], ...] = ()
    sources: tuple[tuple[str, int], ...] = ()
    events: tuple[tuple[str, TurnKey, int, str], ...] = ()
    jobs: tuple[str, ...] = ()
    deltas: tuple[HeldDelta, ...] = ()
    receipts: tuple[HeldReceipt, ...] = ()
    titles: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    states: tuple[tuple[str, str], ...] = ()
    profile: str | None = None
    whole: bool = False
    texts: frozenset[str] | None = None
    detail: Mapping[str, int] = field(default_factory=dict)
    words: tuple[str, ...] = ()


Rule = Callable[[Held], Removal | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAudit:
    """Who did something to a subject's data, and what; never content. `thread` is "" for the subject as a whole."""

    action: str
    by: str
    at: str  # ISO 8601, UTC
    thread: str = ""
    detail: str = "{}"  # JSON object of numbers; a forget brings its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A row of the audit. `number` counts from 1 within the subject; `detail` is JSON: numbers of turns, counts."""

    number: int
    thread: str
    action: str
    by: str
    at: str
    detail: str
