"""Carries out the calls that a model asks for: every call has exactly one result, whatever happens.

Unknown tools, arguments that are no JSON or miss a field, calls beyond the limit, a tool that fails and a stop in the
middle all give a result, as JSON; the model is told once and goes on. A call is committed together with its result as
it ends. No tool of a turn acts on the world: one with a side effect is not let in (what a page says must not be able to
make anything happen).
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from lumina.agent.unbroken import unbroken
from lumina.memory.errors import UsageError
from lumina.memory.turns import ToolCall, ToolRecord
from lumina.memory.visible_text import one_line

MAX_ARGUMENTS = 4000  # characters
logger = logging.getLogger(__name__)
Result = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`arguments` is a pydantic model: its schema is what the language model is shown. `limit`: calls in a turn."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any], Awaitable[Result]]
    limit: int
    side_effect: bool


class Toolbox:
    """The tools of one turn. `keep` commits a record; `limit` is for all tools together."""

    def __init__(self, tools: Sequence[Tool], *, keep: Callable[[ToolRecord], Any], limit: int) -> None:
        acting = [tool.name for tool in tools if tool.side_effect]
        if acting:
            raise UsageError(
                f"{', '.join(acting)} would act on the world, in a turn that reads what strangers wrote. Not allowed."
            )
        self.tools = {tool.name: tool for tool in tools}
        self.records: list[ToolRecord] = []
        self._keep = keep
        self._limit = limit
        self._ran: dict[str, int] = {}

    async def carry_out(self, call: int, said: str, asked: Sequence[ToolCall]) -> None:
        """One after the other, in the order asked, so that sources get their numbers in that order. `call` is the
        model call that asked, `said` what the model wrote before."""
        waiting = [self._record(call, said, asked, at) for at in range(len(asked))]
        try:
            while waiting:
                result = await self._result(waiting[0])
                record = waiting.pop(0)
                await self._commit(record, result)
        except asyncio.CancelledError:
            for record in waiting:
                await self._commit(record, failed("The turn was stopped before this call ended."))
            raise

    async def _commit(self, record: ToolRecord, result: Result) -> None:
        body = json.dumps(result, ensure_ascii=False)
        done = ToolRecord(
            index=record.index, call=record.call, id=record.id, name=record.name, arguments=record.arguments,
            result=body, said=record.said,
        )  # fmt: skip
        self.records.append(done)
        await unbroken(self._keep(done))

    def _record(self, call: int, said: str, asked: Sequence[ToolCall], at: int) -> ToolRecord:
        index = len(self.records) + at
        one = asked[at]
        taken = {record.id for record in self.records} | {other.id for other in asked[:at]}
        return ToolRecord(
            index=index,
            call=call,
            id=one.id if one.id and one.id not in taken else f"{one.id or 'call'}-{index}",
            name=one.name,
            arguments=one.arguments if len(one.arguments) <= MAX_ARGUMENTS else "{}",
            result="",
            said=said if at == 0 else "",
        )

    async def _result(self, record: ToolRecord) -> Result:
        tool = self.tools.get(record.name)
        if tool is None:
            return failed(f"There is no tool {one_line(record.name, 60)}. There are: {', '.join(self.tools)}.")
        if sum(self._ran.values()) >= self._limit:
            return refused(f"No more than {self._limit} tool calls in a turn. Answer with what you have.")
        if self._ran.get(tool.name, 0) >= tool.limit:
            return refused(f"{tool.name} can be called {tool.limit} times in a turn. Answer with what you have.")
        self._ran[tool.name] = self._ran.get(tool.name, 0) + 1
        try:
            arguments = tool.arguments.model_validate_json(record.arguments or "{}")
        except ValidationError as error:
            return failed(f"The arguments of {tool.name} are not as described: {_problem(error)}.")
        try:
            return await tool.run(arguments)
        except Exception as error:
            logger.warning("the tool %s failed", tool.name, exc_info=True)
            return failed(f"{tool.name} failed ({type(error).__name__}).")


def failed(reason: str) -> Result:
    return {"outcome": "failed", "reason": one_line(reason, 400)}


def refused(reason: str) -> Result:
    return {"outcome": "refused", "reason": one_line(reason, 400)}


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]
