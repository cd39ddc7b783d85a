"""From a row to a value, or to the reason why it cannot be read.

A file can be damaged, or written by another hand. Each field is checked as it is read: its type, its range, its place
in the closed set, its JSON. `Damaged` says which field and why; what to make of it is the caller's rule:

- a turn or one of its citations: the turn is shown as Unreadable and the thread goes on;
- a state or profile: folded anew from its deltas, of which it is only a copy;
- a text that is only shown (a title, a time, a document's row in a list): UNREADABLE stands for it;
- a thread's numbers: what can be read of it is read, and writing to it is StoreError;
- a delta job, or the name of a source in a list: left out, so that its turn stays as not noted, or it is not offered;
- a tool call, a source, an event, a receipt, a delta, what a call took: StoreError, because leaving one out would
  change what the rest means.

Nothing is ever rewritten here: the damaged bytes stay as they were found.
"""

import json
import math
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from lumina.memory.errors import StoreError
from lumina.memory.store import AppliedDelta, DeltaJob, ModelUse, Snapshot, StoredReceipt
from lumina.memory.turns import Citation, Message, Source, SourceName, ThreadInfo, ToolCall, ToolRecord, Turn, TurnPage
from lumina.stores import checks

T = TypeVar("T")
UNREADABLE = "(cannot be read)"  # stands for a damaged text that only a page shows


class Row(Protocol):
    """Columns by name; a SQLAlchemy row is one."""

    def __getattr__(self, name: str) -> Any: ...


class Damaged(ValueError):
    """A stored value is not what was written; the message says which and how."""


def decode(stored: bytes) -> str | bytes:
    """Text as the database hands it over. Bytes that are no UTF-8 stay bytes, so that their field is found damaged."""
    try:
        return stored.decode("utf-8")
    except UnicodeDecodeError:
        return stored


def text(row: Row, name: str) -> str:
    value = getattr(row, name)
    if isinstance(value, str):
        return value
    raise Damaged(f"{name} is not text" if not isinstance(value, bytes) else f"{name} holds bytes that are no text")


def shown(row: Row, name: str) -> str:
    """Text that is only shown: a damaged one says so, and costs nothing else."""
    try:
        return text(row, name)
    except Damaged:
        return UNREADABLE


def whole(row: Row, name: str, least: int = 0, most: int = checks.MOST) -> int:
    value = getattr(row, name)
    if isinstance(value, int) and least <= value <= most:
        return value
    raise Damaged(f"{name} is not a whole number from {least} to {most}")


def one_of(row: Row, name: str, allowed: frozenset[str]) -> Any:
    value = getattr(row, name)
    if isinstance(value, str) and value in allowed:
        return value
    raise Damaged(f"{name} is none of {', '.join(sorted(allowed))}")


def parsed(row: Row, name: str, kind: type) -> Any:
    try:
        value = json.loads(text(row, name))
    except RecursionError:
        raise Damaged(f"{name} is JSON of more levels than can be read") from None
    except ValueError as problem:
        raise Damaged(f"{name} is not JSON ({str(problem)[:80]})") from None
    if not isinstance(value, kind):
        raise Damaged(f"{name} is JSON of another kind")
    return value


def listed(row: Row, name: str, read: Callable[[Any], T]) -> tuple[T, ...]:
    """A JSON list, each item through `read`, which raises ValueError, TypeError or KeyError on a bad one."""
    try:
        return tuple(read(item) for item in parsed(row, name, list))
    except Damaged:
        raise
    except (ValueError, TypeError, KeyError):
        raise Damaged(f"{name} holds an item of another kind") from None


def _n(item: Any) -> int:
    if not isinstance(item, int) or isinstance(item, bool) or not 1 <= item <= checks.MOST:
        raise ValueError
    return item


def _offset(item: Any) -> int:
    if not isinstance(item, int) or isinstance(item, bool) or not 0 <= item <= checks.MOST:
        raise ValueError
    return item


def _str(item: Any) -> str:
    if not isinstance(item, str):
        raise ValueError
    return item


def _pair(item: Any, read: Callable[[Any], T]) -> tuple[T, T]:
    first, second = item
    return read(first), read(second)


def _message(item: Any) -> Message:
    if item["role"] not in checks.ROLES:
        raise ValueError
    return Message(
        role=item["role"],
        content=_str(item["content"]),
        tool_calls=tuple(
            ToolCall(id=_str(call["id"]), name=_str(call["name"]), arguments=_str(call["arguments"]))
            for call in item["tool_calls"]
        ),
        tool_call_id=_str(item["tool_call_id"]),
    )


