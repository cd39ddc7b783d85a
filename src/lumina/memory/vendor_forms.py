"""A context in the forms that the vendors' interfaces take: plain dictionaries, ready to be sent."""

import json
from collections.abc import Sequence
from typing import Any

from lumina.memory.turns import Message


def openai_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """`messages` of an OpenAI chat completion (and of every interface that copies it)."""
    rows: list[dict[str, Any]] = []
    for message in messages:
        row: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.tool_calls:
            row["content"] = message.content or None
            row["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in message.tool_calls
            ]
        if message.tool_call_id:
            row["tool_call_id"] = message.tool_call_id
        rows.append(row)
    return rows


def anthropic_messages(messages: Sequence[Message]) -> dict[str, Any]:
    """`system` and `messages` of an Anthropic request. Results of parallel calls share one user message."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    rows: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "tool":
            block = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}
            if rows and rows[-1]["role"] == "user" and isinstance(rows[-1]["content"], list):
                rows[-1]["content"].append(block)
            else:
                rows.append({"role": "user", "content": [block]})
        elif message.tool_calls:
            said = [{"type": "text", "text": message.content}] if message.content else []
            calls = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": _arguments(call.arguments)}
                for call in message.tool_calls
            ]
            rows.append({"role": "assistant", "content": [*said, *calls]})
        else:
            rows.append({"role": message.role, "content": message.content})
    return {"system": system, "messages": rows} if system else {"messages": rows}


def _arguments(text: str) -> dict[str, Any]:
    """Anthropic takes an object; arguments that are none (a model wrote them) are passed on under one name."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": text}
