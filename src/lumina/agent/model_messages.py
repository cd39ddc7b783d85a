"""Lumina's messages as pydantic-ai's, one for one.

The model is driven directly and not through pydantic-ai's agent, which would add text of its own to what is sent
(notes beside text that holds `<system>`, results for calls that have none). What goes out is what the receipt says.
"""

from collections.abc import Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from lumina.memory.turns import Message


def model_messages(messages: Sequence[Message]) -> list[ModelMessage]:
    """What to hand to a pydantic-ai model. Neighbouring system, user and tool messages share one request."""
    history: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    names: dict[str, str] = {}  # tool call id -> tool
    for message in messages:
        if message.role != "assistant":
            asked.append(_request_part(message, names))
            continue
        if asked:
            history.append(ModelRequest(parts=asked))
            asked = []
        names.update({call.id: call.name for call in message.tool_calls})
        history.append(ModelResponse(parts=_response_parts(message)))
    return [*history, ModelRequest(parts=asked)] if asked else history


def _request_part(message: Message, names: dict[str, str]) -> ModelRequestPart:
    if message.role == "system":
        return SystemPromptPart(message.content)
    if message.role == "tool":
        name = names.get(message.tool_call_id, "")
        return ToolReturnPart(tool_name=name, content=message.content, tool_call_id=message.tool_call_id)
    return UserPromptPart(message.content)


def _response_parts(message: Message) -> list[ModelResponsePart]:
    parts: list[ModelResponsePart] = [TextPart(message.content)] if message.content else []
    parts += [ToolCallPart(call.name, call.arguments, tool_call_id=call.id) for call in message.tool_calls]
    return parts