def messages_json(messages: tuple[Message, ...]) -> str:
    """The counterpart of what `turn` reads from `exchanges`."""
    return to_json(
        [
            {
                "role": message.role,
                "content": message.content,
                "tool_calls": [
                    {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
                ],
                "tool_call_id": message.tool_call_id,
            }
            for message in messages
        ]
    )


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _delta_status(row: Row) -> Any:
    # A turn without a job (a running one, or one of a thread without a delta step) has none.
    return "none" if row.delta is None else one_of(row, "delta", checks.JOB_STATUSES)


def turn(row: Row) -> Turn:
    seq = whole(row, "seq", 1)
    whole(row, "superseded", 0, 1)
    return Turn(
        seq=seq,
        attempt=whole(row, "attempt", 1),
        question=text(row, "question"),
        answer=text(row, "answer"),
        status=one_of(row, "status", checks.STATUSES),
        reason=text(row, "reason"),
        day=text(row, "day"),
        delta=_delta_status(row),
        exchanges=listed(row, "exchanges", _message),
        cited=listed(row, "cited", _n),
        window_start=whole(row, "window_start", 1),
        number=whole(row, "number", 1),
        forgotten=text(row, "forgotten"),
        read_sources=bool(row.read_sources),
    )


def turn_page(row: Row, citations: tuple[Citation, ...], read: tuple[int, ...]) -> TurnPage:
    parsed(row, "usage", dict)
    return TurnPage(
        seq=whole(row, "seq", 1),
        attempt=whole(row, "attempt", 1),
        client_id=text(row, "client_id"),
        question=text(row, "question"),
        answer=text(row, "answer"),
        status=one_of(row, "status", checks.STATUSES),
        reason=text(row, "reason"),
        searched=one_of(row, "searched", checks.SEARCHED),
        asked_at=text(row, "asked_at"),
        zone=text(row, "zone"),
        superseded=bool(whole(row, "superseded", 0, 1)),
        delta=_delta_status(row),
        citations=citations,
        read=read,
        followups=listed(row, "followups", _str),
        usage=text(row, "usage"),
        forgotten=text(row, "forgotten"),
    )


def citation(row: Row) -> Citation:
    score = row.score
    if not isinstance(score, float | int) or not math.isfinite(score):
        raise Damaged("score is not a number")
    return Citation(
        n=whole(row, "n", 1),
        position=whole(row, "position"),
        sentence_start=whole(row, "sentence_start"),
        sentence_end=whole(row, "sentence_end"),
        digest=text(row, "digest"),
        passage=listed(row, "passage", lambda item: _pair(item, _offset)),
        score=float(score),
        checkable=bool(whole(row, "checkable", 0, 1)),
        missing=listed(row, "missing", lambda item: _pair(item, _str)),
    )


def thread_info(row: Row) -> ThreadInfo:
    return ThreadInfo(
        thread=text(row, "thread"),
        title=shown(row, "title"),
        deltas=bool(whole(row, "deltas", 0, 1)),
        turns=whole(row, "turns"),
        running=whole(row, "running"),
        asked_at=shown(row, "asked_at"),
        expires_at=shown(row, "expires_at"),
    )


def thread_to_read(row: Row, last_turn: Callable[[], int]) -> ThreadInfo:
    """A thread in a list, or to be read: what is damaged in its row hides neither it nor the others."""

    def number(name: str) -> int:
        value = getattr(row, name)
        return value if isinstance(value, int) and 0 <= value <= checks.MOST else -1

    turns = number("turns")
    return ThreadInfo(
        thread=shown(row, "thread"),
        title=shown(row, "title"),
        deltas=number("deltas") == 1,
        turns=turns if turns >= 0 else last_turn(),
        running=max(number("running"), 0),
        asked_at=shown(row, "asked_at"),
        expires_at=shown(row, "expires_at"),
    )


def tool_record(row: Row) -> ToolRecord:
    return ToolRecord(
        index=whole(row, "place"),
        call=whole(row, "call"),
        id=text(row, "id"),
        name=text(row, "name"),
        arguments=text(row, "arguments"),
        result=text(row, "result"),
        said=text(row, "said"),
    )


def source(row: Row) -> Source:
    return Source(
        n=whole(row, "n", 1),
        locator=text(row, "locator"),
        url=text(row, "url"),
        title=text(row, "title"),
        host=text(row, "host"),
        depth=one_of(row, "depth", checks.DEPTHS),
        digest=text(row, "digest"),
    )


def source_name(row: Row) -> SourceName:
    return SourceName(n=whole(row, "n", 1), title=text(row, "title"), host=text(row, "host"))


def event(row: Row) -> tuple[int, str]:
    parsed(row, "body", dict)
    return whole(row, "number", 1), text(row, "body")


def receipt(row: Row) -> StoredReceipt:
    parsed(row, "body", object)
    return StoredReceipt(
        seq=whole(row, "seq", 1),
        attempt=whole(row, "attempt", 1),
        call=whole(row, "call", 1),
        purpose=one_of(row, "purpose", checks.PURPOSES),
        body=text(row, "body"),
    )


def model_use(row: Row) -> ModelUse:
    return ModelUse(
        subject=text(row, "subject"),
        thread=text(row, "thread"),
        seq=whole(row, "seq", 1),
        attempt=whole(row, "attempt", 1),
        number=whole(row, "number", 1),
        purpose=text(row, "purpose"),
        model=text(row, "model"),
        day=text(row, "day"),
        input=whole(row, "input"),
        output=whole(row, "output"),
        cached=whole(row, "cached"),
        cache_written=whole(row, "cache_written"),
        reasoning=whole(row, "reasoning"),
    )


def snapshot(row: Row | None) -> Snapshot:
    if row is None:
        return Snapshot()
    parsed(row, "body", object)
    return Snapshot(version=whole(row, "version", 1), body=text(row, "body"))


def delta_job(row: Row) -> DeltaJob:
    return DeltaJob(
        seq=whole(row, "seq", 1),
        attempt=whole(row, "attempt", 1),
        status=one_of(row, "status", checks.JOB_STATUSES),
        answer=text(row, "answer"),
        tries=whole(row, "tries"),
        reason=text(row, "reason"),
    )


def applied_delta(row: Row) -> AppliedDelta:
    parsed(row, "changes", list)
    return AppliedDelta(
        seq=whole(row, "seq", 1),
        attempt=whole(row, "attempt", 1),
        correction=whole(row, "correction"),
        number=whole(row, "number", 1),
        changes=text(row, "changes"),
        thread=text(row, "thread"),
    )


def readable(what: str, read: Callable[[Any], T], row: object) -> T:
    """`read(row)`, with damage told as StoreError: for rows that cannot be left out."""
    try:
        return read(cast(Row, row))
    except Damaged as damage:
        raise StoreError(
            f"The stored {what} cannot be read: {damage}. It was left as it is; restore the database from a copy, or "
            "start a new thread."
        ) from None
