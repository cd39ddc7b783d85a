"""Promise 2: clean before cut, whole turns only, tool calls and their results never apart.

The two forms in which the order matters are both here: cleaning that empties or drops a message, and a cut that falls
inside one. Elsewhere either order would do, so nothing else would notice.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lumina import open_thread
from lumina.agent.ports import Found, Hit
from lumina.agent.tools import OPENED, PASSAGE
from lumina.memory.budget import ScriptCounter
from lumina.memory.errors import DoesNotFit
from lumina.memory.turns import Message, ToolCall
from lumina.memory.visible_text import clean, clean_answer, one_line, shorten
from lumina.testing import Call, Gate

count = ScriptCounter().count
TOKEN = "<|im_start|>system"


@pytest.mark.parametrize("offset", range(0, 40, 3))
async def test_a_cut_inside_a_message_never_leaves_half_of_what_cleaning_removes(tmp_path: Path, offset: int) -> None:
    """Whatever the place of the cut, no piece of a special token or of a reasoning block is left."""
    answer = "<think>" + "reason " * 400 + "</think>" + "word " * (200 + offset) + TOKEN + " word" * 400
    async with await open_thread(tmp_path / "a.db") as thread:
        await thread.record(await thread.context("How long?"), answer)
        for n in range(4):
            await thread.record(await thread.context(f"And {n}?"), "Yes.")
        sent = "\n".join(message.content for message in (await thread.context("Last?")).messages)
    assert "tokens left out)" in sent
    assert "reason" not in sent
    assert "<|" not in sent
    assert "think" not in sent


async def test_an_answer_that_cleaning_empties_takes_no_place_of_another(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db") as thread:
        for n in range(12):
            answer = "<think>nothing else</think>" if n == 8 else f"Answer {n}."
            await thread.record(await thread.context(f"Question {n}?"), answer)
        messages = (await thread.context("Last?")).messages
    answers = [message.content for message in messages if message.role == "assistant"]
    expected = [f"Answer {n}." for n in range(5, 12)]
    expected[3] = "(no answer was given)"
    assert answers == expected


def call(id: str) -> ToolCall:
    return ToolCall(id=id, name="find", arguments="{}")


def result(id: str) -> Message:
    return Message(role="tool", content="found it", tool_call_id=id)


async def test_reasoning_that_was_never_closed_is_no_answer(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db") as thread:
        await thread.record(await thread.context("How long?"), "<think>The user wants to know", status="partial")
        await thread.record(await thread.context("And now?"), " \n<think>The user insists")
        sent = [message.content for message in (await thread.context("Last?")).messages]
    assert sent == ["How long?", "(stopped here)", "And now?", "(no answer was given)", "Last?"]


async def test_a_question_is_shown_cleaned_in_its_own_turn_and_in_every_later_one(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db") as thread:
        for _ in range(3):
            context = await thread.context(f"What is {TOKEN}?")
            await thread.record(context, "A token.")
            asked = [message.content for message in context.messages if message.role == "user"]
            assert {text.rpartition("\n\n")[2] for text in asked} == {"What is <¦im_start¦>system?"}


async def test_what_does_not_fit_leaves_no_hole_in_the_run_of_turns(tmp_path: Path) -> None:
    """A long question in the middle does not fit: what is older than it stays out, too, however short it is."""
    async with await open_thread(tmp_path / "a.db") as thread:
        for n in range(1, 7):
            question = "Where? " * 300 if n == 3 else f"Question {n}?"
            await thread.record(await thread.context(question), f"Answer {n}.")
        context = await thread.context("Last?", budget=600)
    turns = {item.seq: item.included for item in context.receipt.items if item.kind == "turn"}
    assert turns == {1: False, 2: False, 3: False, 4: True, 5: True, 6: True}


async def test_of_the_last_two_turns_no_answer_is_shortened_and_older_ones_are(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db") as thread:
        for n in range(1, 6):
            await thread.record(await thread.context(f"Question {n}?"), f"Answer {n}. " + "It is long. " * 300)
        context = await thread.context("Last?", budget=20_000)
    forms = [item.form for item in context.receipt.items if item.kind == "turn"]
    assert forms == ["short", "short", "short", "whole", "whole"]


@pytest.mark.parametrize("offset", range(40))
def test_a_line_is_cleaned_before_it_is_cut(offset: int) -> None:
    line = one_line("w" * offset + " " + TOKEN + " and so on " * 9, 40)
    assert "<|" not in line
    assert len(line) <= 40


@pytest.mark.parametrize("offset", range(0, 16, 3))
async def test_a_page_is_cleaned_before_a_passage_of_it_is_cut(make_agent, scope, offset: int) -> None:
    """The token stands where a search's passage ends, and again where an opened source ends."""
    text = ("w" * (PASSAGE - 1 - offset) + TOKEN).ljust(OPENED - 1 - offset, "v") + TOKEN + "u" * OPENED

    class Shelf:
        name = "shelf"

        async def search(self, scope, query, *, limit):
            place = {"locator": "doc:1", "url": "", "host": "shelf.test", "depth": "page", "title": "Page"}
            return Found(provider="shelf", hits=(Hit(stored=text, start=0, end=len(text), **place),))

    agent = make_agent([Call("web_search", {"query": "w"}), Call("open_source", {"n": 1}), "Fine."], search=Shelf())
    await (await agent.ask(scope, "What is there?")).ended()
    told = [json.loads(record.result) for record in await agent.store.tool_calls(scope, 1, 1)]
    found, opened = told[0]["results"][0]["text"], told[1]["text"]
    assert len(found) > PASSAGE - 40
    assert OPENED - 40 < len(opened) <= OPENED  # a text without spaces is cut there
    assert found.rstrip("…") in clean(text)
    assert opened in clean(text)
    assert "<|" not in found + opened


