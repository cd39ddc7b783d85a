"""The built-in answerer as a pydantic-ai model: no key, no network, the same answer to the same request.

This module is only the face. It reads pydantic-ai's messages into plain values, asks `moves.next_move` what to do, and
sends that as a response or, word by word, as a stream.
"""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from lumina.adapters.extractive.memory_block import read_message
from lumina.adapters.extractive.moves import Asked, Exchange, Move, Said, next_move

NAME = "extractive"
CHARACTERS_PER_TOKEN = 4  # plausible for English; nothing is billed by it
WORD = re.compile(r"\S+\s*|\s+")


class ExtractiveModel(Model[None]):
    """Answers with the best sentences of the sources that a search finds, each with its number."""

    @property
    def model_name(self) -> str:
        return NAME

    @property
    def system(self) -> str:
        return "lumina"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        model_settings, model_request_parameters = self.prepare_request(model_settings, model_request_parameters)
        move = next_move(read(messages, model_request_parameters))
        part = (
            TextPart(move.text)
            if move.kind == "say"
            else ToolCallPart(move.tool, json.dumps(move.arguments), tool_call_id=_call_id(messages))
        )
        usage = RequestUsage(input_tokens=_sent(messages), output_tokens=_tokens(_written(move)))
        return ModelResponse(
            parts=[part],
            model_name=NAME,
            usage=usage,
            finish_reason="stop" if move.kind == "say" else "tool_call",
        )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        model_settings, model_request_parameters = self.prepare_request(model_settings, model_request_parameters)
        yield ExtractiveStream(
            model_request_parameters=model_request_parameters,
            move=next_move(read(messages, model_request_parameters)),
            sent=_sent(messages),
            call_id=_call_id(messages),
        )


@dataclass
class ExtractiveStream(StreamedResponse):
    """A move as a stream: an answer comes a word at a time."""

    move: Move
    sent: int
    call_id: str
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        self._usage = RequestUsage(input_tokens=self.sent)
        for event in self._events():
            yield event
        self._usage += RequestUsage(output_tokens=_tokens(_written(self.move)))
        self.finish_reason = "stop" if self.move.kind == "say" else "tool_call"

    def _events(self) -> Iterator[ModelResponseStreamEvent]:
        if self.move.kind == "say":
            for word in WORD.findall(self.move.text):
                yield from self._parts_manager.handle_text_delta(vendor_part_id="answer", content=word)
            return
        yield from self._parts_manager.handle_tool_call_delta_events(
            vendor_part_id="call",
            tool_name=self.move.tool,
            args=json.dumps(self.move.arguments),
            tool_call_id=self.call_id,
        )

    async def close_stream(self) -> None:
        """There is no connection to close."""

    @property
    def model_name(self) -> str:
        return NAME

    @property
    def provider_name(self) -> None:
        return None

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self.started


def read(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> Asked:
    """The request in plain values: the window, the memory, the question, and this turn's tool calls with results."""
    said: list[Said] = []
    exchanges: list[Exchange] = []
    calls: dict[str, ToolCallPart] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                said.append(Said(role="user", text=_user_text(part)))
                exchanges, calls = [], {}
            elif isinstance(part, TextPart) and isinstance(message, ModelResponse):
                said.append(Said(role="assistant", text=part.content))
            elif isinstance(part, ToolCallPart):
                calls[part.tool_call_id] = part
            elif isinstance(part, ToolReturnPart):
                call = calls.get(part.tool_call_id)
                arguments = call.args_as_json_str() if call else ""
                exchanges.append(Exchange(tool=part.tool_name, arguments=arguments, result=part.model_response_str()))
    last = max((at for at, one in enumerate(said) if one.role == "user"), default=-1)
    memory, question = read_message(said[last].text if last >= 0 else "")
    return Asked(
        question=question,
        memory=memory,
        earlier=tuple(said[: max(last, 0)]),
        exchanges=tuple(exchanges),
        tools=frozenset(tool.name for tool in parameters.declared_function_tools),
    )


def _user_text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    items = (item.content if isinstance(item, TextContent) else item for item in part.content)
    return "\n".join(item for item in items if isinstance(item, str))


def _call_id(messages: Sequence[ModelMessage]) -> str:
    """An id that is new in this history and the same whenever the request is the same."""
    count = sum(isinstance(part, ToolCallPart) for message in messages for part in message.parts)
    return f"extractive-{count + 1}"


def _written(move: Move) -> str:
    return move.text if move.kind == "say" else json.dumps(move.arguments)


def _tokens(text: str) -> int:
    return max(1, len(text) // CHARACTERS_PER_TOKEN)


def _sent(messages: Sequence[ModelMessage]) -> int:
    """Tokens of the request as far as its text goes, at CHARACTERS_PER_TOKEN."""
    total = 0
    for message in messages:
        if isinstance(message, ModelRequest) and message is messages[-1] and message.instructions:
            total += _tokens(message.instructions)
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                total += _tokens(_user_text(part))
            elif isinstance(part, ToolReturnPart):
                total += _tokens(part.model_response_str())
            elif isinstance(part, ToolCallPart):
                total += _tokens(part.args_as_json_str())
            elif isinstance(content := getattr(part, "content", None), str):
                total += _tokens(content)
    return total
