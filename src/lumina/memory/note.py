"""The question that the delta step puts to a model, and how its answer is read.

The turn goes to the model as JSON, out of which no text can break. The answer is a note: operations, follow-up
questions, a title. It is a model's text and may be anything, so it is read with a limit on length and depth, unknown
fields are passed over, and an operation that cannot be read is reported while the others are kept. Whether an
operation is believed is decided elsewhere, in `lumina.memory.delta`.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError, field_validator

from lumina.memory.change import Operation, reason_of
from lumina.memory.errors import UsageError
from lumina.memory.evidence import SURROGATE, pieces, plain_line
from lumina.memory.schema import NOTHING_DECLARED, Schema
from lumina.memory.state import Entry, State
from lumina.memory.turns import Message, Turn
from lumina.memory.vendor_forms import anthropic_messages, openai_messages
from lumina.memory.visible_text import in_json
from lumina.memory.words import content_words

NOTES_SHOWN = 150  # entries shown to the model with their values; of the rest, NAMES_SHOWN keys
NAMES_SHOWN = 300
VALUE_SHOWN = 120  # code points

MAX_NOTE = 100_000  # code points
MAX_DEPTH = 20
MAX_OPS = 50
MAX_FOLLOWUPS = 3
MAX_FOLLOWUP = 200  # code points
MAX_TITLE = 80  # code points
REFUSED = "\nYour last answer was refused in part. Answer again in full."

PROMPT, DECLARED = "note.md", "declared.md"  # in prompts/, beside this file


def system_text(instructions: str = "", *, declares: bool = False) -> str:
    """The system message of a delta step: `instructions`, or Lumina's own, and how to use declared keys where there
    are any. The same bytes for every turn and thread. Receipts up to rendering 2 do not name their text: a new wording
    of Lumina's own needs the old one beside it."""
    text = instructions or _prompt(PROMPT)
    return text + _prompt(DECLARED) if declares else text


@cache
def _prompt(name: str) -> str:
    return files("lumina.memory").joinpath("prompts", name).read_bytes().decode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaRequest:
    """The question that the delta step puts to a model about one turn.

    `messages` is what a language model is sent; the other fields are the same material for code that needs no prose.
    `previous_answer` is the answer of the turn before (a confirmation quotes the offer in it). `keys` are the current
    keys with their values; a delta must reuse them. `entries` are the same with kind, day and whom they are about: a
    key can stand in the thread and in the profile, and as more than one kind. `read_sources` says whether this turn
    read any. `schema` is what was declared.
    """

    seq: int
    attempt: int
    question: str
    answer: str
    previous_answer: str
    keys: dict[str, str]
    read_sources: bool
    title_wanted: bool
    messages: tuple[Message, ...]
    entries: tuple[Entry, ...] = ()
    schema: Schema = NOTHING_DECLARED

    def openai(self) -> list[dict[str, Any]]:
        """The messages of an OpenAI chat completion request."""
        return openai_messages(self.messages)

    def anthropic(self) -> dict[str, Any]:
        """`system` and `messages` of an Anthropic request."""
        return anthropic_messages(self.messages)


class NoteError(UsageError, ValueError):
    """A model's note cannot be read at all. Nothing was changed; the model can be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An operation that was not accepted. `again`: telling the model the reason may bring an acceptable one."""

    op: str
    key: str
    reason: str
    again: bool = False


