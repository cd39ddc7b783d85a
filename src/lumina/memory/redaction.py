"""Taking words out of texts that stay: each code point becomes a full block, so that every offset stays valid.

What is masked is a stretch of one text, and the copies that were made of that very stretch: pieces of an answer in its
log, a query that carried a noted value. Copies are found as the exact words; what merely says the same is not touched.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lumina.memory.turns import Message, ToolRecord

MASK = "\u2588"
Span = tuple[int, int]
Event = dict[str, Any]
COPIED = ("query", "reason", "text", "questions")  # fields of events that may hold a copy of what was said


def mask(text: str, spans: Iterable[Span]) -> str:
    """`text` with every code point of `spans` masked; its length stays."""
    letters = list(text)
    for start, end in spans:
        for at in range(max(start, 0), min(end, len(letters))):
            letters[at] = MASK
    return "".join(letters)


def mask_copies(text: str, words: Collection[str]) -> str:
    """`text` with every exact copy of one of `words` masked, the longest first."""
    for copy in sorted(filter(str.strip, words), key=len, reverse=True):
        text = text.replace(copy, MASK * len(copy))
    return text


def mask_json(text: str, words: Collection[str]) -> str:
    """A JSON text with copies masked in its strings. What is no JSON is masked as it stands."""
    masked = mask_copies(text, words)
    try:
        data = json.loads(text)
        told = _leaves(data, words)
    except (ValueError, RecursionError):
        return masked
    return masked if told == data else json.dumps(told, ensure_ascii=False)


def mask_message(message: Message, words: Collection[str]) -> Message:
    calls = tuple(replace(call, arguments=mask_json(call.arguments, words)) for call in message.tool_calls)
    return replace(message, content=mask_copies(message.content, words), tool_calls=calls)


def mask_record(record: ToolRecord, words: Collection[str]) -> ToolRecord:
    return replace(
        record, arguments=mask_json(record.arguments, words), result=mask_json(record.result, words),
        said=mask_copies(record.said, words),
    )  # fmt: skip


def without_passages(record: ToolRecord, touched: Mapping[int, Callable[[str], bool]], mark: str) -> ToolRecord:
    """A look back whose result showed passages of turns: those of a `touched` turn read `mark`. For each such seq a
    test says whether a passage's text has to go."""
    if record.name != "look_back":
        return record
    try:
        result = json.loads(record.result)
        rows = result.get("passages", ())
        hit = [row for row in rows if row["turn"] in touched and touched[row["turn"]](row["text"])]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return record
    for row in hit:
        row["text"] = mark
    return replace(record, result=json.dumps(result, ensure_ascii=False)) if hit else record


# Logs: events as JSON objects, by number.


def read_log(rows: Iterable[tuple[int, str]]) -> list[tuple[int, Event]]:
    """The events that can be read; a body that is no JSON object is left where it is."""
    read: list[tuple[int, Event]] = []
    for number, body in rows:
        try:
            event = json.loads(body)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            read.append((number, event))
    return read


def write_event(event: Event) -> str:
    return json.dumps(event, ensure_ascii=True, separators=(",", ":"))


def forgotten_event(thread: str, turn: int, day: str) -> Event:
    """What stands in a log in place of an event whose words were forgotten (`lumina.agent.events.Forgotten`)."""
    return {"seq": 0, "thread": thread, "turn": turn, "kind": "forgotten", "day": day}


def mask_log(
    rows: Sequence[tuple[int, str]], *, question: str, answer: tuple[str, str], words: Collection[str]
) -> list[tuple[int, str]]:
    """The events of a masked turn's log that change. `question` is the masked one, `answer` the old and the masked one;
    the text events are pieces of it, and a stretch may lie across several."""
    events = read_log(rows)
    old, new = answer
    joined = "".join(str(event.get("text")) for _, event in events if event.get("kind") == "text")
    changed: list[tuple[int, str]] = []
    at = 0
    for number, event in events:
        told = dict(event)
        if event.get("kind") == "text":
            end = at + len(str(event.get("text")))
            if old != new:
                # Pieces that are not the answer's: which of them hold the words is not known, so none stays.
                told["text"] = new[at:end] if joined == old else MASK * (end - at)
            at = end
        elif event.get("kind") == "turn.started":
            told["question"] = question
        else:
            told |= {name: _leaves(event[name], words) for name in COPIED if name in event}
            if event.get("kind") == "citation" and old != new:
                told["missing"] = []  # words of the sentence
        if told != event:
            changed.append((number, write_event(told)))
    return changed


def _leaves(value: Any, words: Collection[str]) -> Any:
    if isinstance(value, str):
        return mask_copies(value, words)
    if isinstance(value, list):
        return [_leaves(item, words) for item in value]
    if isinstance(value, dict):
        return {name: _leaves(item, words) for name, item in value.items()}
    return value
