"""Promise 3: what leaves the window is already in the state, or is named.

On generated conversations, with deltas answered in time, late, never, or set aside, on both stores.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumina import open_thread
from lumina.memory.errors import UsageError
from lumina.memory.window import AFTER_DROP, HELD_AT_MOST, MOST

EMPTY = '{"ops": []}'


def shown_seqs(context: object) -> list[int]:
    return [item.seq for item in context.receipt.items if item.kind == "turn" and item.included]  # pyright: ignore


def named(context: object) -> str:
    return next((item.text for item in context.receipt.items if item.kind == "not noted"), "")  # pyright: ignore


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
                for _ in range(3):
                    with pytest.raises(UsageError):
                        await thread.apply("no JSON at all", seq=2)
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


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    plan=st.lists(st.sampled_from(["now", "never", "late"]), min_size=12, max_size=45),
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