class Op(BaseModel):
    """One operation as a model wrote it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    op: Operation
    key: str
    value: str = ""
    quote: str = ""
    offer: str = ""
    about: Literal["thread", "subject", ""] = ""  # "": where the key is, or the thread
    source: int | None = None

    @field_validator("op", "about", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return "" if value is None else value.strip().lower() if isinstance(value, str) else value

    @field_validator("value", "quote", "offer", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        if value is None:
            return ""
        if isinstance(value, str) and SURROGATE.search(value):
            raise ValueError("half a character cannot be kept")
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @field_validator("source", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, str):
            digits = value.strip().strip("[]")
            return int(digits) if digits.isdecimal() and len(digits) <= 9 else None
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None


class Note(BaseModel):
    """What a model answers in the delta step. `refused` holds the operations that could not be read."""

    model_config = ConfigDict(extra="ignore")

    ops: list[Op] = []
    followups: list[str] = []
    title: str = ""
    _refused: tuple[Refused, ...] = PrivateAttr(default=())

    @property
    def refused(self) -> tuple[Refused, ...]:
        return self._refused

    @field_validator("followups", mode="before")
    @classmethod
    def _followups(cls, value: Any) -> list[str]:
        texts = [plain_line(each, MAX_FOLLOWUP) for each in value] if isinstance(value, list | tuple) else []
        return list(dict.fromkeys(text for text in texts if text))[:MAX_FOLLOWUPS]

    @field_validator("title", mode="before")
    @classmethod
    def _title(cls, value: Any) -> str:
        return plain_line(value, MAX_TITLE)


@cache
def note_schema() -> dict[str, Any]:
    """The JSON Schema of a note, for providers that hold a model to one: every field is there, nothing is explained
    (what a field means is said in the instructions, and there alone)."""
    return _bare(Note.model_json_schema())


def _bare(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return [_bare(each) for each in schema] if isinstance(schema, list) else schema
    bare = {name: _bare(value) for name, value in schema.items() if name not in ("title", "description", "default")}
    if isinstance(fields := schema.get("properties"), dict):
        bare |= {"properties": {name: _bare(field) for name, field in fields.items()}, "required": list(fields),
                 "additionalProperties": False}  # fmt: skip
    return bare


def delta_request(
    turn: Turn,
    *,
    state: State,
    profile: State | None = None,
    previous: Turn | None = None,
    read_sources: bool,
    title_wanted: bool = False,
    refused: Sequence[Refused] = (),
    schema: Schema | None = None,
    system: str = "",
    layout: Literal["notes first", "turn first"] = "notes first",
    fence: Literal["all that is obeyed", "angle brackets"] = "all that is obeyed",
) -> DeltaRequest:
    """The question about `turn`. `previous` is the live turn before it; `refused` what a first answer got wrong.

    `system` is the whole system message, by default `system_text`. What changes least stands first, so that a
    provider's cache holds more than the instructions: declared keys, then the notes, the oldest first, then the turn.
    `layout` "turn first" is how receipts up to rendering 2 had it, `fence` "angle brackets" those up to 3.
    """
    schema = schema or NOTHING_DECLARED
    entries = [*(profile.current() if profile else ()), *state.current()]
    before = previous.answer if previous else ""
    said = {
        "question": _told(turn.question),
        "answer": _told(turn.answer),
        "answer_read_sources": read_sources,
        "previous_answer": _told(before),
        "day": turn.day,
        "title_wanted": title_wanted,
    }
    declared = schema.told() if schema.declares else {}
    ranked = _ranked(entries, f"{turn.question}\n{turn.answer}\n{before}")
    again = [{"op": each.op, "key": each.key, "why": each.reason} for each in refused]
    last = {"refused": again} if refused else {}
    if layout == "notes first":
        told = {**declared, **_notes(ranked, by_age=True), **said, **last}
        asked = f"The turn, with the notes so far:\n{_fenced(_in_lines(told), fence)}{REFUSED if refused else ''}"
    else:
        told = {**said, **declared, **_notes(ranked), **last}
        body = _fenced(json.dumps(told, ensure_ascii=False, indent=1), fence)
        asked = f"{REFUSED.strip() if refused else 'The turn:'}\n{body}"
    messages = (
        Message(role="system", content=system or system_text(declares=schema.declares)),
        Message(role="user", content=asked),
    )
    return DeltaRequest(
        seq=turn.seq,
        attempt=turn.attempt,
        question=turn.question,
        answer=turn.answer,
        previous_answer=before,
        keys={entry.key: entry.value for entry in entries},
        read_sources=read_sources,
        title_wanted=title_wanted,
        messages=messages,
        entries=tuple(entries),
        schema=schema,
    )


def parse_note(text: str) -> Note:
    """The note in a model's answer: a JSON object, alone, in a code fence or among other words. Raises NoteError."""
    if len(text) > MAX_NOTE:
        raise NoteError(f"The note has {len(text)} characters; at most {MAX_NOTE} are read.")
    data = _object(_json_of(text))
    listed = data.get("ops")
    if listed is None:
        listed = []
    if not isinstance(listed, list):
        raise NoteError("`ops` in the note is not a list.")
    ops: list[Op] = []
    refused: list[Refused] = []
    for raw in listed[:MAX_OPS]:
        try:
            ops.append(Op.model_validate(raw))
        except ValidationError as error:
            refused.append(_unreadable(raw, reason_of(error)))
    refused.extend(_unreadable(raw, f"only {MAX_OPS} operations are read") for raw in listed[MAX_OPS : 2 * MAX_OPS])
    note = Note.model_validate({"ops": ops, "followups": data.get("followups"), "title": data.get("title")})
    note._refused = tuple(refused)
    return note


