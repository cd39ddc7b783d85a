"""The lines of an export: one JSON object a line, one line for each thing that is kept.

A file begins with its header and ends with a line that counts the lines and seals them with a SHA-256 over all that
stands before. Between them, in this order: the subject's count of turns; texts by digest; the subject's documents; what
was done with its data (audit); then each thread with its sources, and each of its turns followed by what belongs to it.
What follows from other lines is not written and is made again on import: state and profile (the fold of the deltas),
word indexes, vectors, handles.

Keys are sorted, nothing stands between the parts, text is UTF-8: equal things give equal bytes. `parse` takes exactly
what `dump` writes, so a file that was imported and exported again is the same file.
"""

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from lumina.memory.transfer_fields import (
    Count,
    Day,
    Digest,
    Id,
    JsonObject,
    MaybeDay,
    MaybeId,
    MaybeTime,
    Number,
    Span,
    Text,
    Time,
)
from lumina.memory.turns import DeltaStatus, Depth, Part, Role, Searched

FORMAT = "lumina"
VERSION = 1
SCHEMA = "0003"  # the revision of the tables whose columns these lines hold; a test compares them


class Parts(BaseModel):
    """What every line and every part of one has in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Header(Parts):
    """The first line. `what`: one thread, or all of a subject. `scope` says where it came from; whoever imports
    chooses where it goes. A file of schema 0002 holds no usage."""

    kind: Literal["header"] = "header"
    format: Literal["lumina"] = "lumina"
    version: Literal[1] = 1
    schema_: Literal["0002", "0003"] = Field(default="0003", alias="schema")
    what: Literal["thread", "subject"]
    tenant: Id
    subject: Id
    thread: MaybeId  # empty for a subject


class SubjectLine(Parts):
    """`number`: how many turns the subject has asked, over all threads. No number of the file is larger."""

    kind: Literal["subject"] = "subject"
    number: Count


class TextLine(Parts):
    """A text that sources, citations and receipts name by its digest."""

    kind: Literal["text"] = "text"
    digest: Digest
    text: Text


class DocumentSpan(Parts):
    start: Count
    end: Count
    heading: Text


class DocumentLine(Parts):
    """A document of the subject's own. `digest` and `size` are those of its file; the word index is made again."""

    kind: Literal["document"] = "document"
    locator: Text
    url: Text
    title: Text
    digest: Text
    size: Count
    added_at: Time
    text: Text
    passages: tuple[DocumentSpan, ...]


class AuditLine(Parts):
    """Something that was done with the subject's data, oldest first; never what it held. Exports and imports are
    not here: they are about an installation, not about what is carried."""

    kind: Literal["audit"] = "audit"
    thread: MaybeId
    action: Text
    by: Text
    at: Time
    detail: JsonObject


class ThreadLine(Parts):
    """A thread. `sources`: the last source number given out; `number`: the subject's number of its last turn."""

    kind: Literal["thread"] = "thread"
    thread: Id
    title: Text
    deltas: bool
    sources: Count
    number: Count
    asked_at: MaybeTime
    expires_at: MaybeTime  # of a temporary thread


class SourceLine(Parts):
    """A source under its number for the life of the thread. `digest`: its text as it was read last."""

    kind: Literal["source"] = "source"
    n: Number
    locator: Text
    url: Text
    title: Text
    host: Text
    depth: Depth
    digest: Digest


class CallPart(Parts):
    id: Text
    name: Text
    arguments: Text


class MessagePart(Parts):
    role: Role
    content: Text
    tool_calls: tuple[CallPart, ...]
    tool_call_id: Text


class TurnLine(Parts):
    """One attempt at a turn. `read`: the sources that were read for it, in order."""

    kind: Literal["turn"] = "turn"
    seq: Number
    attempt: Number
    client_id: Id
    number: Number
    status: Literal["complete", "partial", "failed"]
    reason: Text
    searched: Searched
    asked_at: Time
    zone: Text
    day: Day
    superseded: bool
    window_start: Number
    forgotten: MaybeDay
    cited: tuple[Number, ...]
    read: tuple[Number, ...]
    followups: tuple[Text, ...]
    usage: JsonObject
    question: Text
    answer: Text
    exchanges: tuple[MessagePart, ...]


