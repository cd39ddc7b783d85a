"""Case R1, through the library: whatever is given is kept identically, or refused with the reason; never a traceback of
another kind."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lumina import open_thread
from lumina.memory.errors import DoesNotFit, UsageError
from lumina.memory.thread import Thread

KEPT = [
    "x " * 500_000,
    "👩‍👩‍👧‍👦 e\u0301 é مرحبا שלום \u202eabc\u2066",
    "汉字" * 5000,
    "a\r\nb\rc\u2028d\u2029e\x85f",
    "\ufeff\ufffe\U0010ffff\U000e0041\U000e007f",
    "\x01\x1b[31m\x7f",
    "",
    " \n\t",
]
REFUSED: list[Any] = ["a\x00b", "a\ud800b", 7, None, b"x", ["x"]]


@pytest.fixture(params=["in memory", "sqlite"])
async def thread(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Thread]:
    where = tmp_path / "a.db" if request.param == "sqlite" else None
    async with await open_thread(where, deltas=True) as thread:
        yield thread


@pytest.mark.parametrize("odd", KEPT, ids=range(len(KEPT)))
async def test_r1_odd_text_comes_back_identical_and_renders_as_it_was_sent(thread: Thread, odd: str) -> None:
    await thread.record(await thread.context(odd, budget=3_000_000, instructions=odd, model=odd), odd)
    turn = (await thread.store.turns(thread.scope, [(1, 1)]))[1, 1]
    assert (turn.question, turn.answer) == (odd, odd)
    assert [call.same for call in await thread.show(1)] == [True]
    assert (await thread.context("What did I say earlier?")).openai()


@pytest.mark.parametrize("odd", REFUSED, ids=range(len(REFUSED)))
async def test_r1_what_cannot_be_kept_is_refused_and_nothing_is_stored(thread: Thread, odd: Any) -> None:
    fine = await thread.context("Fine?")
    for field in ("question", "instructions", "model"):
        with pytest.raises(UsageError):
            await thread.record(await thread.context(**{"question": "Q?", field: odd}), "A.")
    for call in ({"id": odd, "function": {"name": "f", "arguments": "{}"}},
                 {"id": "1", "function": {"name": odd, "arguments": "{}"}},
                 {"id": "1", "function": {"name": "f", "arguments": odd}}):  # fmt: skip
        with pytest.raises(UsageError):
            await thread.record(fine, "A.", messages=[{"role": "assistant", "tool_calls": [call]}])
    with pytest.raises(UsageError):
        await thread.record(fine, odd)
    assert (await thread.store.thread_info(thread.scope)).turns == 0
    await thread.record(fine, "A.")
    with pytest.raises(UsageError):
        await thread.apply(odd)
    await thread.apply('{"ops": []}')


@pytest.mark.parametrize(
    "messages",
    [
        "text", b"text", 7, None, {"role": "tool"}, [7], ["text"], [None], [{}], [{"role": ["x"]}],
        [{"role": "wizard"}], [{"role": "user", "content": "x"}], [{"role": "assistant", "tool_calls": 5}],
        [{"role": "assistant", "tool_calls": "ab"}], [{"role": "tool", "content": "x", "tool_call_id": 7}],
        [{"role": "assistant", "content": [{"type": "image"}]}],
        [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}]}],
    ],
)  # fmt: skip
async def test_r1_messages_of_another_form_are_refused_with_the_reason(thread: Thread, messages: Any) -> None:
    with pytest.raises(UsageError):
        await thread.record(await thread.context("Q?"), "A.", messages=messages)
    assert (await thread.store.thread_info(thread.scope)).turns == 0


@pytest.mark.parametrize("arguments", ["[" * 100_000, "9" * 5000, "NaN", '{"a":1,"a":2}', "{broken", '"\\ud800"', ""])
async def test_r1_a_models_own_arguments_are_kept_as_they_were_and_render_in_every_form(
    thread: Thread, arguments: str
) -> None:
    call = {"id": "1", "function": {"name": "f", "arguments": arguments}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "content": "r", "tool_call_id": "1"}]  # fmt: skip
    await thread.record(await thread.context("Q?"), "A.", messages=messages)
    context = await thread.context("And?", budget=1_000_000)
    sent = [one.arguments for message in context.messages for one in message.tool_calls]
    assert sent == [arguments]
    json.dumps([context.openai(), context.anthropic()])


@pytest.mark.parametrize("budget", [0, -1])
async def test_r1_a_budget_for_nothing_fits_nothing(thread: Thread, budget: int) -> None:
    with pytest.raises(DoesNotFit):
        await thread.context("Q?", budget=budget)


@pytest.mark.parametrize("budget", ["8000", None, 1.5, float("nan"), True])
async def test_r1_a_budget_that_is_no_whole_number_is_refused(thread: Thread, budget: Any) -> None:
    with pytest.raises(UsageError, match="budget"):
        await thread.context("Q?", budget=budget)


@pytest.mark.parametrize(
    "zone",
    ["Mars/Base", "", "../../etc/passwd", "/etc/passwd", "UTC\x00", "\ud800", "Europe", ".", "a" * 5000, 7,
     None],
)  # fmt: skip
async def test_r1_a_zone_that_is_none_is_refused_with_the_reason(zone: Any) -> None:
    with pytest.raises(UsageError, match="time zone"):
        await open_thread(None, zone=zone)


async def test_c7_a_clock_that_goes_back_changes_days_and_never_the_order() -> None:
    days = (datetime(2026, 11, 30, 12, tzinfo=UTC) - timedelta(days=n) for n in range(100))
    async with await open_thread(None, deltas=True, clock=lambda: next(days)) as thread:
        for n in range(8):
            await thread.record(await thread.context(f"I live in City{n}."), "Noted.")
            op = {"op": "set", "key": "home.city", "value": f"City{n}", "quote": f"I live in City{n}"}
            await thread.apply(json.dumps({"ops": [op]}))
        context = await thread.context("Where?")
        assert [m.content for m in context.messages if m.role == "user"][:-1] == [
            f"I live in City{n}." for n in range(8)
        ]
        block = context.messages[-1].content
        assert "home.city: City7" in block
        assert "City6" not in block
        shown = [call for n in range(1, 9) for call in await thread.show(n)]
        assert [call.same for call in shown] == [True] * len(shown)