def _json_of(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    if not text.strip():
        raise NoteError("The note is empty.")
    if start < 0 or end < start or text.lstrip().startswith("["):
        raise NoteError("The note is not a JSON object.")
    return text[start : end + 1]


def _object(text: str) -> dict[str, Any]:
    _check_depth(text)
    try:
        data = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_int)
    except NoteError:
        raise
    except (ValueError, RecursionError) as error:
        raise NoteError(f"The note is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise NoteError("The note is not a JSON object.")
    return data


def _check_depth(text: str) -> None:
    """The parser recurses with the text, so depth is counted before it runs."""
    depth, quoted, escaped = 0, False, False
    for letter in text:
        if quoted:
            quoted, escaped = escaped or letter != '"', not escaped and letter == "\\"
        elif letter == '"':
            quoted = True
        elif letter in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise NoteError(f"The note is nested more than {MAX_DEPTH} deep.")
        elif letter in "}]":
            depth -= 1


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise NoteError(f"The note names {twice[:40]!r} twice in one object.")
    return data


def _constant(name: str) -> Any:
    raise NoteError(f"The note holds {name}, which is not JSON.")


def _int(digits: str) -> int:
    if len(digits) > 40:
        raise NoteError(f"The note holds a number of {len(digits)} digits.")
    return int(digits)


def _unreadable(raw: Any, reason: str) -> Refused:
    named = raw if isinstance(raw, dict) else {}
    return Refused(op=plain_line(named.get("op"), 20), key=plain_line(named.get("key"), 100), reason=reason)


def _told(text: str) -> str | dict[str, str]:
    parts = pieces(text)
    return text if len(parts) == 1 else {"beginning": parts[0], "end": parts[1]}


def _ranked(entries: list[Entry], text: str) -> list[Entry]:
    """Those that share a word with the turn first, then the newest: where there are too many, the first are shown."""
    seen = set(content_words("\n".join(pieces(text))))

    def rank(entry: Entry) -> tuple[bool, int, int]:
        return not seen.isdisjoint(content_words(f"{entry.key} {entry.value}")), entry.number, entry.seq

    return sorted(entries, key=rank, reverse=True)


def _notes(ranked: list[Entry], *, by_age: bool = False) -> dict[str, object]:
    """The notes that the model is shown, with their values or, of the rest, by name. `by_age`: the oldest first, so
    that a new one comes last and what stands before it stays as it was."""
    chosen = ranked[:NOTES_SHOWN]
    if by_age:
        chosen.sort(key=lambda entry: (entry.number, entry.seq, entry.attempt, entry.about, entry.kind, entry.key))
    shown = [
        {"key": entry.key, "kind": entry.kind, "about": entry.about, "value": entry.value[:VALUE_SHOWN]}
        for entry in chosen
    ]
    names = sorted({entry.key for entry in ranked[NOTES_SHOWN : NOTES_SHOWN + NAMES_SHOWN]})
    return {"notes": shown, "more_keys": names} if names else {"notes": shown}


def _in_lines(told: Mapping[str, object]) -> str:
    """JSON with a line for each field and each note: readable, and a third shorter than with every level indented."""
    rows = [f"{json.dumps(name)}: {_in_line(value)}" for name, value in told.items()]
    return "{" + ",\n".join(rows) + "}"


def _in_line(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def _fenced(text: str, fence: str) -> str:
    """JSON, in which no text can close its own string, spell a model's own tokens or hide a character."""
    if fence == "all that is obeyed":
        return in_json(text)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
