"""What a conversation is made of.

Two views of one turn, kept apart by type so that promise 1 holds by construction: `Turn` is all that a model may learn
of it, and is the only one that `memory.context` can reach; `TurnPage` is what a person sees, with sources, citations
and follow-ups, and no code that builds a context reads it.

`seq` orders turns within a thread, never a clock. A regenerate is a new `attempt` of the same `seq`; the older attempt
is `superseded`. Days are dates in the asker's time zone, as ISO 8601 (`2026-11-30`).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Status = Literal["running", "complete", "partial", "failed"]
Searched = Literal["not needed", "found", "empty", "failed"]
# none: the thread has no delta step; waiting: nobody has answered yet; answered: a model has, code has not applied it.
DeltaStatus = Literal["none", "waiting", "answered", "applied", "set aside"]
Role = Literal["system", "user", "assistant", "tool"]
Part = Literal["question", "answer"]
Depth = Literal["snippet", "page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model asked for. `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message as a model receives it. `tool_call_id` is set on role `tool` only: the call it answers."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a model may learn of a turn."""

    seq: int  # from 1; live turns may have gaps, where others were superseded
    attempt: int  # from 1
    question: str
    answer: str  # holds its citations as [n]; empty while running
    status: Status
    reason: str  # why it is partial or failed: stopped, truncated, interrupted, ...; else ""
    day: str  # the day it was asked, in the asker's zone
    delta: DeltaStatus
    exchanges: tuple[Message, ...] = ()  # a library user's own tool messages, between question and answer
    cited: tuple[int, ...] = ()  # numbers of the sources that the answer cites, in order of first use
    window_start: int = 1  # seq of the first turn that was sent word for word with this one
    number: int = 0  # the subject's own count of turns, across threads: the order of the profile
    forgotten: str = ""  # the day it was forgotten; question and answer are then empty
    read_sources: bool = False  # whether a source was read for it

    @property
    def settled(self) -> bool:
        """Its delta was applied, was set aside, or the thread has no delta step (promise 3)."""
        return self.delta in ("none", "applied", "set aside")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A question that arrived. The same `client_id` never makes two turns in a thread."""

    client_id: str
    question: str
    asked_at: datetime  # aware, UTC
    zone: str  # IANA name, or UTC
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPassage:
    """A stretch of a turn that recall can find: offsets into its question or answer, and its folded words."""

    part: Part
    start: int
    end: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A place in an answer that points at a source. Page only."""

    n: int
    position: int  # offset of `[n]` in the answer
    sentence_start: int  # the sentence that it stands for
    sentence_end: int
    digest: str  # which stored text of the source the passage is in
    passage: tuple[tuple[int, int], ...]  # offsets into that text, at most three sentences
    score: float  # 0-1, how much of the sentence the passage carries
    checkable: bool
    missing: tuple[tuple[str, str], ...] = ()  # (kind, text): name, number, date, quote or negation not found there


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """All that is committed in one transaction when a turn ends (ARCHITECTURE "A turn", step 7)."""

    seq: int
    attempt: int
    answer: str
    status: Status
    reason: str = ""
    searched: Searched = "not needed"
    cited: tuple[int, ...] = ()
    citations: tuple[Citation, ...] = ()
    exchanges: tuple[Message, ...] = ()
    passages: tuple[IndexedPassage, ...] = ()
    window_start: int = 1
    delta: DeltaStatus = "none"  # "waiting" makes the delta job
    usage: str = "{}"  # JSON: tokens by kind as the provider reported them
    events: tuple[str, ...] = ()  # JSON bodies appended to the turn's log, the terminal event last


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """Something read. `locator` is its identity: one locator, one number, for the life of the thread."""

    locator: str
    url: str
    title: str
    host: str
    depth: Depth
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of a thread with its number. `digest` names the stored text as it was read last."""

    n: int
    locator: str
    url: str
    title: str
    host: str
    depth: Depth
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceName:
    """What a model may see of a source besides its text."""

    n: int
    title: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRecord:
    """A tool call of a turn with its result, committed together, in order of `index` (from 0)."""

    index: int
    call: int  # the model call (from 1) that asked for it
    id: str
    name: str
    arguments: str
    result: str
    said: str = ""  # what the model wrote before it asked, kept with the first of the calls it asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPage:
    """What a person sees of a turn."""

    seq: int
    attempt: int
    client_id: str
    question: str
    answer: str
    status: Status
    reason: str
    searched: Searched
    asked_at: str  # ISO 8601, UTC
    zone: str
    superseded: bool
    delta: DeltaStatus
    citations: tuple[Citation, ...]
    read: tuple[int, ...]  # numbers of the sources read in this turn, in order
    followups: tuple[str, ...] = ()
    usage: str = "{}"
    forgotten: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A stored turn whose row cannot be read. It is shown as such and left as it is."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTurns:
    """The newest readable turns, oldest first, and the seqs between them that could not be read."""

    turns: tuple[Turn, ...]
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadInfo:
    """A thread in a list."""

    thread: str
    title: str
    deltas: bool  # whether its turns have a delta step
    turns: int  # the highest seq there ever was; that turn may be superseded
    running: int  # seq of the turn being answered, or 0
    asked_at: str  # when its last turn was asked, ISO 8601, UTC; "" if there is none
    expires_at: str = ""  # when a temporary thread is deleted, ISO 8601, UTC; "" for all others

    @property
    def temporary(self) -> bool:
        """It reads and writes no profile, and is deleted a day after it was made."""
        return bool(self.expires_at)
