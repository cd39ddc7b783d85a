"""What every peer shares: reads a script, writes what was sent, times a call.

Standard library only, because each peer runs in an environment of its own where Lumina is not installed. The format is
that of `lumina eval conservation --write-script`; what is written is scored by `lumina eval conservation --score`.
"""

import argparse
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

INSTRUCTIONS = "You help a household with its contracts and devices. Answer in one or two sentences."
BUDGET = 8000  # tokens, the same for everybody who takes one
LENGTHS = (100, 10_000)  # turns at which one context is timed
ROUNDS = 15


class Script:
    """The turns of a script. A perfect note taker knows `facts_after(turn)`."""

    def __init__(self, path: Path) -> None:
        self.turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def facts_after(self, turn: int) -> dict[str, str]:
        return self.turns[min(turn, len(self.turns) - 1)]["facts"]

    def noted(self, turn: int) -> list[str]:
        """What a perfect note taker writes down about one turn, as sentences of `key: value`."""
        before, after = self.turns[turn - 1]["facts"], self.facts_after(turn)
        return [f"{key}: {value}" for key, value in after.items() if before.get(key) != value]


class Sent:
    """Collects what a model was sent, a line a turn."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[str] = []

    def add(self, turn: int, text: str) -> None:
        self._rows.append(json.dumps({"turn": turn, "text_sent": text}, ensure_ascii=False))

    def save(self) -> None:
        self._path.write_text("".join(row + "\n" for row in self._rows), encoding="utf-8")


def arguments(peer: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=peer)
    parser.add_argument("--play", type=Path, metavar="SCRIPT", help="play this script")
    parser.add_argument("--sent", type=Path, metavar="FILE", help="where to write what was sent")
    parser.add_argument("--time", action="store_true", help="time one context at 100 and at 10,000 turns")
    given = parser.parse_args()
    if bool(given.play) != bool(given.sent) or not (given.play or given.time):
        parser.error("give --play SCRIPT --sent FILE, or --time")
    return given


def chatter(turn: int) -> tuple[str, str]:
    """A turn of the timed history: the same words for everybody, about 60 tokens."""
    return (
        f"Question {turn}: how do I reset router {turn % 37} after the update of day {turn % 91}?",
        f"Hold the button of router {turn % 37} for ten seconds, wait for the green light, then enter the code that "
        f"stands on the label under the case. It takes about {turn % 9 + 2} minutes.",
    )


async def timed(name: str, at: int, call: Callable[[], Awaitable[object]]) -> None:
    """Prints the median of ROUNDS calls as one JSON line."""
    await call()
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await call()
        took.append(time.perf_counter() - began)
    print(json.dumps({"peer": name, "turns": at, "ms": round(1000 * statistics.median(took), 2)}), flush=True)
