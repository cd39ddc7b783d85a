"""What a request says to the model, read off its bytes: the second seam.

`rows` gives each message of the wire as (role, text, calls), in order; whatever a library has added stands in them.
"""

import itertools
import json
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

Row = tuple[str, str, list[tuple[str, str]]]


def rows(form: str, body: dict[str, Any]) -> list[Row]:
    if form == "anthropic":
        return _anthropic(body)
    if form == "google":
        return _google(body)
    return [_openai(message) for message in body["messages"]]


def _openai(message: dict[str, Any]) -> Row:
    calls = [
        (call["function"]["name"], _json(call["function"]["arguments"])) for call in message.get("tool_calls") or ()
    ]
    role = "system" if message["role"] == "developer" else message["role"]
    return role, _text(message.get("content")), calls


def _anthropic(body: dict[str, Any]) -> list[Row]:
    found: list[Row] = [("system", _text(body["system"]), [])] if body.get("system") else []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block for block in blocks if block["type"] == "tool_result"]
        found += [("tool", _text(block["content"]), []) for block in results]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = [(block["name"], _json(block["input"])) for block in blocks if block["type"] == "tool_use"]
        if text or calls or not results:
            found.append((message["role"], text, calls))
    return found


def _google(body: dict[str, Any]) -> list[Row]:
    system = body.get("systemInstruction")
    found: list[Row] = [("system", "".join(part["text"] for part in system["parts"]), [])] if system else []
    for content in body["contents"]:
        role = "assistant" if content["role"] == "model" else "user"
        parts = content["parts"]
        results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        found += [("tool", _returned(result), []) for result in results]
        text = "".join(part["text"] for part in parts if "text" in part)
        calls = [(p["functionCall"]["name"], _json(p["functionCall"]["args"])) for p in parts if "functionCall" in p]
        if text or calls or not results:
            found.append((role, text, calls))
    return found


def _returned(result: dict[str, Any]) -> str:
    """Google takes an object; a text comes as its only value."""
    [value] = result.values()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def check_valid(form: str, body: dict[str, Any]) -> None:
    """What a vendor would refuse with 400: roles out of turn, a call without its result, a result without its call,
    an empty message."""
    found = rows(form, body)
    assert all(text.strip() or calls for _, text, calls in found)
    spoken = [role for role, _, _ in found if role != "system"]
    assert spoken[0] == "user"
    assert not any(one == after and one != "tool" for one, after in itertools.pairwise(spoken)), spoken
    assert [role for role, _, _ in found].count("system") <= 1
    waiting = 0
    for role, _, calls in found:
        if role == "tool":
            waiting -= 1
            assert waiting >= 0
        else:
            assert not waiting
            waiting = len(calls)
    assert not waiting
    if form in ("openai", "ollama"):
        asked = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]
        given = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
        assert asked == given
    if form == "anthropic":
        blocks = [b for m in body["messages"] if not isinstance(m["content"], str) for b in m["content"]]
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert asked == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        roles = [message["role"] for message in body["messages"]]
        assert all(one != after for one, after in itertools.pairwise(roles))


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content)


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def model_messages(found: list[Row]) -> list[ModelMessage]:
    """The rows as pydantic-ai's messages, for a model double behind the wire."""
    messages: list[ModelMessage] = []
    for at, (role, text, calls) in enumerate(found):
        if role == "assistant":
            parts = [
                *([TextPart(text)] if text else []),
                *(ToolCallPart(name, said, tool_call_id=f"{at}-{n}") for n, (name, said) in enumerate(calls)),
            ]
            messages.append(ModelResponse(parts=parts))
        else:
            part = {"system": SystemPromptPart, "user": UserPromptPart}.get(role)
            made = part(text) if part else ToolReturnPart(tool_name="tool", content=text, tool_call_id=str(at))
            messages.append(ModelRequest(parts=[made]))
    return messages
