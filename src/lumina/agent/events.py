"""What happens while a turn is answered, as one closed union.

Every event is JSON with `kind`, `seq` (its number in its log, from 1), `thread` and `turn`. A turn's log has exactly
one terminal event, `turn.finished`. The thread's own log never ends and has its own numbers. Events are data for a
page, a script or an eval; a model never reads one.
"""

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from lumina.memory.turns import Depth, Searched


class Event(BaseModel):
    """What all events share. `seq` is 0 until the log has given it a number."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    seq: int = 0
    thread: str
    turn: int


class TurnStarted(Event):
    """The question is kept. In the thread's log too."""

    kind: Literal["turn.started"] = "turn.started"
    attempt: int
    question: str


class ContextBuilt(Event):
    """What will be sent: tokens by part, how many items went in and how many stayed out."""

    kind: Literal["context"] = "context"
    tokens: dict[str, int]
    budget: int
    items_in: int
    items_out: int
    recall: str = ""  # why recall fired or not


class SearchStarted(Event):
    """A search is under way."""

    kind: Literal["search.started"] = "search.started"
    query: str
    provider: str


class SearchFinished(Event):
    """How the search ended. `reason` is for people: what was looked through, or what failed."""

    kind: Literal["search.finished"] = "search.finished"
    query: str
    provider: str
    outcome: Literal["found", "empty", "failed", "refused"]
    hits: int = 0
    reason: str = ""


class SourceRead(Event):
    """A source with its number for the life of the thread, committed before this event."""

    kind: Literal["source"] = "source"
    n: int
    title: str
    url: str
    host: str
    depth: Depth
    passage: str = ""  # what of it the model was shown
    heading: str = ""


class PageRead(Event):
    """A page was read in full, or a stored source was opened."""

    kind: Literal["page.read"] = "page.read"
    n: int
    characters: int


class Thinking(Event):
    """What a reasoning model wrote before its answer. Never sent back to a model."""

    kind: Literal["thinking"] = "thinking"
    text: str


class Text(Event):
    """The next piece of the answer. The pieces joined are the answer."""

    kind: Literal["text"] = "text"
    text: str


class CitationMade(Event):
    """`[n]` stands at `position` of the answer. `passage` is the text of the source that supports the sentence, with
    its offsets in the stored text; `missing` is what of the sentence was not found there."""

    kind: Literal["citation"] = "citation"
    n: int
    position: int
    support: float | None  # 0-1; None when the sentence is not checkable
    passage: str
    spans: tuple[tuple[int, int], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()


class CitationRemoved(Event):
    """A number that does not stand for a source of this turn was taken out of the answer."""

    kind: Literal["citation.removed"] = "citation.removed"
    marker: str
    position: int
    reason: str


class Notice(Event):
    """Something a person should know, said beside the answer: "Quoted from your documents; no model is set"."""

    kind: Literal["notice"] = "notice"
    text: str


class TurnFinished(Event):
    """The end of the turn's log. In the thread's log too."""

    kind: Literal["turn.finished"] = "turn.finished"
    status: Literal["complete", "partial", "failed"]
    reason: str = ""
    searched: Searched = "not needed"
    usage: dict[str, int] = Field(default_factory=dict)


class FollowUps(Event):
    """Questions that could come next. In the thread's log."""

    kind: Literal["followups"] = "followups"
    questions: tuple[str, ...]


class Titled(Event):
    """The thread has a title now. In the thread's log."""

    kind: Literal["title"] = "title"
    title: str


class StateChanged(Event):
    """One entry of state or profile changed. In the thread's log."""

    kind: Literal["state.changed"] = "state.changed"
    op: str
    key: str
    about: Literal["thread", "subject"]
    old: str | None
    new: str | None
    quote: str
    said_by: str


AnyEvent = Annotated[
    TurnStarted
    | ContextBuilt
    | SearchStarted
    | SearchFinished
    | SourceRead
    | PageRead
    | Thinking
    | Text
    | CitationMade
    | CitationRemoved
    | Notice
    | TurnFinished
    | FollowUps
    | Titled
    | StateChanged,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)


def to_json(event: Event) -> str:
    """One line of ASCII JSON; safe inside SSE and on any terminal."""
    return json.dumps(event.model_dump(mode="json"), ensure_ascii=True, separators=(",", ":"))


def from_json(body: str) -> AnyEvent:
    """The event that `to_json` wrote. Raises pydantic.ValidationError on anything else."""
    return EVENT.validate_json(body)
