"""Promise 3: what leaves the window is already in the state, or is named.

On generated conversations, with deltas answered in time, late, never, or set aside, on both stores.
"""

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumina import open_thread
from lumina.memory.errors import UsageError
from lumina.memory.thread import Thread
from lumina.memory.turns import DeltaStatus, Turn
from lumina.memory.window import AFTER_DROP, HELD_AT_MOST, MOST, ranges
from lumina.testing import Call

EMPTY = '{"ops": []}'


def shown_seqs(context: object) -> list[int]:
    return [item.seq for item in context.receipt.items if item.kind == "turn" and item.included]  # pyright: ignore


def named(context: object) -> str:
    rows = (item.text for item in context.receipt.items if item.kind == "not noted" and item.included)
    return next(rows, "")  # pyright: ignore


@pytest.mark.parametrize("where", ["memory", "sqlite"])
async def test_the_window_drops_from_ten_to_six_and_keeps_its_start_with_the_turn(tmp_path: Path, where: str) -> None:
    async with await open_thread(tmp_path / "a.db" if where == "sqlite" else None) as thread:
        starts = []
        for n in range(1, 25):
            context = await thread.context(f"Question {n}?")
            starts.append(context.window_start)
            seqs = shown_seqs(context)
            assert seqs == list(range(context.window_start, n))
            turn = await thread.record(context, f"Answer {n}.")
            assert turn.window_start == context.window_start
    assert starts == [1] * 11 + [6] * 5 + [11] * 5 + [16] * 3


async def test_an_unsettled_turn_holds_the_window_and_is_named_once_it_has_left(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db", deltas=True) as thread:
        for n in range(1, 31):
            context = await thread.context(f"Question {n}?")
            if 4 < n <= 24:
                assert 4 in shown_seqs(context), n
            if n > 25:
                assert 4 not in shown_seqs(context)
                assert named(context) == "4"
                assert "Turn 4 was not noted." in context.messages[-1].content
            await thread.record(context, f"Answer {n}.")
            if n != 4:
                await thread.apply(EMPTY, seq=n)
        await thread.apply(EMPTY, seq=4)
        assert named(await thread.context("Now?")) == ""


async def test_a_delta_that_was_set_aside_lets_its_turn_go_and_is_named(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db", deltas=True) as thread:
        for n in range(1, 14):
            await thread.record(await thread.context(f"Question {n}?"), f"Answer {n}.")
            if n == 2:
                await give_up(thread, 2)
            else:
                await thread.apply(EMPTY, seq=n)
        context = await thread.context("Last?")
    assert shown_seqs(context)[0] > 2
    assert named(context) == "2"


async def test_a_thread_without_a_delta_step_names_nothing(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db") as thread:
        for n in range(1, 14):
            await thread.record(await thread.context(f"Question {n}?"), f"Answer {n}.")
        assert named(await thread.context("Last?")) == ""


async def give_up(thread: Thread, seq: int) -> None:
    for _ in range(3):
        with pytest.raises(UsageError):
            await thread.apply("no JSON at all", seq=seq)


@pytest.mark.parametrize("delta", get_args(DeltaStatus))
def test_settled_is_what_code_is_done_with_and_not_what_a_model_has_answered(delta: DeltaStatus) -> None:
    turn = Turn(seq=1, attempt=1, question="q", answer="a", status="complete", reason="", day="2026-11-30", delta=delta)
    assert turn.settled == (delta in {"none", "applied", "set aside"})


async def test_that_turns_are_not_shown_is_said_and_look_back_is_named_only_where_it_is_offered(tmp_path: Path) -> None:
    async with await open_thread(tmp_path / "a.db") as thread:
        for n in range(1, 12):
            await thread.record(await thread.context(f"Question {n}?"), f"Answer {n}.")
        told = {offered: (await thread.context("Last?", look_back=offered)).messages[-1].content for offered in (0, 1)}
    for text in told.values():
        assert "Turns 1-5 are not shown; what was noted from them stands above" in text
    assert "look_back" not in told[0]
    assert "look_back finds their words" in told[1]


def test_however_many_turns_were_not_noted_their_names_are_short() -> None:
    assert ranges([7, 12, 15, 16, 17]) == "7, 12 and 15-17"
    assert ranges(range(1, 10_000, 2)).startswith("earlier ones, 9985, ")
    assert len(ranges(range(1, 10_000, 2))) < 80


async def test_the_agents_window_is_the_librarys_and_a_turn_that_broke_off_early_leaves_it_where_it_was(
    make_agent, scope, store, monkeypatch
) -> None:
    agent = make_agent(["Fine."] * 24)
    keep = store.put_receipt
    for n in range(1, 25):

        async def full(*_: object) -> None:
            raise OSError("disk full")

        monkeypatch.setattr(store, "put_receipt", full if n == 13 else keep)
        run = await agent.ask(scope, f"Question {n}?")
        assert (await run.ended()).status == ("failed" if n == 13 else "complete")
        await run.notes(wait=60)
    rows = await store.turns(scope, [(n, 1) for n in range(1, 25)])
    assert [rows[n, 1].window_start for n in range(1, 25)] == [1] * 11 + [6] * 5 + [11] * 5 + [16] * 3


async def test_look_back_finds_a_turn_that_the_window_holds_and_the_budget_left_out(make_agent, scope) -> None:
    look = Call("look_back", {"query": "harbour code"})
    agent = make_agent(["Noted.", "Fine.", "Fine.", look, "Zyxwvut."])
    for question in ("My harbour code is Zyxwvut.", "Long? " * 600, "Long! " * 600):
        await (await agent.ask(scope, question)).ended()
    await (await agent.ask(scope, "And the first thing I told you?", budget=1900)).ended()
    (record,) = await agent.store.tool_calls(scope, 4, 1)
    assert "Zyxwvut" in record.result


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    plan=st.lists(st.sampled_from(["now", "never", "late", "aside"]), min_size=12, max_size=45),
    budget=st.sampled_from([400, 8000]),
)
async def test_every_turn_is_shown_noted_or_named(plan: list[str], budget: int) -> None:
    """The whole promise: no turn is gone without a trace, whatever happened to its delta."""
    async with await open_thread(None, deltas=True) as thread:
        applied: set[int] = set()
        late: list[int] = []
        for n, when in enumerate(plan, start=1):
            context = await thread.context(f"Question {n}?", budget=budget)
            seqs = shown_seqs(context)
            assert seqs == list(range(n - len(seqs), n))
            assert n - context.window_start <= HELD_AT_MOST
            if budget == 8000 and applied == set(range(1, n)):
                assert AFTER_DROP <= len(seqs) <= MOST or n <= AFTER_DROP + 1 or len(seqs) == n - 1
            traced = numbers(named(context))
            for seq in set(range(1, n)) - set(seqs) - applied:
                assert seq in traced or "earlier ones" in named(context), (n, seq)
            await thread.record(context, f"Answer {n}.")
            if when == "now":
                await thread.apply(EMPTY, seq=n)
                applied.add(n)
            elif when == "late":
                late.append(n)
            elif when == "aside":
                await give_up(thread, n)
            if n % 7 == 0:
                for seq in late:
                    await thread.apply(EMPTY, seq=seq)
                    applied.add(seq)
                late.clear()


def numbers(text: str) -> set[int]:
    """The numbers that "7, 12 and 15-18" names."""
    found: set[int] = set()
    for piece in text.replace(" and ", ", ").split(", "):
        first, _, last = piece.partition("-")
        if first.isdecimal():
            found |= set(range(int(first), int(last or first) + 1))
    return found