async def test_calls_that_were_asked_for_together_go_back_together_each_with_its_result(make_agent, scope) -> None:
    """To the model in the same turn; and when the turn is stopped in the middle, no call is left without a result."""
    gate = Gate()
    calls = [Call("web_search", {"query": "cache"}), Call("web_search", {"query": "wait"}), Call("open_source", "{")]

    class Waiting:
        name = "waiting"

        async def search(self, scope, query, *, limit):
            from lumina.agent.ports import Empty

            if query == "wait":
                await gate.passed()
            return Empty(provider="waiting", reason="nothing")

    agent = make_agent([calls, "Fine.", calls, "Never said."], search=Waiting())
    gate.open()
    await (await agent.ask(scope, "First?")).ended()
    spoken = [role for role, _ in agent.desk.model.requests[1].spoken()]
    assert spoken == ["system", "user", "call", "call", "call", "tool", "tool", "tool"]

    gate = Gate()
    run = await agent.ask(scope, "Second?")
    await gate.reached.wait()
    run.stop()
    assert (await run.ended()).status == "partial"
    records = await agent.store.tool_calls(scope, 2, 1)
    assert [json.loads(record.result)["outcome"] for record in records] == ["empty", "failed", "failed"]


@given(st.text(max_size=400), st.integers(1, 60))
def test_cleaning_first_makes_any_cut_clean(text: str, limit: int) -> None:
    cut = shorten(clean_answer(text), count, limit=limit)
    assert clean_answer(cut) == cut or clean_answer(text).startswith("<think>")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    calls=st.lists(st.integers(0, 3), min_size=1, max_size=8), odd=st.integers(-1, 8),
    oddity=st.sampled_from(["missing", "alone", "twice", "before", "late", "one id"]), budget=st.integers(30, 700),
)  # fmt: skip
@example(calls=[2], odd=0, oddity="missing", budget=700)
@example(calls=[2], odd=0, oddity="alone", budget=700)
@example(calls=[2], odd=0, oddity="twice", budget=700)
@example(calls=[2], odd=0, oddity="before", budget=700)
@example(calls=[2], odd=0, oddity="late", budget=700)
@example(calls=[2], odd=0, oddity="one id", budget=700)
async def test_calls_and_results_are_sent_whole_or_not_at_all(
    calls: list[int], odd: int, oddity: str, budget: int
) -> None:
    """Parallel calls, a result that is missing, alone, there twice or before its call, any budget: the ids of calls and
    results in what is sent are the same, and in order."""
    async with await open_thread(None) as thread:
        for turn, many in enumerate(calls):
            ids = [f"c{turn}-{n}" for n in range(many)]
            asked = [Message(role="assistant", content="", tool_calls=tuple(map(call, ids)))] if ids else []
            results = [result(each) for each in ids]
            rows = [*asked, *results]
            if turn == odd and results:
                rows = {
                    "missing": [*asked, *results[:-1]],
                    "alone": [*asked, *results, result("nobody's")],
                    "twice": [*asked, *results, results[-1]],
                    "before": [*results, *asked],
                    "late": [*asked, *(replace(asked[0], tool_calls=(call("late"),)),), *results, result("late")],
                    "one id": [replace(asked[0], tool_calls=asked[0].tool_calls * 2), *results, *results],
                }[oddity]
            await thread.record(await thread.context(f"Q{turn}?"), f"A{turn}.", messages=rows)
        try:
            messages = (await thread.context("Last?", budget=budget)).messages
        except DoesNotFit:
            return
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert waiting == []
        waiting = [each.id for each in message.tool_calls]
        assert len(set(waiting)) == len(waiting)
    assert waiting == []
    roles = [message.role for message in messages if message.role != "tool" and not message.tool_calls]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
