"""The tool loop: ask the model, carry out what it asks for, ask again, until it answers or a limit is reached.

What goes out is a list of messages that the receipt can render again, byte for byte: call 1 is the context, a later
call is the context and the tool calls since. The receipt of a call is stored before the call is made. How the loop
ends is a value: a status and a reason for people, never an exception of the model's maker.
"""

import asyncio
import copy
import itertools
import json
from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Literal, assert_never

from pydantic import BaseModel
from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from lumina.agent.desk import Limits
from lumina.agent.draft import Draft
from lumina.agent.model_errors import explain
from lumina.agent.model_messages import model_messages
from lumina.agent.retrying import pause
from lumina.agent.spending import ANSWER, Spending, model_ref, tokens_of
from lumina.agent.storable import inert_json, plain_name, storable
from lumina.agent.toolbox import Toolbox
from lumina.memory.context import Context, continued
from lumina.memory.masking import Masks
from lumina.memory.receipt import Item
from lumina.memory.rendering import tool_messages
from lumina.memory.thread import Thread
from lumina.memory.turns import Message, ToolCall, Turn
from lumina.memory.visible_text import clean_answer

CUT_FROM = 1000  # tokens; below that, ratios say little
CUT_SHARE = 0.5  # of our count; the least that was measured is 0.67 (English prose)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the loop ended. `reason` is for people: what happened, and what to do if something can be done."""

    status: Literal["complete", "partial"]  # of what was written; without a word of it, the turn has failed
    reason: str = ""


COMPLETE = Outcome(status="complete")


def partial(reason: str) -> Outcome:
    return Outcome(status="partial", reason=reason)


