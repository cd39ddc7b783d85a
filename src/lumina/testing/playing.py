"""What all model doubles share: a reply made of pieces, played as a real provider would send it.

A double decides what to reply; this module turns the reply into pydantic-ai's messages and events, in one go or as a
stream, and keeps every request exactly as it arrived. A piece of a reply is text, a thought, a tool call, an error (the
reply breaks off there) or a gate (the reply waits there until the test opens it), so that a test can stop, cut or
overlap turns at an exact place without a clock.

    class Parrot(PlayedModel):
        async def reply(self, request: Captured) -> Reply:
            return Reply(request.question)
"""

import copy
import json
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from lumina.testing.gates import Gate

CHARACTERS_PER_TOKEN = 4  # a plausible number for English; a double has no tokenizer


@dataclass(frozen=True)
class Thought:
    """What a reasoning model writes before its answer."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call. `arguments` is a dict, or the JSON text as the model writes it (which may be broken on purpose).

    Without an `id` the call gets one that counts through the model's life: `call-1`, `call-2` ...
    """

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    _: KW_ONLY
    id: str = ""

    @property
    def json(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


Piece = str | Thought | Call | Gate | Exception


class Reply:
    """One response of a model: its pieces in order, and how the provider says it ended.

    `Reply("Hel", "lo [1].")` streams two chunks; `Reply("Hello", TimeoutError())` breaks off after "Hello";
    `Reply("Hel", gate, "lo")` waits in the middle; `Reply(Call("web_search", {"query": "x"}))` calls a tool;
    `Reply()` is an empty answer; `Reply("Hel", finish="length")` was cut by the provider's limit.
    """

    def __init__(self, *pieces: Piece, finish: FinishReason | None = None) -> None:
        self.pieces = pieces
        has_calls = any(isinstance(piece, Call) for piece in pieces)
        self.finish: FinishReason = finish or ("tool_call" if has_calls else "stop")


@dataclass(frozen=True, kw_only=True)
class Captured:
    """One request as the model received it. `messages` is a deep copy: nothing that happens later changes it."""

    messages: list[ModelMessage]
    tools: tuple[str, ...]  # names of the tools that were offered
    settings: ModelSettings | None
    streamed: bool

    @property
    def instructions(self) -> str:
        """The instructions that came with the request, or ""."""
        for message in reversed(self.messages):
            if isinstance(message, ModelRequest) and message.instructions is not None:
                return message.instructions
        return ""

    @property
    def question(self) -> str:
        """The text of the last user message, memory block included, or ""."""
        said = [text for role, text in self.spoken() if role == "user"]
        return said[-1] if said else ""

    def spoken(self) -> list[tuple[str, str]]:
        """Everything that the model can read, in order, as (role, text): system, user, assistant, call, tool."""
        instructions = self.instructions
        lines = [("system", instructions)] if instructions else []
        for message in self.messages:
            lines.extend(_lines(message))
        return lines


def _lines(message: ModelMessage) -> Iterator[tuple[str, str]]:
    for part in message.parts:
        if isinstance(part, SystemPromptPart):
            yield "system", part.content
        elif isinstance(part, UserPromptPart):
            yield "user", user_text(part)
        elif isinstance(part, ToolReturnPart):
            yield "tool", part.model_response_str()
        elif isinstance(part, TextPart):
            yield "assistant", part.content
        elif isinstance(part, ThinkingPart):
            yield "thinking", part.content
        elif isinstance(part, ToolCallPart):
            yield "call", f"{part.tool_name}({part.args_as_json_str()})"
        elif isinstance(content := getattr(part, "content", None), str):
            yield "system", content


def user_text(part: UserPromptPart) -> str:
    """The text of a user message; anything in it that is not text is left out."""
    if isinstance(part.content, str):
        return part.content
    items = (item.content if isinstance(item, TextContent) else item for item in part.content)
    return "\n".join(item for item in items if isinstance(item, str))


class PlayedModel(Model[None]):
    """A model whose replies come from `reply`. It needs no key and no network, and keeps all requests."""

    def __init__(self, *, name: str) -> None:
        super().__init__()
        self.requests: list[Captured] = []
        self._name = name
        self._calls = 0

    @abstractmethod
    async def reply(self, request: Captured) -> Reply:
        """What the model says to `request`."""

    @property
    def model_name(self) -> str:
        return self._name

    @property
    def system(self) -> str:
        return "lumina.testing"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        captured = self._capture(messages, model_settings, model_request_parameters, streamed=False)
        reply = await self.reply(captured)
        parts: list[ModelResponsePart] = []
        for piece in reply.pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, Gate):
                await piece.passed()
            else:
                self._add(parts, piece)
        usage = RequestUsage(input_tokens=_sent(captured), output_tokens=sum(_size(piece) for piece in reply.pieces))
        return ModelResponse(parts=parts, model_name=self._name, usage=usage, finish_reason=reply.finish)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        captured = self._capture(messages, model_settings, model_request_parameters, streamed=True)
        reply = await self.reply(captured)
        if reply.pieces and isinstance(reply.pieces[0], Exception):
            raise reply.pieces[0]
        yield PlayedStream(
            model_request_parameters=model_request_parameters, model=self, reply=reply, sent=_sent(captured)
        )

    def call_id(self, call: Call) -> str:
        """The call's own id, or the next one of this model."""
        if call.id:
            return call.id
        self._calls += 1
        return f"call-{self._calls}"

    def _capture(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        *,
        streamed: bool,
    ) -> Captured:
        settings, parameters = self.prepare_request(settings, parameters)
        tools = tuple(tool.name for tool in parameters.declared_function_tools)
        captured = Captured(messages=copy.deepcopy(messages), tools=tools, settings=settings, streamed=streamed)
        self.requests.append(captured)
        return captured

    def _add(self, parts: list[ModelResponsePart], piece: str | Thought | Call) -> None:
        last = parts[-1] if parts else None
        if isinstance(piece, Call):
            parts.append(ToolCallPart(piece.name, piece.json, tool_call_id=self.call_id(piece)))
        elif isinstance(piece, Thought):
            parts.append(ThinkingPart(piece.text))
        elif isinstance(last, TextPart):
            last.content += piece
        else:
            parts.append(TextPart(piece))


