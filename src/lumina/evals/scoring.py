"""How any memory is scored on a script: by what it sent to the model, turn by turn, and nothing else.

A system that played a script writes JSON Lines, one line a turn:

    {"turn": 57, "text_sent": "all that the model was sent, in order", "tokens": 1234}

`tokens` may be left out and is counted then. A value is present when its letters stand in the text. An old value does
not count as stale on a line that says it was replaced ("(replaced at turn 31)"): whoever reads that is told.
"""

import itertools
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lumina.evals.files import read_file, write_lines
from lumina.evals.measures import common_prefix
from lumina.evals.reports import Cell, percent
from lumina.evals.script import ScriptedTurn
from lumina.evals.tokens import token_counter
from lumina.memory.errors import UsageError

EARLY = 50  # the turn that later ones are compared with
SPAN = 30  # turns over which tokens are averaged, so that no single long answer decides
MARK = "(replaced at turn "


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What was sent in one turn."""

    turn: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """`asked` counts asked keys, `overwritten` those of them that had another value before. Shares in percent, None
    where nothing was asked. `prefix`: the median share of a prompt's bytes with which the next one begins too."""

    turns: int
    asked: int
    overwritten: int
    current: float | None
    stale: float | None
    marked: float | None
    tokens: float
    early: float
    late: float
    prefix: float | None

    @property
    def growth(self) -> float:
        return self.late / self.early if self.early else 0.0

    def row(self, name: str) -> tuple[Cell, ...]:
        return (name, self.turns, self.current, self.stale, self.marked, round(self.tokens), round(self.early),
                round(self.late), f"{self.growth:.2f}", self.prefix)  # fmt: skip


COLUMNS = (
    "system", "turns", "asked and there, %", "old one there, %", "old one there, marked, %", "tokens, mean",
    f"from turn {EARLY} on", "at the end", "end / early", "same prefix, %",
)  # fmt: skip


def score(script: Sequence[ScriptedTurn], played: Sequence[Played]) -> Score:
    """How `played` did on `script`. UsageError when a turn that asks something is missing."""
    by_turn = {each.turn: each for each in played}
    asked = overwritten = current = stale = marked = 0
    for turn in script:
        if turn.asks and turn.turn not in by_turn:
            raise UsageError(f"Turn {turn.turn} of the script is missing in what was played. Nothing was scored.")
        for key in turn.asks:
            text = by_turn[turn.turn].text
            old = turn.replaced.get(key, ())
            asked, overwritten = asked + 1, overwritten + bool(old)
            current += turn.facts[key] in text
            lines = [line for line in text.splitlines() if any(value in line for value in old)]
            stale += any(MARK not in line for line in lines)
            marked += bool(lines) and all(MARK in line for line in lines)
    ordered = [by_turn[at] for at in sorted(by_turn)]
    texts = [each.text.encode("utf-8") for each in ordered]
    shares = [100 * common_prefix(a, b) / len(a) for a, b in itertools.pairwise(texts) if a]
    return Score(
        turns=len(ordered), asked=asked, overwritten=overwritten, current=percent(current, asked),
        stale=percent(stale, overwritten), marked=percent(marked, overwritten),
        tokens=_mean(ordered),
        early=_mean([each for each in ordered if EARLY <= each.turn < EARLY + SPAN]), late=_mean(ordered[-SPAN:]),
        prefix=statistics.median(shares) if shares else None,
    )  # fmt: skip


def save_played(played: Sequence[Played], path: Path) -> None:
    """As JSON Lines that `load_played` reads. UsageError when the file cannot be written."""
    rows = ({"turn": each.turn, "text_sent": each.text, "tokens": each.tokens} for each in played)
    write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))


def load_played(path: Path) -> list[Played]:
    """UsageError, with the line, for what is not such a file."""
    file = read_file(path)
    if file.kind != "jsonl":
        raise UsageError(f"{path} is not JSON Lines (.jsonl) with turn, text_sent and tokens.")
    count = token_counter().count
    played: list[Played] = []
    for at, row in enumerate(file.content, 1):
        try:
            text = row["text_sent"]
            if not isinstance(text, str):
                raise TypeError("text_sent is not text")
            tokens = row.get("tokens")
            played.append(
                Played(turn=int(row["turn"]), text=text, tokens=int(count(text) if tokens is None else tokens))
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"{path}, line {at} cannot be scored: {error!r}.") from None
    return played


def _mean(played: Sequence[Played]) -> float:
    return statistics.fmean(each.tokens for each in played) if played else 0.0
