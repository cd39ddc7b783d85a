"""A running turn whose process is gone ends at the next open; one that is alive is left alone."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lumina.agent.events import TurnFinished, from_json
from lumina.memory.turns import TurnPage
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import asked, ended, thread_of, told

HERE = thread_of()

CHILD = """
import asyncio, sys
from pathlib import Path
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import asked, ended, thread_of, told

async def main():
    store = await SQLiteStore.open(Path(sys.argv[1]))
    scope = thread_of()
    await store.open_thread(scope, deltas=True)
    first, _ = await store.begin_turn(scope, asked("0", "before"))
    await store.finish_turn(scope, ended(first, window_start=1, delta=True))
    turn, _ = await store.begin_turn(scope, asked("1", "What is a gibbon?"))
    await store.append_events(scope, turn.seq, 1, [
        '{"kind":"turn.started","seq":0}',
        '{"kind":"search.finished","outcome":"empty"}', '{"kind":"search.finished","outcome":"found"}',
        '{"kind":"text","text":"A gibbon is "}', '{"kind":"thinking","text":"hm"}',
        '{"kind":"text","text":"an ape \\\\ud83d\\\\ude00"}',
    ])
    print("begun", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lumina.db"


@pytest.fixture
def child(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is answering turn 2 of a thread."""
    source = str(Path(__file__).parents[3] / "src")
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": source},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "begun\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


async def test_a_turn_of_a_killed_process_ends_as_partial_with_the_text_of_its_log(
    child: subprocess.Popen[str], path: Path
) -> None:
    child.send_signal(signal.SIGKILL)
    child.wait()
    store = await SQLiteStore.open(path)
    info = await store.open_thread(HERE, deltas=False)
    assert (info.running, info.turns, info.deltas) == (0, 2, True)
    turn = (await store.recent_turns(HERE, limit=9)).turns[-1]
    assert (turn.status, turn.reason, turn.answer) == ("partial", "interrupted", "A gibbon is an ape 😀")
    assert [job.seq for job in await store.delta_jobs(HERE, "waiting")] == [1, 2]
    shown = (await store.page(HERE))[-1]
    assert isinstance(shown, TurnPage)
    assert shown.searched == "found"
    log = await store.events(HERE, 2, 1)
    assert [number for number, _ in log] == list(range(1, 8))
    assert sum(json.loads(body)["kind"] == "turn.finished" for _, body in log) == 1
    last = from_json(log[-1][1])
    assert isinstance(last, TurnFinished)
    assert (last.turn, last.thread, last.status, last.reason, last.searched) == (
        2, "main", "partial", "interrupted", "found",
    )  # fmt: skip
    assert json.loads((await store.events(HERE, 0, 0))[-1][1])["kind"] == "turn.finished"
    ids = (await store.matches(HERE, ["ap", "gibbon"], before=9, cap=9)).ids
    assert len(ids["gibbon"]) == 2, "what was asked and said can be recalled"
    assert list(path.with_name("lumina.db.runs").iterdir()) == [], "the lock file of the dead process is gone"

    again = await SQLiteStore.open(path)
    await again.open_thread(HERE, deltas=False)
    assert await again.events(HERE, 2, 1) == log, "opening again ends nothing twice"
    assert (await told(again, HERE, "next")).seq == 3
    await again.close()
    await store.close()
    assert not path.with_name("lumina.db.runs").exists()


async def test_a_turn_of_a_living_process_is_left_alone(child: subprocess.Popen[str], path: Path) -> None:
    store = await SQLiteStore.open(path)
    for _ in range(3):
        assert (await store.open_thread(HERE, deltas=False)).running == 2
    assert len((await store.recent_turns(HERE, limit=9)).turns) == 1
    assert len(await store.events(HERE, 2, 1)) == 6
    await store.close()


async def test_a_turn_of_a_store_that_was_closed_is_ended_by_the_next(path: Path) -> None:
    first = await SQLiteStore.open(path)
    await first.open_thread(HERE, deltas=False)
    await first.begin_turn(HERE, asked("1"))
    second = await SQLiteStore.open(path)
    assert (await second.open_thread(HERE, deltas=False)).running == 1
    await first.close()
    assert (await second.open_thread(HERE, deltas=False)).running == 0
    (turn,) = (await second.recent_turns(HERE, limit=1)).turns
    assert (turn.status, turn.answer, turn.delta) == ("partial", "", "none")
    await second.close()


async def test_the_lock_is_taken_by_the_first_turn_that_begins_and_not_before(path: Path) -> None:
    store = await SQLiteStore.open(path)
    await store.open_thread(HERE, deltas=False)
    await store.record_turn(HERE, asked("0"), ended(), "{}")
    runs = path.with_name("lumina.db.runs")
    assert not runs.exists()
    await store.begin_turn(HERE, asked("1"))
    assert len(list(runs.iterdir())) == 1
    await store.close()
    assert not runs.exists()


async def test_stale_lock_files_are_swept(path: Path) -> None:
    runs = path.with_name("lumina.db.runs")
    runs.mkdir()
    for name in ("0" * 32, "f" * 32):
        (runs / name).touch()
    store = await SQLiteStore.open(path)
    await store.open_thread(HERE, deltas=False)
    await store.begin_turn(HERE, asked("1"))
    (left,) = runs.iterdir()
    assert left.name not in ("0" * 32, "f" * 32)
    await store.close()
