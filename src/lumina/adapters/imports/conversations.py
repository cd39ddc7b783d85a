"""What every foreign file is read into: conversations of plain messages, and a report of what did not fit.

Nothing is dropped in silence: what is left out, merged or replaced is a `Change` with the place and the reason.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from lumina.memory.errors import UsageError
from lumina.memory.turns import ToolCall

LARGEST = 512 * 2**20  # bytes of a foreign file: it is read whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that is not as it was in the file. `what`: dropped, merged, replaced, left as text, left out."""

    conversation: str
    message: int  # from 1 in its conversation; 0: the conversation itself
    what: str
    reason: str


@dataclass(slots=True, kw_only=True)
class Said:
    """One message. `at` is a Unix time, or None."""

    role: str  # user, assistant or tool
    text: str
    place: int  # from 1 in its conversation
    at: float | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(slots=True, kw_only=True)
class Conversation:
    name: str
    title: str = ""
    said: list[Said] = field(default_factory=list)
    at: float | None = None


@dataclass(slots=True, kw_only=True)
class Read:
    """A foreign file as it was understood."""

    conversations: list[Conversation] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def note(self, conversation: str, message: int, what: str, reason: str) -> None:
        self.changes.append(Change(conversation=conversation, message=message, what=what, reason=reason))


def from_json(raw: str, what: str) -> Any:
    """UsageError for what is no JSON, with the place."""
    try:
        return json.loads(raw)
    except RecursionError:
        raise UsageError(f"{what} is JSON of more levels than can be read. Nothing was imported.") from None
    except ValueError as error:
        raise UsageError(f"{what} is not JSON ({str(error)[:100]}). Nothing was imported.") from None


def text_of(content: object, read: Read, conversation: str, place: int) -> str:
    """A message's text: the text itself, or the text parts of a list. Of an image or a file a visible note stays."""
    if content is None:
        return ""
    if isinstance(content, str):
        return storable(content, read, conversation, place)
    parts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            parts.append(part["text"])
        else:
            kind = part.get("content_type") or part.get("type") if isinstance(part, dict) else type(part).__name__
            name = str(kind or "something").removesuffix("_asset_pointer").removesuffix("_url").replace("_", " ")[:40]
            parts.append(f"[{name}: not imported]")
            read.note(conversation, place, "replaced", f"a part of kind {name} is no text; a note stands in its place")
    return storable("\n".join(parts), read, conversation, place)


def storable(text: str, read: Read, conversation: str, place: int) -> str:
    """`text` with what no database keeps (NUL, half characters) replaced, which is reported."""
    kept = "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
    if kept != text:
        read.note(conversation, place, "replaced", "a character that cannot be stored became U+FFFD")
    return kept


def number_of(value: object) -> float | None:
    """A Unix time of our age, else None."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 32_503_680_000:
        return float(value)
    return None
