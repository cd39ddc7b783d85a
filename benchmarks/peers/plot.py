"""Draws what `run.py` measured: tokens per turn, and how many asked facts were right, turn by turn.

    python benchmarks/peers/plot.py .peers/script-1000.jsonl PLOT.svg NAME=SENT.jsonl...

Each SENT is what one system sent on the script. A fact is right in a turn when its current value stands in what was
sent and no old one stands there unmarked. Means over 50 turns (tokens) and over the 100 turns before (facts). Needs
matplotlib; Lumina must be importable.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from lumina.evals.scoring import MARK, Played, load_played
from lumina.evals.script import ScriptedTurn, load_script

TOKENS_OVER, FACTS_OVER = 50, 100


def right(turn: ScriptedTurn, text: str) -> list[bool]:
    """For each asked key, whether the current value is there and no old one unmarked."""
    lines = text.splitlines()
    return [
        turn.facts[key] in text
        and not any(old in line and MARK not in line for old in turn.replaced.get(key, ()) for line in lines)
        for key in turn.asks
    ]


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def curves(script: list[ScriptedTurn], played: list[Played]) -> tuple[list[int], list[float], list[float]]:
    """Turns, mean tokens around each, and the share of right facts before each, in percent."""
    by_turn = {each.turn: each for each in played}
    asked = {turn.turn: right(turn, by_turn[turn.turn].text) for turn in script}
    turns = list(range(25, len(script) + 1, 25))
    tokens = [mean([by_turn[n].tokens for n in range(max(1, t - TOKENS_OVER), t + 1)]) for t in turns]
    facts = [100 * mean([ok for n in range(max(1, t - FACTS_OVER), t + 1) for ok in asked[n]]) for t in turns]
    return turns, tokens, facts


def main(script_path: str, target: str, *named: str) -> None:
    plt.rcParams["svg.hashsalt"] = "lumina"  # the same picture has the same bytes
    script = load_script(Path(script_path))
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 7), sharex=True)
    for each in named:
        name, _, path = each.partition("=")
        turns, tokens, facts = curves(script, load_played(Path(path)))
        width = 2.6 if name == "Lumina" else 1.4
        above.plot(turns, tokens, label=name, linewidth=width)
        below.plot(turns, facts, label=name, linewidth=width)
    above.set_ylabel("tokens sent per turn")
    above.set_yscale("log")
    above.legend(frameon=False, fontsize=8)
    below.set_ylabel("asked facts right, %")
    below.set_xlabel("turn")
    below.set_ylim(-4, 104)
    for axes in (above, below):
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
