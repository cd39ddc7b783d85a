"""Cases C3, C4: many processes on one database; none loses a turn, and a turn of a killed one is ended by the next."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg

from lumina.stores.opening import open_store
from lumina.testing.store_examples import thread_of

SOURCE = str(Path(__file__).parents[3] / "src")
HERE = thread_of()
COMMITS = 25
CHILD = """
import asyncio, sys
from lumina.stores.opening import open_store
from lumina.testing.store_examples import asked, ended, thread_of

async def main():
    store = await open_store(sys.argv[1])
    name = sys.argv[2]
    await store.open_thread(thread_of(), deltas=False)
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(int(sys.argv[3])):
        await store.record_turn(thread_of(), asked(f"{name}-{n}", f"from {name}"), ended(), "{}")
    if name == "killed":
        await store.begin_turn(thread_of(), asked("last", "cat"))
        await store.append_events(thread_of(), 1, 1, ['{"kind": "text", "text": "So far"}'])
        print("begun", flush=True)
        sys.stdin.readline()
    await store.close()

asyncio.run(main())
"""


def start(url: str, name: str, commits: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, url, name, str(commits)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip


def test_c4_four_processes_lose_no_turn_and_leave_no_gap(postgresql_url: str) -> None:
    children = [start(postgresql_url, str(n), COMMITS) for n in range(4)]
    assert [child.stdout.readline() for child in children if child.stdout] == ["ready\n"] * 4
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    said = [child.communicate(timeout=300)[1] for child in children]
    assert [child.returncode for child in children] == [0] * 4, said
    with psycopg.connect(postgresql_url) as connection:
        rows = connection.execute("SELECT seq, number, client_id FROM lumina.turns ORDER BY seq").fetchall()
    assert [(seq, number) for seq, number, _ in rows] == [(n, n) for n in range(1, 4 * COMMITS + 1)]
    assert {client for *_, client in rows} == {f"{name}-{n}" for name in range(4) for n in range(COMMITS)}


async def test_a_turn_of_a_killed_process_is_ended_and_that_of_a_living_one_is_not(postgresql_url: str) -> None:
    child = start(postgresql_url, "killed", 0)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    assert [child.stdout.readline(), child.stdout.readline()] == ["ready\n", "begun\n"]
    store = await open_store(postgresql_url)
    assert (await store.open_thread(HERE, deltas=False)).running == 1
    child.send_signal(signal.SIGKILL)
    child.communicate()
    while (await store.open_thread(HERE, deltas=False)).running:
        pass  # the server notices the end of the connection in its own time
    (turn,) = (await store.recent_turns(HERE, limit=9)).turns
    assert (turn.status, turn.reason, turn.answer) == ("partial", "interrupted", "So far")
    await store.close()
