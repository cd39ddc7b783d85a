"""OpenAI-style messages: a JSON list of {role, content, ...}, a list or lines of such conversations, or of messages."""

import json
from typing import Any

from lumina.adapters.imports.conversations import Conversation, Read, Said, from_json, number_of, text_of
from lumina.memory.errors import UsageError
from lumina.memory.turns import ToolCall

DROPPED = ("system", "developer")


def read_openai(raw: str, name: str) -> Read:
    """`name` is what the conversations are called: NAME, NAME-2, NAME-3 ... UsageError for another kind of file."""
    read = Read()
    found = _conversations(_whole_or_lines(raw))
    for at, (title, messages) in enumerate(found, 1):
        own = name if at == 1 else f"{name}-{at}"
        conversation = Conversation(name=own, title=title)
        for place, row in enumerate(messages, 1):
            _message(row, place, conversation, read)
        read.conversations.append(conversation)
    return read


def _whole_or_lines(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        lines = [line for line in raw.split("\n") if line.strip()]
        if len(lines) < 2:
            return from_json(raw, "The file")
        return [from_json(line, f"Line {at} of the file") for at, line in enumerate(lines, 1)]


def _conversations(value: Any) -> list[tuple[str, list[Any]]]:
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not value:
        raise UsageError("The file holds no list of messages. Nothing was imported.")
    if all(isinstance(row, dict) and "role" in row for row in value):
        return [("", value)]
    found: list[tuple[str, list[Any]]] = []
    for row in value:
        messages = row.get("messages") if isinstance(row, dict) else row
        if not isinstance(messages, list):
            raise UsageError("The file holds something that is no list of messages. Nothing was imported.")
        title = row.get("title") if isinstance(row, dict) else ""
        found.append((title if isinstance(title, str) else "", messages))
    return found


def _message(row: Any, place: int, conversation: Conversation, read: Read) -> None:
    role = row.get("role") if isinstance(row, dict) else None
    if role in DROPPED:
        read.note(conversation.name, place, "dropped", f"a {role} message: instructions are the program's own")
        return
    if role not in ("user", "assistant", "tool"):
        read.note(conversation.name, place, "dropped", "its role is none of user, assistant and tool")
        return
    calls = row.get("tool_calls")
    conversation.said.append(
        Said(
            role=role,
            text=text_of(row.get("content"), read, conversation.name, place),
            place=place,
            at=number_of(row.get("created_at") or row.get("created")),
            tool_calls=tuple(
                call
                for each in (calls if isinstance(calls, list) else [])
                if (call := _call(each, place, conversation, read))
            ),
            tool_call_id=_plain(row.get("tool_call_id"), read, conversation, place),
        )
    )


def _call(call: Any, place: int, conversation: Conversation, read: Read) -> ToolCall | None:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        read.note(conversation.name, place, "dropped", "a tool call that names no function")
        return None
    arguments = function.get("arguments")
    return ToolCall(
        id=_plain(call.get("id"), read, conversation, place),
        name=_plain(function.get("name"), read, conversation, place),
        arguments=_plain(arguments if isinstance(arguments, str) else json.dumps(arguments), read, conversation, place),
    )


def _plain(value: object, read: Read, conversation: Conversation, place: int) -> str:
    return text_of(value if isinstance(value, str) else None, read, conversation.name, place)
