"""How many turns do several processes commit to one database, and is one of them lost? (CASES C5, DEMAND 27)

Each process records turns (question, answer, receipt, passages, word index) one after the other in a thread that all of
them share. Afterwards: no error was told, every turn is there once, seqs are without gaps, and each process finds its
own in the order it committed them. Beside it, in the same run, a twin on bare `sqlite3` with the same pragmas, which
inserts question and answer into one table and takes the next seq under `BEGIN IMMEDIATE`: what the file itself costs.

With `--url` the same is done in a PostgreSQL database, twice: all processes in one thread, and each in a thread of its
own. The database must hold no turns yet.

    python benchmarks/writers.py [--processes 4] [--commits 500] [--url postgresql://...]

The exit code is 1 when a turn was lost or an error was told.
"""

import argparse
import asyncio
import multiprocessing
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from lumina.memory.scope import SubjectScope
from lumina.memory.thread import Thread
from lumina.stores.opening import open_store

ME = SubjectScope(tenant="local", subject="me")
QUESTION = "What did we decide about the printer on the second floor?"
ANSWER = "It is to be replaced in May; until then the third floor's is shared. " * 8
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 30000")


def lumina(where: str, name: int, commits: int, start: Any, told: Any) -> None:
    """Records turns through the library, all in one thread."""
    _record(where, "main", name, commits, start, told)


def apart(where: str, name: int, commits: int, start: Any, told: Any) -> None:
    """The same, each process in a thread of its own."""
    _record(where, f"thread-{name}", name, commits, start, told)


def _record(where: str, thread_name: str, name: int, commits: int, start: Any, told: Any) -> None:
    async def record() -> list[float]:
        store = await open_store(where)
        scope = ME.thread(thread_name)
        thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=False))
        context = await thread.context(QUESTION)
        start.wait()
        times = []
        for n in range(commits):
            began = time.perf_counter()
            await thread.record(context, ANSWER, client_id=f"{name}-{n}")
            times.append(time.perf_counter() - began)
        await store.close()
        return times

    _tell(told, lambda: asyncio.run(record()))


def bare(where: str, name: int, commits: int, start: Any, told: Any) -> None:
    """The twin: one table, the next seq, two texts."""

    def record() -> list[float]:
        with closing(sqlite3.connect(where, isolation_level=None)) as connection:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            start.wait()
            times = []
            for n in range(commits):
                began = time.perf_counter()
                connection.execute("BEGIN IMMEDIATE")
                (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM turns").fetchone()
                connection.execute("INSERT INTO turns VALUES (?, ?, ?, ?)", (last + 1, f"{name}-{n}", QUESTION, ANSWER))
                connection.execute("COMMIT")
                times.append(time.perf_counter() - began)
            return times

    _tell(told, record)


def _tell(told: Any, work: Any) -> None:
    try:
        told.put(("", work()))
    except Exception as error:
        told.put((f"{type(error).__name__}: {error}", []))


def _turns(where: str) -> list[tuple[str, int, str]]:
    """(thread, seq, client id) of every turn, in order."""
    if "://" in where:
        import psycopg

        with psycopg.connect(where) as connection:
            return connection.execute("SELECT thread, seq, client_id FROM lumina.turns ORDER BY 1, 2").fetchall()
    with closing(sqlite3.connect(where)) as connection:
        named = [row[1] for row in connection.execute("PRAGMA table_info(turns)")]
        thread = "thread" if "thread" in named else "'main'"
        return connection.execute(f"SELECT {thread}, seq, client_id FROM turns ORDER BY 1, 2").fetchall()


def measure(work: Any, where: str, processes: int, commits: int) -> bool:
    spawn = multiprocessing.get_context("spawn")
    start, told = spawn.Barrier(processes + 1), spawn.Queue()
    children = [spawn.Process(target=work, args=(where, n, commits, start, told)) for n in range(processes)]
    for child in children:
        child.start()
    start.wait(timeout=120)
    began = time.perf_counter()
    answers = [told.get(timeout=1200) for _ in children]
    taken = time.perf_counter() - began
    for child in children:
        child.join()
    errors = [error for error, _ in answers if error]
    times = sorted(each for _, some in answers for each in some)
    shared = work is not apart
    rows = [row for row in _turns(where) if (row[0] == "main") == shared]
    each = list(range(1, (processes * commits if shared else commits) + 1))
    whole = [seq for _, seq, _ in rows] == each * (1 if shared else processes)
    in_order = all(
        [client for *_, client in rows if client.startswith(f"{name}-")] == [f"{name}-{n}" for n in range(commits)]
        for name in range(processes)
    )
    p95 = times[int(len(times) * 0.95)] * 1000 if times else float("nan")
    median = statistics.median(times) * 1000 if times else float("nan")
    print(
        f"{work.__name__:8} {processes} x {commits}: {len(rows)} turns in {taken:.1f} s ({len(rows) / taken:.0f}/s), "
        f"median {median:.1f} ms, p95 {p95:.1f} ms, errors {len(errors)}, "
        f"seqs {'without a gap' if whole else 'WITH GAPS'}, order {'kept' if in_order else 'LOST'}"
    )
    for error in errors:
        print("   ", error)
    return not errors and whole and in_order


def main() -> int:
    parser = argparse.ArgumentParser(description="Several processes, one database.")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--url", default="", help="a PostgreSQL database with no turns in it, beside the SQLite file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        twin = Path(folder) / "bare.db"
        with closing(sqlite3.connect(twin)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE turns (seq INTEGER PRIMARY KEY, client_id, question, answer)")
        fine = measure(bare, str(twin), chosen.processes, chosen.commits)
        fine &= measure(lumina, str(Path(folder) / "lumina.db"), chosen.processes, chosen.commits)
        for work in (lumina, apart) if chosen.url else ():
            print("PostgreSQL, one thread" if work is lumina else "PostgreSQL, a thread for each process")
            fine &= measure(work, chosen.url, chosen.processes, chosen.commits)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
