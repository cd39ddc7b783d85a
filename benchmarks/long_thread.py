"""Does a context cost the same at turn 10,000 as at turn 100?

Writes one long conversation into a SQLite file, with deltas, facts that are overwritten and questions that point far
back, and measures the building of a context around several turns. Beside it, in the same run, a bare twin: reading the
last twenty questions and answers with the sqlite3 module and nothing else.

    python benchmarks/long_thread.py --turns 10000 [--json]
"""

import argparse
import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from lumina import open_thread

TOPICS = "harbour tariff meter invoice contract voltage battery heating solar refund cable router window garden".split()


def question(n: int) -> str:
    topic = TOPICS[n % len(TOPICS)]
    if n % 10 == 0:
        return f"What did you say earlier about the {topic} and case k{n // 2}?"
    return f"Case k{n}: it reads r{n} today, is that fine?"


def answer(n: int) -> str:
    return f"For case k{n} the {TOPICS[n % len(TOPICS)]} is within its limits. " + "It needs no visit. " * (n % 9)


def reply(n: int) -> str:
    value = f"r{n}"
    topic = TOPICS[n % len(TOPICS)]
    quote = f"it reads {value}"
    ops = [] if n % 10 == 0 else [{"op": "set", "key": f"reading.{topic}", "value": value, "quote": quote}]
    return json.dumps({"ops": ops, "title": "Cases" if n == 1 else ""})


def bare(path: Path) -> float:
    connection = sqlite3.connect(path)
    started = time.perf_counter()
    connection.execute("SELECT question, answer FROM turns ORDER BY seq DESC LIMIT 20").fetchall()
    seconds = time.perf_counter() - started
    connection.close()
    return seconds * 1000


async def measure(turns: int, around: int) -> list[dict[str, float]]:
    points = sorted({100, 1000, turns} & set(range(1, turns + 1)))
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.db"
        async with await open_thread(path, deltas=True) as thread:
            context = None
            for n in range(1, turns + 1):
                point = next((p for p in points if p - around < n <= p), 0)
                samples = rows[-1] if rows and rows[-1]["turn"] == point else None
                if point and samples is None:
                    samples = {"turn": point, "ms": [], "recall ms": [], "tokens": [], "bare ms": []}
                    rows.append(samples)  # pyright: ignore[reportArgumentType]
                started = time.perf_counter()
                if samples or context is None:
                    context = await thread.context(question(n), budget=8000, instructions="Answer briefly.")
                else:  # not measured here: recorded without building a context
                    context = replace(context, question=question(n), window_start=max(1, n - 6))
                milliseconds = (time.perf_counter() - started) * 1000
                if samples:
                    samples["recall ms" if n % 10 == 0 else "ms"].append(milliseconds)  # pyright: ignore
                    samples["tokens"].append(context.tokens)  # pyright: ignore
                    samples["bare ms"].append(bare(path))  # pyright: ignore
                await thread.record(context, answer(n))
                if point or n % 10 == 1 or n < 50:
                    await thread.apply(reply(n), seq=n)
                else:  # between the points most deltas are set aside, to write sooner
                    await thread.store.fail_delta(thread.scope, n, 1, "not asked", set_aside=True)
                if n % 500 == 0:
                    print(f"\r{n} of {turns} turns written", end="", file=sys.stderr)
        print("\r", end="", file=sys.stderr)
    return [{name: statistics.median(v) if isinstance(v, list) and v else v for name, v in row.items()} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # pyright: ignore[reportOptionalMemberAccess]
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--around", type=int, default=60, help="how many contexts are measured at each point")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = asyncio.run(measure(given.turns, given.around))
    if given.json:
        print(json.dumps(rows))
        return
    print("turn     context ms   of turn 100   pointing back ms   tokens   bare twin ms")
    for row in rows:
        cells = (row["turn"], row["ms"], row["ms"] / rows[0]["ms"], row["recall ms"], row["tokens"], row["bare ms"])
        print("{:6.0f} {:12.2f} {:12.2f}x {:18.2f} {:8.0f} {:14.2f}".format(*cells))


if __name__ == "__main__":
    main()
