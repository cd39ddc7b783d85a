"""What users of other memories have reported, as this one behaves: through the public API, on generated conversations.

The numbers are those of DEMAND's list of memory faults; those that have a better place are tested there, and
tests/rules/test_cases_are_kept.py knows of all.
"""

import copy
import json
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import event

from lumina import open_thread
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.thread import Thread
from lumina.memory.window import AFTER_DROP, MOST
from lumina.stores.sqlite import SQLiteStore

EMPTY = '{"ops": []}'


def said(key: str, value: str, quote: str, **more: str) -> dict:
    return {"op": "set", "key": key, "value": value, "quote": quote, **more}


async def told(thread: Thread, question: str, *ops: dict, answer: str = "Noted.") -> None:
    turn = await thread.record(await thread.context(question), answer)
    await thread.apply({"ops": list(ops)}, seq=turn.seq)


def block(context: object) -> str:
    return context.messages[-1].content  # type: ignore[attr-defined]


def sent(context: object) -> str:
    return "\n".join(message.content for message in context.messages)  # type: ignore[attr-defined]


async def test_demand_1_the_new_value_is_sent_and_the_old_one_is_history() -> None:
    async with await open_thread(None, deltas=True) as thread:
        await told(thread, "My diet is vegetarian.", said("diet", "vegetarian", "My diet is vegetarian"))
        await told(thread, "My diet is steak.", said("diet", "steak", "My diet is steak"))
        for n in range(12):
            await told(thread, f"Something else, {n}?")
        context = await thread.context("What can I eat?")
        assert "diet: steak" in block(context)
        assert "vegetarian" not in sent(context)
        rows = await thread.history("diet")
        assert [(row.value, row.seq, row.until) for row in rows] == [("vegetarian", 1, 2), ("steak", 2, 0)]


async def test_demand_2_a_contradiction_never_leaves_the_slot_empty() -> None:
    values = ["Paris", "York", "Rome", "York"]
    async with await open_thread(None, deltas=True) as thread:
        for value in values:
            await told(thread, f"I live in {value}.", said("home.city", value, f"I live in {value}"))
            entry = (await thread.state()).get("home.city")
            assert entry is not None
            assert entry.value == value


async def test_demand_8_what_a_caller_hands_over_is_left_as_it_was_and_nobody_is_assumed() -> None:
    messages = [
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}]},
        {"role": "tool", "content": "found", "tool_call_id": "c"},
    ]  # fmt: skip
    reply = {"ops": [said("home.city", "York", "I live in York")], "title": "Home"}
    before = copy.deepcopy((messages, reply))
    async with await open_thread(None, deltas=True) as thread:
        await thread.record(await thread.context("I live in York."), "Noted.", messages=messages)
        await thread.apply(reply)
        assert (messages, reply) == before
        given = (await thread.context("And?")).openai()
        given[0]["content"] = "changed by whoever got it"
        assert (await thread.context("And?")).openai()[0]["content"] == "I live in York."
    for nobody in ("", " ", None):
        with pytest.raises(UsageError, match="subject"):
            await open_thread(None, subject=nobody)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="tenant"):
            await open_thread(None, tenant=nobody)  # type: ignore[arg-type]


def exchange(n: int, *, results: int = 2) -> list[dict]:
    """Two calls at once, and their results."""
    calls = [{"id": f"{n}-{at}", "function": {"name": "find", "arguments": "{}"}} for at in range(2)]
    answers = [{"role": "tool", "content": "found", "tool_call_id": f"{n}-{at}"} for at in range(results)]
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *answers]


async def test_demand_13_14_15_no_edge_of_the_window_parts_a_call_from_its_result() -> None:
    """DEMAND Memory 12, 13, 14 and 15: the cut counts turns and comes first, pairs are looked at last; an orphan that
    was there before takes no other call with it."""
    async with await open_thread(None) as thread:
        for n in range(1, 26):
            context = await thread.context(f"Question {n}?")
            calls = [call.id for message in context.messages for call in message.tool_calls]
            results = [message.tool_call_id for message in context.messages if message.role == "tool"]
            assert calls == results
            shown = [item.seq for item in context.receipt.items if item.kind == "turn" and item.included]
            whole = [seq for seq in shown if seq != 5]
            assert calls == [f"{seq}-{at}" for seq in whole for at in range(2)], "turn 5 has an orphan"
            await thread.record(context, f"Answer {n}.", messages=exchange(n, results=1 if n == 5 else 2))


async def test_demand_16_a_call_that_nobody_has_answered_is_kept_and_sent_to_no_model() -> None:
    async with await open_thread(None) as thread:
        waiting = exchange(1, results=0)
        await thread.record(await thread.context("Start it."), "", messages=waiting, status="partial", reason="waits")
        for n in range(2 * MOST):
            context = await thread.context(f"Is it done, {n}?")
            assert not [message for message in context.messages if message.tool_calls or message.role == "tool"]
            await thread.record(context, "Not yet.")
        turn = (await thread.store.turns(thread.scope, [(1, 1)]))[1, 1]
        assert [call.id for call in turn.exchanges[0].tool_calls] == ["1-0", "1-1"]


async def test_demand_17_an_error_in_place_of_a_note_becomes_nothing_that_is_remembered() -> None:
    error = "Error: rate limit reached for gpt, please retry"
    async with await open_thread(None, deltas=True) as thread:
        await told(thread, "I live in York.", said("home.city", "York", "I live in York"))
        await thread.record(await thread.context("I work in Leeds."), "Noted.")
        before = await thread.store.page(thread.scope), await thread.state()
        for _ in range(3):
            with pytest.raises(UsageError):
                await thread.apply(error, seq=2)
        after = await thread.store.page(thread.scope)
        assert [(row.question, row.answer) for row in after] == [(row.question, row.answer) for row in before[0]]  # type: ignore[union-attr]
        assert await thread.state() == before[1]
        context = await thread.context("Where do I work?")
        assert "I work in Leeds." in sent(context)
        assert "rate limit" not in sent(context)
        (job,) = await thread.store.delta_jobs(thread.scope, "set aside")
        assert job.seq == 2
        for n in range(MOST + 2):
            await told(thread, f"Something else, {n}?")
        assert "Turn 2 was not noted." in block(await thread.context("Where do I work?"))


