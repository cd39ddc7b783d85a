"""Promise 2: clean before cut, whole turns only, tool calls and their results never apart.

The two forms in which the order matters are both here: cleaning that empties or drops a message, and a cut that falls
inside one. Elsewhere either order would do, so nothing else would notice.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lumina import open_thread
from lumina.memory.budget import ScriptCounter
from lumina.memory.errors import DoesNotFit
from lumina.memory.turns import Message, ToolCall
from lumina.memory.visible_text import clean_answer, shorten

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


@given(st.text(max_size=400), st.integers(1, 60))
def test_cleaning_first_makes_any_cut_clean(text: str, limit: int) -> None:
    cut = shorten(clean_answer(text), count, limit=limit)
    assert clean_answer(cut) == cut or clean_answer(text).startswith("<think>")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    calls=st.lists(st.integers(0, 3), min_size=1, max_size=8), odd=st.integers(-1, 8),
    oddity=st.sampled_from(["missing", "alone", "twice", "before"]), budget=st.integers(30, 700),
)  # fmt: skip
@example(calls=[2], odd=0, oddity="missing", budget=700)
@example(calls=[2], odd=0, oddity="alone", budget=700)
@example(calls=[2], odd=0, oddity="twice", budget=700)
@example(calls=[2], odd=0, oddity="before", budget=700)
async def test_calls_and_results_are_sent_whole_or_not_at_all(
    calls: list[int], odd: int, oddity: str, budget: int
) -> None:
    """Parallel calls, a result that is missing, alone, there twice or before its call, any budget: the ids of calls and
    results in what is sent are the same, and in order."""
    async with await open_thread(None) as thread:
        for turn, many in enumerate(calls):
            ids = [f"c{turn}-{n}" for n in range(many)]
            asked = [Message(role="assistant", content="", tool_calls=tuple(
                ToolCall(id=each, name="find", arguments="{}") for each in ids))] if ids else []  # fmt: skip
            results = [Message(role="tool", content="found it", tool_call_id=each) for each in ids]
            rows = [*asked, *results]
            if turn == odd and results:
                rows = {
                    "missing": [*asked, *results[:-1]],
                    "alone": [*asked, *results, Message(role="tool", content="found it", tool_call_id="nobody's")],
                    "twice": [*asked, *results, results[-1]],
                    "before": [*results, *asked],
                }[oddity]
            await thread.record(await thread.context(f"Q{turn}?"), f"A{turn}.", messages=rows)
        try:
            messages = (await thread.context("Last?", budget=budget)).messages
        except DoesNotFit:
            return
    asked_ids = [call.id for message in messages for call in message.tool_calls]
    answered = [message.tool_call_id for message in messages if message.role == "tool"]
    assert asked_ids == answered
    called: set[str] = set()
    for message in messages:
        called |= {call.id for call in message.tool_calls}
        assert message.role != "tool" or message.tool_call_id in called
    roles = [message.role for message in messages if message.role != "tool" and not message.tool_calls]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
