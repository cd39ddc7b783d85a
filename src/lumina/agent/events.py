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
    attempt: int  # from 1; a regenerate is the next one
    question: str  # as it was asked


class ContextBuilt(Event):
    """What will be sent: tokens by part, how many items went in and how many stayed out."""

    kind: Literal["context"] = "context"
    tokens: dict[str, int]  # part of the context to its tokens
    budget: int  # tokens the context may have
    items_in: int  # parts that will be sent
    items_out: int  # parts left out; the receipt has the reasons
    recall: str = ""  # why recall fired or not


class SearchStarted(Event):
    """A search is under way."""

    kind: Literal["search.started"] = "search.started"
    query: str  # what is looked for
    provider: str  # where


class SearchFinished(Event):
    """How the search ended. `reason` is for people: what was looked through, or what failed."""

    kind: Literal["search.finished"] = "search.finished"
    query: str  # what was looked for
    provider: str  # where
    outcome: Literal["found", "empty", "failed", "refused"]  # four endings that are never mixed up
    hits: int = 0  # how many passages or pages
    reason: str = ""  # what was looked through, or what failed


class SourceRead(Event):
    """A source with its number for the life of the thread, committed before this event."""

    kind: Literal["source"] = "source"
    n: int  # its number
    title: str  # as the source names itself
    url: str  # what a person opens
    host: str  # the address's host, or `documents`
    depth: Depth  # whether an excerpt or all of it was read
    passage: str = ""  # what of it the model was shown
    heading: str = ""  # the headings above the passage


class PageRead(Event):
    """A page was read in full, or a stored source was opened; or it could not be, for a reason."""

    kind: Literal["page.read"] = "page.read"
    n: int  # the source's number; 0 where there is none
    characters: int  # length of the text that was read
    outcome: Literal["read", "failed", "refused"] = "read"  # three endings that are never mixed up
    host: str = ""  # of the page that was asked for
    reason: str = ""  # what failed, or why it was not opened


class Plan(Event):
    """What is going to be looked for, before it is. Only when the question is to be researched."""

    kind: Literal["plan"] = "plan"
    queries: tuple[str, ...]  # in the order in which they are asked


class Thinking(Event):
    """What a reasoning model wrote before its answer. Never sent back to a model."""

    kind: Literal["thinking"] = "thinking"
    text: str  # the next piece


class Text(Event):
    """The next piece of the answer. The pieces joined are the answer."""

    kind: Literal["text"] = "text"
    text: str  # the next piece


class CitationMade(Event):
    """`[n]` stands at `position` of the answer. `passage` is the text of the source that supports the sentence, with
    its offsets in the stored text; `missing` is what of the sentence was not found there."""

    kind: Literal["citation"] = "citation"
    n: int  # the source's number
    position: int  # offset of `[n]` in the answer
    support: float | None  # 0-1; None when the sentence is not checkable
    passage: str  # what supports the sentence
    spans: tuple[tuple[int, int], ...] = ()  # start and end of the passage in the source's stored text
    missing: tuple[tuple[str, str], ...] = ()  # kind and words of what was not found there


class CitationRemoved(Event):
    """A number that does not stand for a source of this turn was taken out of the answer."""

    kind: Literal["citation.removed"] = "citation.removed"
    marker: str  # as the model wrote it
    position: int  # where it would have stood in the answer
    reason: str  # why it cannot be cited


class Notice(Event):
    """Something a person should know, said beside the answer: "Quoted from your documents; no model is set"."""

    kind: Literal["notice"] = "notice"
    text: str  # one or two sentences
    now: bool = False  # tells what is happening (a failed call is tried again), not something to keep in mind


class TurnFinished(Event):
    """The end of the turn's log. In the thread's log too."""

    kind: Literal["turn.finished"] = "turn.finished"
    status: Literal["complete", "partial", "failed"]  # one of three endings
    reason: str = ""  # why it is partial or failed
    searched: Searched = "not needed"  # how the search for this turn ended
    usage: dict[str, int] = Field(default_factory=dict)  # tokens by kind, as the provider reported them


class FollowUps(Event):
    """Questions that could come next. In the thread's log."""

    kind: Literal["followups"] = "followups"
    questions: tuple[str, ...]  # at most three


class Titled(Event):
    """The thread has a title now. In the thread's log."""

    kind: Literal["title"] = "title"
    title: str  # a few words


class StateChanged(Event):
    """One entry of state or profile changed. In the thread's log."""

    kind: Literal["state.changed"] = "state.changed"
    op: str  # what the delta did: set, retract, open, resolve, decide
    key: str  # the entry
    about: Literal["thread", "subject"]  # whether it holds for the thread or for the person
    old: str | None  # value before, if there was one
    new: str | None  # value now, if there is one
    quote: str  # the words it was taken from
    said_by: str  # who said so: the person, an operator or a source


class Forgotten(Event):
    """Stands in a log in place of an event whose words were forgotten."""

    kind: Literal["forgotten"] = "forgotten"
    day: str  # the day it was forgotten


AnyEvent = Annotated[
    TurnStarted
    | ContextBuilt
    | SearchStarted
    | SearchFinished
    | SourceRead
    | PageRead
    | Plan
    | Thinking
    | Text
    | CitationMade
    | CitationRemoved
    | Notice
    | TurnFinished
    | FollowUps
    | Titled
    | StateChanged
    | Forgotten,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)


def to_json(event: Event) -> str:
    """One line of ASCII JSON; safe inside SSE and on any terminal."""
    return json.dumps(event.model_dump(mode="json"), ensure_ascii=True, separators=(",", ":"))


def from_json(body: str) -> AnyEvent:
    """The event that `to_json` wrote. Raises pydantic.ValidationError on anything else."""
    return EVENT.validate_json(body)
