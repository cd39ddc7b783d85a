"""Case C5: many writers on one file, in one process and in several; nobody is ever told that it is locked."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import asked, ended, next_of, noted, thread_of, told

SOURCE = str(Path(__file__).parents[3] / "src")
COMMITS = 50


async def test_c5_twenty_writers_on_one_file(tmp_path: Path) -> None:
    stores = [await SQLiteStore.open(tmp_path / "lumina.db") for _ in range(4)]

    async def write(n: int) -> None:
        store, scope = stores[n % 4], thread_of(thread=str(n))
        for _ in range(3):
            turn = await told(store, scope, "read, then write", delta=True)
            await store.apply_delta(scope, noted(turn), next_of(await store.state(scope)), None)

    await asyncio.gather(*(write(n) for n in range(20)))
    for n in range(20):
        assert (await stores[0].state(thread_of(thread=str(n)))).version == 3
    numbers = [number for (number,) in _rows(tmp_path / "lumina.db", "SELECT number FROM turns ORDER BY number")]
    assert numbers == list(range(1, 61)), "each number of the subject was given out once"
    for store in stores:
        await store.close()


CHILD = """
import asyncio, sys
from pathlib import Path
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import asked, ended, thread_of

async def main():
    store = await SQLiteStore.open(Path(sys.argv[1]))
    name = sys.argv[2]
    await store.open_thread(thread_of(), deltas=False)
    sys.stdin.readline()
    for n in range(int(sys.argv[3])):
        await store.record_turn(thread_of(), asked(f"{name}-{n}", f"from {name}"), ended(), "{}")
    await store.close()

asyncio.run(main())
"""


def test_c5_four_processes_lose_no_turn(tmp_path: Path) -> None:
    """DEMAND Memory 27."""
    file = tmp_path / "lumina.db"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(file), str(n), str(COMMITS)], stdin=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE},
        )
        for n in range(4)
    ]  # fmt: skip
    said = []
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        said.append(child.communicate(timeout=300)[1])
    assert [child.returncode for child in children] == [0] * 4, said
    rows = _rows(file, "SELECT seq, number, client_id FROM turns ORDER BY seq")
    assert [(seq, number) for seq, number, _ in rows] == [(n, n) for n in range(1, 4 * COMMITS + 1)]
    assert {client for *_, client in rows} == {f"{name}-{n}" for name in range(4) for n in range(COMMITS)}
    for name in range(4):
        mine = [int(client.partition("-")[2]) for *_, client in rows if client.startswith(f"{name}-")]
        assert mine == sorted(mine), "each process finds its turns in the order it committed them"


async def test_a_cancelled_write_leaves_the_store_usable(tmp_path: Path) -> None:
    store = await SQLiteStore.open(tmp_path / "lumina.db")
    scope = thread_of()
    await store.open_thread(scope, deltas=False)
    for n in range(20):
        task = asyncio.ensure_future(store.record_turn(scope, asked(str(n)), ended(), "{}"))
        for _ in range(n):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    kept = len((await store.recent_turns(scope, limit=99)).turns)
    assert (await told(store, scope, "after")).seq == kept + 1
    assert (await store.thread_info(scope)).turns == kept + 1
    await store.close()


def _rows(file: Path, statement: str) -> list[tuple]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(statement).fetchall()
