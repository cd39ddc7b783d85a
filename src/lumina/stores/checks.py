"""What may be stored: the same refusals in every store.

Text is kept to the code point or refused. Two things cannot be kept by every database, so no store keeps them: lone
surrogates and NUL. Whatever passes here can be read back; a value that reading would call damaged is refused when it
is written. Every message names the field.
"""

import json
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, get_args

from lumina.agent.ports import NewDocument
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.removal import NewAudit
from lumina.memory.scope import check_id
from lumina.memory.store import AppliedDelta, CallPurpose, ModelUse, Snapshot, StoredReceipt
from lumina.memory.turns import (
    DeltaStatus,
    Depth,
    Message,
    NewSource,
    NewTurn,
    Part,
    Role,
    Searched,
    Status,
    ToolRecord,
    TurnEnd,
)

MOST = 2**53  # no count, offset or number in a row is larger: exact in JSON everywhere
STATUSES = frozenset(get_args(Status))
SEARCHED = frozenset(get_args(Searched))
DELTA_STATUSES = frozenset(get_args(DeltaStatus))
JOB_STATUSES = DELTA_STATUSES - {"none"}
DEPTHS = frozenset(get_args(Depth))
PARTS = frozenset(get_args(Part))
ROLES = frozenset(get_args(Role))
PURPOSES = frozenset(get_args(CallPurpose))


