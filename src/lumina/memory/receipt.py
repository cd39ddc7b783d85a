"""The receipt: what was decided about one model call, so that it can be shown again and checked.

A receipt holds decisions, not content: which items went in or stayed out, by reference, with their tokens as counted
then and the reason; which numbers may be cited; the version of the rendering and a SHA-256 of what was sent. The one
exception is the name of a source, because a page can have another title when it is read again.
`lumina.memory.rendering` turns a receipt and the stored rows back into the very same messages; nothing is decided anew.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from lumina.memory.errors import StoreError
from lumina.memory.turns import Message

ItemKind = Literal[
    "instructions", "turn", "entry", "keys", "not shown", "not noted", "recalled", "source", "question", "tool call",
    "turn noted", "refused", "schema",
]  # fmt: skip
Form = Literal["whole", "short", "without tools"]

# The part of the page's bar that each kind belongs to.
PART: dict[ItemKind, str] = {
    "instructions": "instructions",
    "turn": "window",
    "entry": "noted",
    "keys": "noted",
    "not shown": "noted",
    "not noted": "noted",
    "source": "noted",
    "recalled": "recalled",
    "question": "question",
    "tool call": "tools",
    "turn noted": "question",
    "refused": "question",
    "schema": "instructions",
}


class Item(BaseModel):
    """One thing that was considered for a context. Only the fields of its kind are set.

    turn: seq, attempt, form. entry: about, number, attempt (0: the first), correction, entry_kind, said_by, key. keys:
    keys. recalled: seq, attempt, part, start, end, replaced_at (-1: a turn of another thread), thread (another one of
    the subject's; "" for this one). source: n, text (its name as shown). instructions, schema: digest of the text
    (schema: what was declared, in a delta step). not shown: end (the last such turn). not noted: text (ranges of seqs).
    tool call: index. turn noted: seq, attempt (the turn a delta step is about). refused: said_by (the operation), key,
    text (the reason that a second delta call was told).
    `forgotten`: the day on which what it shows, or a part of it, was forgotten; names and texts are then gone from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ItemKind
    tokens: int = 0
    included: bool = True
    reason: str = ""
    seq: int = 0
    attempt: int = 0
    form: Form = "whole"
    about: Literal["", "thread", "subject"] = ""
    number: int = 0
    correction: int = 0
    entry_kind: str = ""
    said_by: str = ""
    key: str = ""
    keys: tuple[str, ...] = ()
    part: Literal["", "question", "answer"] = ""
    start: int = 0
    end: int = 0
    replaced_at: int = 0
    thread: str = ""
    n: int = 0
    digest: str = ""
    index: int = 0
    text: str = ""
    forgotten: str = ""


class Receipt(BaseModel):
    """The account of one model call.

    `call` counts from 1 within the turn. A later call of the tool loop has `base` = 1: it was sent what call 1 was,
    followed by its own items. `budget` and `tokens` are in tokens of `counter`. `memory_id` is the name in the memory
    block's tags. `sent` is the SHA-256 (hex) of the rendering, "" once a part of it was forgotten. `skipped` says why
    no model was asked; there was no call then, and nothing was sent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: Literal[1] = 1
    rendering: int
    purpose: Literal["answer", "delta"] = "answer"
    call: int = 1
    base: int = 0
    model: str = ""
    counter: str = ""
    budget: int = 0
    day: str = ""
    memory_id: str = ""
    window_start: int = 1
    window_reason: str = ""
    look_back: bool = False
    recall_fired: bool = False
    recall_reason: str = ""
    citable: tuple[int, ...] = ()
    items: tuple[Item, ...] = ()
    title_wanted: bool = False
    sent: str = ""
    skipped: str = ""

    @property
    def tokens(self) -> dict[str, int]:
        """Tokens by part of what was sent, as counted then."""
        parts: dict[str, int] = {}
        for item in self.items:
            if item.included:
                parts[PART[item.kind]] = parts.get(PART[item.kind], 0) + item.tokens
        return parts

    def to_json(self) -> str:
        return json.dumps(self.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, sort_keys=True)

    @staticmethod
    def from_json(body: str) -> "Receipt":
        try:
            return Receipt.model_validate_json(body)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            raise StoreError(
                f"A stored receipt cannot be read ({problem['msg']} at {'.'.join(map(str, problem['loc']))})."
                " It was left as it is; the turn itself is not affected."
            ) from None


def as_text(messages: Iterable[Message]) -> str:
    """Exactly what was sent, for people: each message under a line with its role; tool calls as name and JSON."""
    blocks: list[str] = []
    for message in messages:
        head = f"--- {message.role}" + (f" (answers {message.tool_call_id})" if message.tool_call_id else "")
        lines = [head]
        if message.content:
            lines.append(message.content)
        lines += [f"calls {call.name} {call.arguments} (as {call.id})" for call in message.tool_calls]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def digest(messages: Sequence[Message]) -> str:
    """SHA-256 over a canonical JSON of the messages. Roles, contents, calls and their ids all count."""
    rows = [
        [m.role, m.content, [[c.id, c.name, c.arguments] for c in m.tool_calls], m.tool_call_id] for m in messages
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(rows, ensure_ascii=True, separators=(",", ":")).encode("ascii")).hexdigest()