class Loop:
    """One turn's exchange with the model. `usage` sums up what the provider reported, whatever the end was; `spending`
    has it call by call."""

    def __init__(
        self, *, model: Model, thread: Thread, turn: Turn, context: Context, toolbox: Toolbox, draft: Draft,
        citable: set[int], limits: Limits, tell: Callable[[str, bool], Awaitable[None]], chance: Random,
    ) -> None:  # fmt: skip
        """`tell` says something to the person beside the answer; its second argument as in the event `Notice`."""
        self.usage: dict[str, int] = {}
        self.spending = Spending(thread, turn)
        self._model = model
        self._thread = thread
        self._turn = turn
        self._context = context
        self._toolbox = toolbox
        self._tools = definitions(toolbox)
        self._draft = draft
        self._citable = citable
        self._limits = limits
        self._tell = tell
        self._chance = chance
        self._heard = False  # whether anything came of the present call
        self._unread = ""  # what to tell of a context that was not read whole

    async def run(self) -> Outcome:
        """To the end of the answer. Raises what the model raises; `draft` holds what was written until then."""
        sent = self._context
        for call in range(1, self._limits.model_calls + 1):
            last = call == self._limits.model_calls
            response = await self._ask(sent.messages, may_call=not last)
            said = clean_answer(await self._draft.end_part())  # it is sent again with the calls' results
            sent = await self._named(sent)
            if self._unread:
                await self._tell(self._unread, False)
                self._unread = ""
            if isinstance(response, Outcome):
                return response
            calls = asked_for(response, self._thread.schema.masks)
            if not calls:
                return how_it_ended(response)
            if not last:
                await self._toolbox.carry_out(call, said, calls)
                sent = self._next_context(call + 1)
                await self._thread.save_receipt(self._turn, sent)
                await self.spending.write()
        return partial(f"stopped: the model was asked {self._limits.model_calls} times and still asked for tools")

    async def _named(self, sent: Context) -> Context:
        """A model that has learned in this call to do without tools has another name since: the receipt says it."""
        name = self._model.model_name
        if sent.receipt.model in ("", name):
            return sent
        renamed = replace(sent, receipt=sent.receipt.model_copy(update={"model": name}))
        await self._thread.save_receipt(self._turn, renamed)
        if sent is self._context:
            self._context = renamed
        return renamed

    def _next_context(self, call: int) -> Context:
        """What the next call is sent: the context and every tool call since."""
        by_index = tool_messages(self._toolbox.records)
        items: list[Item] = []
        messages: list[Message] = []
        for record in self._toolbox.records:
            rows = by_index[record.index]
            tokens = sum(self._thread.counter.count(row.content) for row in rows)
            items.append(Item(kind="tool call", index=record.index, tokens=tokens))
            messages += rows
        return continued(self._context, call, items, messages, self._citable)

    async def _ask(self, messages: tuple[Message, ...], *, may_call: bool) -> ModelResponse | Outcome:
        """One call, made again when it fails in a way that may pass and nothing of it was shown yet."""
        shown, limits = (len(self._draft.answer), self._draft.thought), self._limits
        for tried in itertools.count(1):
            try:
                return await self._try(messages, may_call=may_call)
            except Exception as error:
                seconds = None if (len(self._draft.answer), self._draft.thought) != shown else pause(
                    error, tried, tries=limits.model_tries, first=limits.first_pause, longest=limits.longest_pause,
                    chance=self._chance,
                )  # fmt: skip
                if seconds is None:
                    raise
                said = explain(error, self._model.model_name).partition(". ")[0].rstrip(".")
                again = f"asking again in {seconds:.0f} s (try {tried + 1} of {limits.model_tries})"
                await self._tell(f"{said}; {again}.", True)
                await asyncio.sleep(seconds)
        raise AssertionError("the last try either answered or raised")

    async def _try(self, messages: tuple[Message, ...], *, may_call: bool) -> ModelResponse | Outcome:
        """One try: the response, or how a limit cut it off."""
        parameters = ModelRequestParameters(function_tools=self._tools)
        settings = None if may_call else ModelSettings(tool_choice="none")
        silence = asyncio.timeout(self._limits.first_piece)
        self._heard = False
        try:
            async with silence, self._model.request_stream(model_messages(messages), settings, parameters) as stream:
                try:
                    return await self._listen(stream, silence) or stream.get()
                finally:
                    self._count(stream.usage, messages)
        except TimeoutError:
            if silence.expired():
                limit = self._limits.silence if self._heard else self._limits.first_piece
                return partial(f"interrupted: the model said nothing for {limit:g} seconds")
            raise

    async def _listen(
        self, stream: AsyncIterable[ModelResponseStreamEvent], silence: asyncio.Timeout
    ) -> Outcome | None:
        loop = asyncio.get_running_loop()
        async for event in stream:
            self._heard = True
            silence.reschedule(loop.time() + self._limits.silence)
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                await self._draft.say(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                await self._draft.say(event.delta.content_delta)
            elif isinstance(event, PartStartEvent) and isinstance(event.part, ThinkingPart):
                self._draft.think(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, ThinkingPartDelta):
                self._draft.think(event.delta.content_delta or "")
            if len(self._draft.answer) > self._limits.answer:
                return partial(f"truncated: the answer reached {self._limits.answer} characters")
            if self._draft.thought > self._limits.thinking:
                return partial(f"truncated: the model thought for more than {self._limits.thinking} characters")
        return None

    def _count(self, usage: RequestUsage, sent: tuple[Message, ...]) -> None:
        if sent is self._context.messages:
            # The provider counts the tools' descriptions too, which are no part of the context.
            about_tools = sum(
                self._thread.counter.count(f"{one.name} {one.description} {json.dumps(one.parameters_json_schema)}")
                for one in self._tools
            )
            if lost := cut_off(sum(self._context.receipt.tokens.values()), usage.input_tokens):
                self._unread = lost
            else:
                self._thread.calibrate(self._context, usage.input_tokens - about_tools)
        self.spending.add(ANSWER, model_ref(self._model), tokens_of(usage))
        reported = {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cached": usage.cache_read_tokens,
            "calls": 1,
        }
        for name, number in reported.items():
            if number:
                self.usage[name] = self.usage.get(name, 0) + number


def cut_off(ours: int, reported: int) -> str:
    """What to tell when a model has read far less than it was sent, or "". No text has so few tokens by any of the
    ratios measured (docs/why/budget.md), so a server has cut the beginning off: Ollama does so beyond its num_ctx."""
    if reported <= 0 or ours < CUT_FROM or reported >= ours * CUT_SHARE:
        return ""
    return (
        f"The model was sent about {ours:,} tokens and reports {reported:,}: its server seems to have cut off the "
        "beginning. Give it a larger window (Ollama: OLLAMA_CONTEXT_LENGTH, or num_ctx), or ask with a smaller budget."
    )


def definitions(toolbox: Toolbox) -> list[ToolDefinition]:
    return [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=copy.deepcopy(schema_of(tool.arguments)),
        )
        for tool in toolbox.tools.values()
    ]


@cache
def schema_of(arguments: type[BaseModel]) -> dict[str, object]:
    """Making one takes milliseconds, and every call of every turn needs them all."""
    return arguments.model_json_schema()


def asked_for(response: ModelResponse, masks: Masks) -> list[ToolCall]:
    """The calls as they are kept, carried out and shown to the model again."""
    return [
        ToolCall(
            id=plain_name(part.tool_call_id),
            name=plain_name(part.tool_name) or "unnamed",
            arguments=inert_json(
                masks.json_text(storable(part.args if isinstance(part.args, str) else part.args_as_json_str()))
            ),
        )
        for part in response.tool_calls
    ]


def how_it_ended(response: ModelResponse) -> Outcome:
    if response.state in ("incomplete", "interrupted"):
        return partial("interrupted: the model's answer ended early")
    match response.finish_reason:
        case None if response.provider_name and not response.tool_calls:  # a provider says how it ended, unless cut off
            return partial("interrupted: the model's answer ended early")
        case None | "stop" | "tool_call":
            return COMPLETE
        case "length":
            return partial("truncated: the model reached the limit of its output")
        case "content_filter":
            return partial("truncated: the provider's content filter stopped the answer")
        case "error":
            return partial("interrupted: the provider broke the answer off")
        case _:
            assert_never(response.finish_reason)