@pytest.mark.parametrize("budget", [150, 400, 8000])
async def test_demand_18_every_turn_is_sent_or_said_not_to_be(budget: int) -> None:
    async with await open_thread(None) as thread:
        for n in range(1, 31):
            context = await thread.context(f"Question {n}?", budget=budget)
            items = context.receipt.items
            shown = [item.seq for item in items if item.kind == "turn" and item.included]
            ends = [item.end for item in items if item.kind == "not shown" and item.included]
            first = shown[0] if shown else n
            assert shown == list(range(first, n))
            assert ends == ([first - 1] if first > 1 else [])
            assert (f"Turns 1-{first - 1} are not shown" in block(context)) == (first > 2)
            await thread.record(context, "An answer of some words. " * 3)


async def test_demand_19_the_window_drops_once_and_then_grows_for_several_turns() -> None:
    async with await open_thread(None) as thread:
        starts = []
        for n in range(1, 60):
            context = await thread.context(f"Question {n}?")
            assert (await thread.context(f"Question {n}?")).window_start == context.window_start
            starts.append(context.window_start)
            await thread.record(context, "Yes.")
        drops = [n for n in range(1, len(starts)) if starts[n] != starts[n - 1]]
        assert min(later - sooner for sooner, later in pairwise(drops)) > MOST - AFTER_DROP
        assert all(n + 1 - starts[n] == AFTER_DROP for n in drops), "a drop leaves room"


async def test_demand_20_what_was_said_early_is_there_after_the_window_has_dropped_many_times() -> None:
    planted = {f"topic.n{n}": f"value{n}" for n in range(10)}
    async with await open_thread(None, deltas=True) as thread:
        for key, value in planted.items():
            await told(thread, f"For {key} it is {value}.", said(key, value, f"it is {value}"))
        for n in range(60):
            await told(thread, f"Something else, {n}?")
        assert {entry.key: entry.value for entry in (await thread.state()).current()} == planted
        for key, value in planted.items():
            assert f"{key}: {value}" in block(await thread.context(f"What about {key}?"))


async def test_demand_21_what_did_not_fit_is_listed_with_its_tokens_and_the_reason() -> None:
    async with await open_thread(None, deltas=True) as thread:
        for n in range(9):
            text = f"My {n} is " + "long " * 40
            await told(thread, text, said(f"thing.n{n}", text[:300], text[:300]), answer="word " * 60)
        context = await thread.context("And?", budget=400)
        out = [item for item in context.receipt.items if not item.included]
        assert {item.kind for item in out} >= {"turn", "entry"}
        assert all(item.tokens > 0 and item.reason for item in out)
        counted = sum(item.tokens for item in context.receipt.items if item.included)
        assert counted <= 400
        shown = (await thread.show((await thread.record(context, "Yes.")).seq))[0]
        assert shown.items == context.receipt.items, "whoever looks later sees the same list"


async def test_demand_22_a_turn_is_one_commit_and_waits_for_no_model(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db", deltas=True) as thread:
        assert isinstance(thread.store, SQLiteStore)
        commits: list[object] = []
        event.listen(thread.store._engine, "commit", commits.append)
        for n in range(3):
            context = await thread.context(f"I live in City{n}.")  # the deltas of the turns before are still to come
            writes = len(commits)
            await thread.record(context, "Noted.")
            assert len(commits) == writes + 1
        assert len(await thread.store.delta_jobs(thread.scope, "waiting")) == 3


async def test_demand_35_what_was_sent_is_shown_again_with_source_tokens_and_reason_of_each_part() -> None:
    async with await open_thread(None, deltas=True) as thread:
        for n in range(14):
            await told(thread, f"I live in City{n}.", said("home.city", f"City{n}", f"I live in City{n}"))
        context = await thread.context("What did I say earlier about City2?", instructions="Be brief.")
        turn = await thread.record(context, "That you live there.")
        await told(thread, "I live in Rome.", said("home.city", "Rome", "I live in Rome"))
        (call,) = [call for call in await thread.show(turn.seq) if call.receipt.purpose == "answer"]
        assert call.same is True
        assert call.messages == context.messages
        assert {item.kind for item in call.items} >= {"instructions", "question", "turn", "entry", "recalled"}
        assert all(item.tokens > 0 for item in call.items if item.included)
        assert call.receipt.recall_fired
        assert "did i say" in call.receipt.recall_reason
        assert json.loads(call.receipt.to_json())["items"]


async def test_demand_26_one_wrong_fact_is_corrected_or_forgotten_and_nothing_else() -> None:
    async with await open_thread(None, deltas=True) as thread:
        await told(thread, "I live in York.", said("home.city", "York", "I live in York"))
        await told(thread, "I drive a Golf.", said("car", "Golf", "I drive a Golf"))
        await thread.correct("set", "home.city", "Leeds", by="Ann", why="a slip of the tongue")
        assert "home.city (corrected): Leeds" in block(await thread.context("Where?"))
        await thread.forget_entry("home.city", by="Ann")
        context = await thread.context("Where?")
        assert "home.city" not in sent(context)
        assert "York" not in sent(context)
        assert "car: Golf" in block(context)
        with pytest.raises(NotFound):
            await thread.forget_entry("home.city")
