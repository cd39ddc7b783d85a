"""Every call has exactly one result, whatever the model asked for and whatever happened."""

import asyncio
import json

import pytest
from pydantic import BaseModel

from lumina.agent.toolbox import Tool, Toolbox
from lumina.memory.errors import UsageError
from lumina.memory.rendering import tool_messages, whole_exchanges
from lumina.memory.turns import ToolCall


class Word(BaseModel):
    word: str


def tool(run, *, limit=9, side_effect=False, name="echo"):
    return Tool(name=name, description="", arguments=Word, run=run, limit=limit, side_effect=side_effect)


async def echo(asked):
    return {"outcome": "found", "word": asked.word}


def box(*tools, limit=9, kept=None):
    kept = [] if kept is None else kept

    async def keep(record):
        kept.append(record)

    return Toolbox(tools or [tool(echo)], keep=keep, limit=limit)


def call(arguments='{"word": "a"}', *, name="echo", id="c"):
    return ToolCall(id=id, name=name, arguments=arguments)


def results(toolbox):
    return [json.loads(record.result) for record in toolbox.records]


def test_i7_a_tool_with_a_side_effect_is_not_let_in():
    with pytest.raises(UsageError, match="send_mail"):
        box(tool(echo), tool(echo, name="send_mail", side_effect=True))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "word"),
        ("{", "EOF"),
        ("[]", "object"),
        ('{"word": 3}', "word"),
        ("{}", "word"),
        ('{"word": "' + "x" * 5000 + '"}', "word"),
        ("\ufffd", "JSON"),
    ],
)
async def test_p5_wrong_arguments_are_told_to_the_model_and_raise_nothing(arguments, said):
    toolbox = box()
    await toolbox.carry_out(1, "", [call(arguments), call(id="d")])
    first, second = results(toolbox)
    assert first["outcome"] == "failed"
    assert said in first["reason"]
    assert second == {"outcome": "found", "word": "a"}


async def test_p5_huge_arguments_are_neither_kept_nor_sent_back():
    toolbox = box()
    await toolbox.carry_out(1, "", [call('{"word": "' + "x" * 5000 + '"}')])
    assert toolbox.records[0].arguments == "{}"


async def test_p5_an_unknown_tool_is_told_which_there_are():
    toolbox = box()
    await toolbox.carry_out(1, "", [call(name="rm_rf")])
    assert "There are: echo." in results(toolbox)[0]["reason"]


async def test_p5_fifty_calls_get_fifty_results_and_few_run():
    ran = []

    async def count(asked):
        ran.append(asked.word)
        return {"outcome": "found"}

    toolbox = box(tool(count), limit=8)
    await toolbox.carry_out(1, "", [call(id=f"c{n}") for n in range(50)])
    assert len(ran) == 8
    assert [row["outcome"] for row in results(toolbox)] == ["found"] * 8 + ["refused"] * 42


async def test_a_tool_has_a_limit_of_its_own():
    toolbox = box(tool(echo, limit=2), tool(echo, name="other"))
    await toolbox.carry_out(1, "", [call(id="a"), call(id="b"), call(id="c"), call(name="other", id="d")])
    assert [row["outcome"] for row in results(toolbox)] == ["found", "found", "refused", "found"]


async def test_p5_ids_that_repeat_or_are_missing_are_made_different():
    toolbox = box()
    await toolbox.carry_out(1, "Looking.", [call(id="same"), call(id="same"), call(id="")])
    await toolbox.carry_out(2, "", [call(id="same")])
    ids = [record.id for record in toolbox.records]
    assert len(set(ids)) == 4
    rows = tool_messages(toolbox.records)
    messages = [message for record in toolbox.records for message in rows[record.index]]
    assert whole_exchanges(messages)
    assert [message.content for message in messages if message.role == "assistant"] == ["Looking.", ""]


async def test_a_tool_that_breaks_is_a_failed_call_and_says_nothing_of_its_inside():
    async def broken(asked):
        raise ValueError("secret key 123")

    toolbox = box(tool(broken))
    await toolbox.carry_out(1, "", [call()])
    assert results(toolbox) == [{"outcome": "failed", "reason": "echo failed (ValueError)."}]


async def test_p5_after_a_stop_every_call_has_its_result_and_it_is_kept():
    reached = asyncio.Event()

    async def hang(asked):
        if asked.word == "hang":
            reached.set()
            await asyncio.Event().wait()
        return {"outcome": "found"}

    kept = []
    toolbox = box(tool(hang), kept=kept)
    calls = [call(), call('{"word": "hang"}', id="d"), call(id="e")]
    task = asyncio.create_task(toolbox.carry_out(1, "", calls))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [json.loads(record.result)["outcome"] for record in kept] == ["found", "failed", "failed"]
    assert kept == toolbox.records
