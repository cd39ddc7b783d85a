"""The window and its watermark (promises 2 and 3)."""

from hypothesis import given
from hypothesis import strategies as st

from lumina.memory.turns import DeltaStatus, Turn
from lumina.memory.window import AFTER_DROP, HELD_AT_MOST, MOST, READ, choose_window, ranges


def turn(seq: int, start: int = 1, delta: DeltaStatus = "none", forgotten: str = "") -> Turn:
    return Turn(
        seq=seq, attempt=1, question=f"q{seq}", answer=f"a{seq}", status="complete", reason="", day="2026-11-30",
        delta=delta, window_start=start, forgotten=forgotten,
    )  # fmt: skip


def grow(deltas: list[DeltaStatus]) -> list[int]:
    """Window starts of turns 1, 2, ... when turn n ends with deltas[n-1]."""
    turns: list[Turn] = []
    starts: list[int] = []
    for seq, delta in enumerate(deltas, start=1):
        window = choose_window(turns[-READ:])
        starts.append(window.start)
        turns.append(turn(seq, window.start, delta))
    return starts


def test_it_grows_to_ten_and_drops_to_six_at_once() -> None:
    starts = grow(["none"] * 24)
    assert starts[:11] == [1] * 11  # turn 11 is sent with the ten before it
    assert starts[11:16] == [6, 6, 6, 6, 6]  # turn 12 with turns 6-11
    assert starts[16] == 11
    for seq, start in enumerate(starts, start=1):
        assert seq - start <= MOST


def test_its_start_stays_at_an_unsettled_turn_until_twenty_are_held() -> None:
    deltas: list[DeltaStatus] = ["applied"] * 30
    deltas[2] = "waiting"
    starts = grow(deltas)
    assert starts[11] == 3  # what is settled leaves, turn 3 does not
    assert max(seq - start for seq, start in enumerate(starts, start=1)) == HELD_AT_MOST
    moved = next(seq for seq, start in enumerate(starts, start=1) if start > 3)
    assert starts[moved - 1] == moved - AFTER_DROP


def test_a_turn_whose_delta_was_set_aside_is_settled() -> None:
    deltas: list[DeltaStatus] = ["applied"] * 12
    deltas[0] = "set aside"
    assert grow(deltas)[11] == 6


def test_a_forgotten_turn_keeps_its_place_and_is_not_sent() -> None:
    window = choose_window([turn(1), turn(2, forgotten="2026-11-30"), turn(3)])
    assert [each.seq for each in window.turns] == [1, 3]
    assert window.start == 1


@given(st.lists(st.sampled_from(["none", "applied", "waiting", "answered", "set aside"]), max_size=80))
def test_it_is_one_unbroken_run_that_never_goes_back(deltas: list[DeltaStatus]) -> None:
    starts = grow(deltas)
    assert starts == sorted(starts)
    for seq, start in enumerate(starts, start=1):
        assert 1 <= start <= seq
        assert seq - start <= HELD_AT_MOST
        left = [deltas[n - 1] for n in range(1, start)]
        held = seq - start
        # Nothing unsettled left while fewer than twenty were held.
        if any(delta in ("waiting", "answered") for delta in left[-1:]) and starts[seq - 2] != start:
            assert held == AFTER_DROP


def test_ranges_are_of_bounded_length() -> None:
    assert ranges([]) == ""
    assert ranges([7]) == "7"
    assert ranges([7, 12]) == "7 and 12"
    assert ranges([1, 2, 3, 12, 15, 16]) == "1-3, 12 and 15-16"
    assert ranges(list(range(1, 1000, 2))).startswith("earlier ones, ")
    assert len(ranges(list(range(1, 100000, 2)))) < 100
