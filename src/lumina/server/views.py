"""What the API shows: one shape for each thing, made from the stored rows and from nothing else.

A field that a person is not meant to see is not here; what is here is documented where it stands, and the OpenAPI file
is made from it. Times are ISO 8601 in UTC, days are the asker's, offsets are code points.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lumina.memory.change import About, Kind, Operation, SaidBy
from lumina.memory.state import Outcome
from lumina.memory.store import DeltaJob
from lumina.memory.telling import Quoted, Told
from lumina.memory.turns import Citation, DeltaStatus, Depth, Searched, Source, Status, ThreadInfo, TurnPage, Unreadable
from lumina.server.ids import thread_id


class View(BaseModel):
    model_config = ConfigDict(frozen=True)


class ThreadView(View):
    """A conversation in a list."""

    id: str = Field(description="names it in a path")
    name: str = Field(description="as it was made; the same as the id unless a path could not carry it")
    title: str
    turns: int = Field(description="the highest turn number there ever was")
    running: int | None = Field(description="the turn that is being answered")
    asked_at: str | None = Field(description="when its last turn was asked")
    expires_at: str | None = Field(description="when a temporary conversation is deleted")

    @staticmethod
    def of(info: ThreadInfo) -> "ThreadView":
        return ThreadView(
            id=thread_id(info.thread), name=info.thread, title=info.title, turns=info.turns,
            running=info.running or None, asked_at=info.asked_at or None, expires_at=info.expires_at or None,
        )  # fmt: skip


class CitationView(View):
    """`[n]` at `position` of the answer, and what of source n supports its sentence."""

    n: int
    position: int
    sentence: tuple[int, int] = Field(description="start and end of the sentence in the answer")
    digest: str = Field(description="the stored text that the passage is in")
    passage: list[tuple[int, int]] = Field(description="start and end, in that text; at most three sentences")
    support: float | None = Field(description="0-1; null when the sentence cannot be checked")
    missing: list[tuple[str, str]] = Field(description="kind and words of what the source does not have")

    @staticmethod
    def of(citation: Citation) -> "CitationView":
        return CitationView(
            n=citation.n, position=citation.position, sentence=(citation.sentence_start, citation.sentence_end),
            digest=citation.digest, passage=list(citation.passage), missing=list(citation.missing),
            support=round(citation.score, 3) if citation.checkable else None,
        )  # fmt: skip


class TurnView(View):
    """A question and its answer."""

    kind: Literal["turn"] = "turn"
    seq: int
    attempt: int
    question: str
    answer: str
    status: Status
    reason: str
    searched: Searched
    asked_at: str
    zone: str
    superseded: bool
    noted: DeltaStatus = Field(description="what became of noting what changed")
    citations: list[CitationView]
    read: list[int] = Field(description="sources read for this turn, by number")
    followups: list[str]
    usage: dict[str, Any] = Field(description="tokens, as the provider reported them")
    forgotten: str | None = Field(description="the day on which its words were forgotten")

    @staticmethod
    def of(page: TurnPage) -> "TurnView":
        return TurnView(
            seq=page.seq, attempt=page.attempt, question=page.question, answer=page.answer, status=page.status,
            reason=page.reason, searched=page.searched, asked_at=page.asked_at, zone=page.zone,
            superseded=page.superseded, noted=page.delta,
            citations=[CitationView.of(citation) for citation in page.citations], read=list(page.read),
            followups=list(page.followups), usage=json.loads(page.usage), forgotten=page.forgotten or None,
        )  # fmt: skip


class UnreadableView(View):
    """A stored turn that cannot be read. It was left as it is."""

    kind: Literal["unreadable"] = "unreadable"
    seq: int
    reason: str

    @staticmethod
    def of(row: Unreadable) -> "UnreadableView":
        return UnreadableView(seq=row.seq, reason=row.reason)


class Asked(View):
    """A turn that was kept: it will be answered, whoever listens."""

    thread: str = Field(description="id of the conversation")
    seq: int
    attempt: int
    new: bool = Field(description="false when this client id had made the turn before")
    events: str = Field(description="where the turn's events can be followed")


class SourceView(View):
    """Something that was read, under its number for the life of the conversation."""

    n: int
    title: str
    url: str = Field(description="what a person opens")
    host: str
    depth: Depth
    digest: str = Field(description="names the text as it was read last")

    @staticmethod
    def of(source: Source) -> "SourceView":
        return SourceView(n=source.n, title=source.title, url=source.url, host=source.host, depth=source.depth,
                          digest=source.digest)  # fmt: skip


class SourceText(View):
    """A source with its stored text."""

    source: SourceView
    digest: str = Field(description="the text that is shown; an earlier one if that was asked for")
    text: str


class EntryView(View):
    """One thing that was noted, with the words that it rests on."""

    kind: Kind
    key: str
    value: str
    about: About
    said_by: SaidBy
    by: str = Field(description="who corrected, for a correction")
    why: str
    day: str
    turn: int
    thread: str = Field(description="id of the conversation where it was said, if that is another one")
    source: int | None
    quote: str
    offer: str = Field(description="what was offered, where the person only accepted it")

    @staticmethod
    def of(quoted: Quoted) -> "EntryView":
        entry = quoted.entry
        return EntryView(
            kind=entry.kind, key=entry.key, value=entry.value, about=entry.about, said_by=entry.said_by, by=entry.by,
            why=entry.why, day=entry.day, turn=entry.seq, thread=thread_id(entry.thread) if entry.thread else "",
            source=entry.source or None, quote=quoted.quote, offer=quoted.offer,
        )  # fmt: skip


class NotNotedView(View):
    """A turn whose changes are not noted yet, or were given up."""

    turn: int
    status: DeltaStatus
    tries: int
    reason: str

    @staticmethod
    def of(job: DeltaJob) -> "NotNotedView":
        return NotNotedView(turn=job.seq, status=job.status, tries=job.tries, reason=job.reason)


class StateView(View):
    """What stands, or stood after turn `as_of`."""

    as_of: int | None
    entries: list[EntryView]
    not_noted: list[NotNotedView]


class HistoryView(View):
    """One value of a key, from when it was said until it ended."""

    sentence: str = Field(description="all of it in one sentence, for people")
    kind: Kind
    about: About
    value: str
    said_by: SaidBy
    day: str
    turn: int
    current: bool
    ended: str = Field(description="replaced, taken back, resolved, or nothing while it stands")
    until: int | None = Field(description="the turn that ended it")

    @staticmethod
    def of(told: Told) -> "HistoryView":
        return HistoryView(
            sentence=str(told), kind=told.kind, about=told.about, value=told.value, said_by=told.said_by, day=told.day,
            turn=told.seq, current=told.current, ended=told.ended, until=told.until or None,
        )  # fmt: skip


class OutcomeView(View):
    """What a correction did."""

    did: str
    op: Operation
    key: str
    value: str
    old: str
    about: About
    after_turn: int

    @staticmethod
    def of(outcome: Outcome) -> "OutcomeView":
        change = outcome.change
        return OutcomeView(did=outcome.kind, op=change.op, key=change.key, value=change.value, old=outcome.old or "",
                           about=change.about, after_turn=change.seq)  # fmt: skip


class CallView(View):
    """One model call of a turn as it was: the receipt, and the text that it stands for."""

    call: int
    purpose: str
    same: bool | None = Field(description="whether it renders to what was sent; null where something was forgotten")
    forgotten: int = Field(description="parts that were forgotten since")
    tokens: dict[str, int]
    receipt: dict[str, Any]
    messages: list[dict[str, Any]]


Turns = Sequence[TurnPage | Unreadable]


def turn_views(rows: Turns) -> list[TurnView | UnreadableView]:
    return [TurnView.of(row) if isinstance(row, TurnPage) else UnreadableView.of(row) for row in rows]
