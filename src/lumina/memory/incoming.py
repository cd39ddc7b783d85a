"""What a caller hands in, checked before anything is made of it.

A text that no store can keep identically is refused, never mended; a caller's own tool messages are taken in OpenAI's
form or as values. Every error says that nothing was recorded.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lumina.memory.errors import UsageError
from lumina.memory.turns import Message, ToolCall


def check_budget(budget: object) -> None:
    """UsageError for what is no number of tokens. Zero or less is one: nothing fits it."""
    if not isinstance(budget, int) or isinstance(budget, bool):
        raise UsageError(f"budget must be a whole number of tokens, not {type(budget).__name__}.")


def check_text(name: str, text: object) -> None:
    """UsageError for what no store can keep identically: not a string, NUL, half of a surrogate pair."""
    if not isinstance(text, str):
        raise UsageError(f"The {name} must be text, not {type(text).__name__}. Images and attachments are not taken.")
    if "\x00" in text:
        raise UsageError(
            f"The {name} holds a NUL character (at {text.index(chr(0))}), which cannot be kept. Remove it."
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"The {name} is not valid text: it holds a byte that is not UTF-8, or half of a surrogate pair, "
            f"at character {error.start}."
        ) from None


def exchanges_of(messages: Sequence[Message | Mapping[str, Any]], answer: str) -> tuple[Message, ...]:
    """A caller's tool exchanges as values. UsageError for anything but assistant and tool messages of plain text."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise UsageError(f"messages must be a list of messages, not {type(messages).__name__}. Nothing was recorded.")
    if isinstance(messages, str | Mapping):
        raise UsageError("messages is a list of messages, not one. Nothing was recorded.")
    rows = [message if isinstance(message, Message) else _from_openai(message) for message in messages]
    if rows and rows[-1].role == "assistant" and not rows[-1].tool_calls and rows[-1].content == answer:
        rows.pop()  # the answer itself
    for row in rows:
        if row.role not in ("assistant", "tool"):
            raise UsageError(
                f"messages holds a {row.role!r} message. Give only what happened between question and answer: "
                "the assistant's tool calls and the tools' results. Nothing was recorded."
            )
    return tuple(rows)


def _from_openai(row: Mapping[str, Any]) -> Message:
    if not isinstance(row, Mapping):
        raise UsageError(f"A message is {type(row).__name__}, not in OpenAI's form. Nothing was recorded.")
    try:
        calls = tuple(
            ToolCall(
                id=_string(call["id"], "the id of a tool call"),
                name=_string(call["function"]["name"], "the name of a tool call"),
                arguments=_string(call["function"]["arguments"], "the arguments of a tool call"),
            )
            for call in row.get("tool_calls") or ()
        )
        content = row.get("content")
        role = row["role"]
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"A message is not in OpenAI's form ({error!r} is missing or wrong). Nothing was recorded."
        ) from None
    if content is not None and not isinstance(content, str):
        raise UsageError(
            "A message's content is not plain text. Images and attachments are not taken; nothing was recorded."
        )
    check_text("message", content or "")
    answers = _string(row.get("tool_call_id") or "", "tool_call_id")
    return Message(role=role, content=content or "", tool_calls=calls, tool_call_id=answers)


def _string(value: object, what: str) -> str:
    # Kept as it is or refused: Python's way to write an object is no JSON.
    if not isinstance(value, str):
        raise UsageError(f"In a message, {what} is {type(value).__name__}, not a string. Nothing was recorded.")
    return value