class OfTurn(Parts):
    """What belongs to the turn line before it."""

    seq: Number
    attempt: Number

    @property
    def key(self) -> tuple[int, int]:
        return self.seq, self.attempt


class ToolCallLine(OfTurn):
    """A tool call with its result; `place` counts from 0 within the turn."""

    kind: Literal["tool_call"] = "tool_call"
    place: Count
    call: Count
    id: Text
    name: Text
    arguments: Text
    result: Text
    said: Text


class CitationLine(OfTurn):
    """A citation, in the order of the answer."""

    kind: Literal["citation"] = "citation"
    n: Number
    position: Count
    sentence_start: Count
    sentence_end: Count
    digest: Text  # of a text; empty where there is none to compare with
    passage: tuple[Span, ...]
    score: float
    checkable: bool
    missing: tuple[tuple[Text, Text], ...]


class DeltaJobLine(OfTurn):
    """The work of asking for the turn's delta."""

    kind: Literal["delta_job"] = "delta_job"
    status: DeltaStatus
    answer: Text
    tries: Count
    reason: Text


class DeltaLine(OfTurn):
    """Changes that were applied. `changes` is the JSON that `lumina.memory.change.dump_changes` writes."""

    kind: Literal["delta"] = "delta"
    correction: Count
    number: Number
    changes: Text


class ReceiptLine(OfTurn):
    """The account of a model call. `body` is the JSON of `lumina.memory.receipt.Receipt`."""

    kind: Literal["receipt"] = "receipt"
    call: Number
    purpose: Literal["answer", "delta"]
    body: JsonObject


class UsageLine(OfTurn):
    """What a model call of the turn took, in tokens; in the order of the calls."""

    kind: Literal["usage"] = "usage"
    purpose: Text
    model: Text
    day: Day
    input: Count
    output: Count
    cached: Count
    cache_written: Count
    reasoning: Count


class EventLine(Parts):
    """An event of a turn's log, or with 0 and 0 of the thread's own; in the order of the log."""

    kind: Literal["event"] = "event"
    seq: Count
    attempt: Count
    body: JsonObject

    @property
    def key(self) -> tuple[int, int]:
        return self.seq, self.attempt


class PassageLine(OfTurn):
    """A stretch that recall can find: offsets into the question or the answer. Its words are made again."""

    kind: Literal["passage"] = "passage"
    part: Part
    start: Count
    end: Count


class End(Parts):
    """The last line: how many stand before it, and the SHA-256 of their bytes."""

    kind: Literal["end"] = "end"
    lines: Count
    sha256: Digest


AboutTurn = ToolCallLine | CitationLine | DeltaJobLine | DeltaLine | ReceiptLine | UsageLine | EventLine | PassageLine
Line = SubjectLine | TextLine | DocumentLine | AuditLine | ThreadLine | SourceLine | TurnLine | AboutTurn
LINES: TypeAdapter[Header | Line | End] = TypeAdapter(
    Annotated[
        Header
        | SubjectLine
        | TextLine
        | DocumentLine
        | AuditLine
        | ThreadLine
        | SourceLine
        | TurnLine
        | ToolCallLine
        | CitationLine
        | DeltaJobLine
        | DeltaLine
        | ReceiptLine
        | UsageLine
        | EventLine
        | PassageLine
        | End,
        Field(discriminator="kind"),
    ]
)


def dump(line: Header | Line | End) -> bytes:
    """The line with its line feed."""
    fields = line.model_dump(by_alias=True)
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def parse(raw: bytes) -> Header | Line | End:
    """The line that `dump` wrote. ValueError says which field is wrong and why."""
    try:
        line = LINES.validate_json(raw)
    except ValidationError as error:
        raise ValueError(_first(error)) from None
    if dump(line) != raw:
        raise ValueError("it is not written as an export writes it: sorted keys, each once, nothing between them")
    return line


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, without the data it is wrong in."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return "its kind is none that this version of Lumina knows"
    where = ".".join(str(part) for part in first["loc"][1:])
    said = first["msg"].removeprefix("Value error, ")
    return f"{where}: {said}" if where else said
