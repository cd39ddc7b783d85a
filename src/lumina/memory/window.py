"""Which turns are sent word for word.

One unbroken run of turns that ends with the last one. It grows to ten; at the eleventh it drops to the last six at
once, so that the beginning of the prompt stays the same bytes for several turns. Its start does not move past a turn
whose delta has not been dealt with, until twenty turns are held: what leaves the window should already be in the
state (promise 3). The start is stored with each turn; nothing is decided anew when a turn is shown again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lumina.memory.turns import Turn

MOST = 10
AFTER_DROP = 6
HELD_AT_MOST = 20
READ = HELD_AT_MOST + 1  # how many recent turns a store is asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """`start` is the seq of the first turn (the next seq when there is none); `reason` says why it starts there."""

    start: int
    turns: tuple[Turn, ...]
    reason: str


def choose_window(recent: Sequence[Turn]) -> Window:
    """The window of the next turn, from the newest `READ` live turns, oldest first.

    Forgotten turns keep their place in the run and are left out of what is sent.
    """
    if not recent:
        return Window(start=1, turns=(), reason="the first turn")
    start = recent[-1].window_start
    held = [turn for turn in recent if turn.seq >= start]
    if len(held) <= MOST:
        return _window(held, "unchanged" if start > 1 else "all turns so far")
    drop = held[-AFTER_DROP:]
    unsettled = next((turn.seq for turn in held if not turn.settled), None)
    if unsettled is None or unsettled >= drop[0].seq:
        return _window(drop, f"more than {MOST} turns: dropped to the last {AFTER_DROP}")
    if len(held) > HELD_AT_MOST:
        return _window(drop, f"{HELD_AT_MOST} turns held: dropped to the last {AFTER_DROP} past an unsettled turn")
    pinned = [turn for turn in held if turn.seq >= unsettled]
    return _window(pinned, f"held back: turn {unsettled} is not settled")


def _window(turns: Sequence[Turn], reason: str) -> Window:
    return Window(start=turns[0].seq, turns=tuple(turn for turn in turns if not turn.forgotten), reason=reason)


def ranges(numbers: Sequence[int], most: int = 8) -> str:
    """Numbers as text of bounded length: "7, 12 and 15-18"; ranges older than the newest `most`: "earlier ones"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [f"{first}-{last}" if last > first else f"{first}" for first, last in runs[-most:]]
    if len(runs) > most:
        shown.insert(0, "earlier ones")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1] if shown else ""