@dataclass
class PlayedStream(StreamedResponse):
    """A reply as a stream: one event for each piece."""

    model: PlayedModel
    reply: Reply
    sent: int
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        self._usage = RequestUsage(input_tokens=self.sent)
        for index, piece in enumerate(self.reply.pieces):
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, Gate):
                await piece.passed()
                continue
            self._usage += RequestUsage(output_tokens=_size(piece))
            for event in self._events(piece, index):
                yield event
        self.finish_reason = self.reply.finish

    def _events(self, piece: str | Thought | Call, index: int) -> Iterator[ModelResponseStreamEvent]:
        if isinstance(piece, Call):
            yield from self._parts_manager.handle_tool_call_delta_events(
                vendor_part_id=f"call {index}",
                tool_name=piece.name,
                args=piece.json,
                tool_call_id=self.model.call_id(piece),
            )
        elif isinstance(piece, Thought):
            yield from self._parts_manager.handle_thinking_delta(vendor_part_id=None, content=piece.text)
        else:
            yield from self._parts_manager.handle_text_delta(vendor_part_id=None, content=piece)

    async def close_stream(self) -> None:
        """There is no connection to close: the stream lives in the reader's own task."""

    @property
    def model_name(self) -> str:
        return self.model.model_name

    @property
    def provider_name(self) -> None:
        return None

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self.started


def _sent(captured: Captured) -> int:
    return sum(1 + len(text) // CHARACTERS_PER_TOKEN for _, text in captured.spoken())


def _size(piece: Piece) -> int:
    if isinstance(piece, Call):
        return 1 + len(piece.json) // CHARACTERS_PER_TOKEN
    if isinstance(piece, Thought):
        return 1 + len(piece.text) // CHARACTERS_PER_TOKEN
    return max(1, len(piece) // CHARACTERS_PER_TOKEN) if isinstance(piece, str) else 0