def check_text(name: str, value: object) -> str:
    """`value` if every database keeps it to the code point, else UsageError."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a string, not {type(value).__name__}. Nothing was stored.")
    if value.isascii():
        at = value.find("\0")
    else:
        try:
            at = value.encode("utf-8").find(b"\0")
        except UnicodeEncodeError as problem:
            raise UsageError(
                f"{name} holds a lone surrogate (U+{ord(value[problem.start]):04X}) at character {problem.start}, "
                "which is half a character and cannot be stored. Nothing was stored; send whole characters."
            ) from None
    if at >= 0:
        at = value.index("\0")
        raise UsageError(
            f"{name} holds the character U+0000 at character {at}, which not every database can store. Nothing was "
            "stored; remove it."
        )
    return value


def check_json(name: str, value: object, kind: type = object) -> str:
    """`value` if it is JSON text (of a list or object, if asked for), else UsageError."""
    text = check_text(name, value)
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{name} is not JSON ({problem}). Nothing was stored.") from None
    if not isinstance(parsed, kind):
        raise UsageError(f"{name} must be a JSON {'array' if kind is list else 'object'}. Nothing was stored.")
    return text


def check_whole(name: str, value: object, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise UsageError(f"{name} must be a whole number from {least} to {MOST}, not {_shown(value)}.")
    return value


def check_one_of(name: str, value: object, allowed: frozenset[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise UsageError(f"{name} must be one of {', '.join(sorted(allowed))}, not {_shown(value)}.")
    return value


def _shown(value: object) -> str:
    # A number of thousands of digits cannot even be printed, so its size is said instead.
    if isinstance(value, int) and abs(value) > MOST:
        return f"a number of {value.bit_length()} bits"
    return repr(value)[:60]


def _all_whole(name: str, values: Iterable[object], least: int = 0) -> None:
    for value in values:
        check_whole(name, value, least)


def check_new_turn(new: NewTurn) -> None:
    check_id("client_id", new.client_id)
    for name in ("question", "zone", "day"):
        check_text(name, getattr(new, name))
    if not isinstance(new.asked_at, datetime) or new.asked_at.tzinfo is None:
        raise UsageError("asked_at must be a time with its zone. Use datetime.now(timezone.utc).")


def asked_at(new: NewTurn) -> str:
    return new.asked_at.astimezone(UTC).isoformat()


def check_moment(name: str, value: datetime | None) -> str:
    """ISO 8601 in UTC, "" for None."""
    if value is None:
        return ""
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise UsageError(f"{name} must be a time with its zone. Use datetime.now(timezone.utc).")
    return value.astimezone(UTC).isoformat()


def has_expired(expires_at: object, now: datetime) -> bool:
    """Whether the time of a temporary thread has come. A moment that cannot be read is never reached."""
    try:
        return isinstance(expires_at, str) and bool(expires_at) and datetime.fromisoformat(expires_at) <= now
    except (ValueError, TypeError):
        return False


def no_subject(subject: str) -> NotFound:
    return NotFound(f"Nothing is kept of {subject!r} here. Nothing was changed.")


def no_place(seq: int) -> NotFound:
    return NotFound(f"There is no turn {seq} in this thread that could be asked again. Nothing was changed.")


def check_end(end: TurnEnd) -> None:
    check_text("answer", end.answer)
    check_one_of("status", end.status, STATUSES - {"running"})
    check_text("reason", end.reason)
    check_one_of("searched", end.searched, SEARCHED)
    check_one_of("delta", end.delta, DELTA_STATUSES)
    check_whole("window_start", end.window_start, 1)
    _all_whole("cited", end.cited, 1)
    check_json("usage", end.usage, dict)
    check_messages(end.exchanges)
    check_bodies(end.events)
    for citation in end.citations:
        _all_whole("citation n", [citation.n], 1)
        _all_whole("citation offset", (citation.position, citation.sentence_start, citation.sentence_end))
        _all_whole("citation passage", (offset for pair in citation.passage for offset in pair))
        check_text("citation digest", citation.digest)
        for kind, text in citation.missing:
            check_text("citation missing", kind)
            check_text("citation missing", text)
        if not math.isfinite(citation.score):
            raise UsageError("citation score must be a finite number. Nothing was stored.")
    for passage in end.passages:
        check_one_of("passage part", passage.part, PARTS)
        _check_span(passage.start, passage.end)
        for word in passage.words:
            check_text("passage word", word)


def _check_span(start: int, end: int) -> None:
    _all_whole("passage offset", (start, end))
    if end < start:
        raise UsageError(f"A passage ends at {end} before it starts at {start}. Nothing was stored.")


def check_messages(messages: Sequence[Message]) -> None:
    for message in messages:
        check_one_of("exchanges role", message.role, ROLES)
        check_text("exchanges content", message.content)
        check_text("exchanges tool_call_id", message.tool_call_id)
        for call in message.tool_calls:
            check_text("exchanges tool call id", call.id)
            check_text("exchanges tool call name", call.name)
            check_text("exchanges tool call arguments", call.arguments)


def check_bodies(bodies: Sequence[str]) -> None:
    for body in bodies:
        check_json("event", body, dict)


def check_tool_record(record: ToolRecord) -> None:
    check_whole("index", record.index)
    check_whole("call", record.call)
    for name in ("id", "name", "arguments", "result", "said"):
        check_text(f"tool call {name}", getattr(record, name))


def check_source(new: NewSource) -> None:
    for name in ("locator", "url", "title", "host", "text"):
        check_text(f"source {name}", getattr(new, name))
    check_one_of("source depth", new.depth, DEPTHS)


def check_delta(delta: AppliedDelta, state: Snapshot, profile: Snapshot | None) -> None:
    check_whole("correction", delta.correction)
    check_whole("number", delta.number, 1)
    check_json("changes", delta.changes, list)
    check_snapshot("state", state)
    if profile is not None:
        check_snapshot("profile", profile)


def check_audit(audit: NewAudit | None) -> None:
    if audit is not None:
        for name in ("action", "by", "at", "thread"):
            check_text(f"audit {name}", getattr(audit, name))
        check_json("audit detail", audit.detail, dict)


def check_snapshot(name: str, snapshot: Snapshot) -> None:
    check_whole(f"{name} version", snapshot.version, 1)
    check_json(f"{name} body", snapshot.body)


def check_receipt(receipt: StoredReceipt) -> None:
    check_whole("call", receipt.call, 1)
    check_one_of("purpose", receipt.purpose, PURPOSES)
    check_json("receipt", receipt.body)


def check_uses(uses: Sequence[ModelUse]) -> None:
    for use in uses:
        for name in ("purpose", "model", "day"):
            check_text(f"usage {name}", getattr(use, name))
        try:
            right = date.fromisoformat(use.day).isoformat() == use.day
        except ValueError:
            right = False
        if not right or not use.purpose:
            raise UsageError("Usage has a purpose, and a day such as 2026-11-30. Nothing was stored.")
        for name in ("input", "output", "cached", "cache_written", "reasoning"):
            check_whole(f"usage {name}", getattr(use, name))


def check_document(document: NewDocument) -> None:
    for name in ("locator", "url", "title", "digest", "text"):
        check_text(f"document {name}", getattr(document, name))
    check_whole("document size", document.size)
    for passage in document.passages:
        _check_span(passage.start, passage.end)
        check_text("passage heading", passage.heading)
        for word in passage.words:
            check_text("passage word", word)
