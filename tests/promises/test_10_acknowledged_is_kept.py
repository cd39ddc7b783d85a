"""Promise 10: after kill -9 at any point, every acknowledged message is there once, in order, every delta once.

A real process answers a turn on SQLite and kills itself at a point of its work; another one opens the database.
"""

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lumina.adapters.documents.search import DocumentSearch
from lumina.agent.desk import Desk
from lumina.agent.events import from_json
from lumina.agent.search_agent import SearchAgent
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Snapshot
from lumina.stores.opening import open_store
from lumina.testing import ScriptedModel, ScriptedNotes

ANSWER = "The cache keeps up to 128 results [1].\n\nThen the least recently used result is dropped [1]."
NOTE = json.dumps({"ops": [{"op": "set", "key": "home.city", "value": "York", "quote": "I live in York"}]})
QUESTION = "How large is the cache? I live in York."
FOR_EVER = 120  # seconds; a turn that nobody takes up would be followed without end

CHILD = """
import asyncio, os, signal, sys

from lumina.agent.desk import Desk
from lumina.agent.ports import Found, Hit
from lumina.agent.search_agent import SearchAgent
from lumina.memory.scope import ThreadScope
from lumina.stores.opening import open_store
from lumina.testing import Call, Gate, Reply, ScriptedModel, ScriptedNotes

path, point, answer, note, question = sys.argv[1:]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Shelf:
    name = "shelf"

    async def search(self, scope, query, *, limit):
        if point == "in the search":
            die()
        text = "The cache keeps up to 128 results. When it is full, the least recently used result is dropped."
        place = dict(locator="doc:1", url="", title="cache", host="documents", depth="page")
        hit = Hit(**place, stored=text, start=0, end=len(text))
        return Found(provider="shelf", hits=(hit,))


def deadly(store, name, *, after):
    method = getattr(store, name)

    async def wrapped(*args, **kwargs):
        if not after:
            die()
        result = await method(*args, **kwargs)
        die()

    setattr(store, name, wrapped)


def taker(request):
    if point == "in the note":
        die()
    return note


async def main():
    store = await open_store(path)
    when, _, name = point.partition(" ")
    if when in ("before", "after") and hasattr(store, name):
        deadly(store, name, after=when == "after")
    reply = Reply(answer[:60], Gate(), answer[60:]) if point == "event text" else answer
    model = ScriptedModel([Call("web_search", {"query": "cache"}), reply], chunks="characters")
    agent = SearchAgent(Desk(store=store, model=model, search=Shelf(), notes=ScriptedNotes([taker])))
    run = await agent.ask(ThreadScope(tenant="local", subject="me", thread="main"), question, client_id="click")
    print("acknowledged", flush=True)
    async for event in run.events():
        if point == f"event {event.kind}":
            die()
    await run.notes(wait=60)
    die()


asyncio.run(main())
"""

POINTS = {
    "after begin_turn": "interrupted",
    "event turn.started": "interrupted",
    "in the search": "interrupted",
    "after register_source": "interrupted",
    "before add_tool_call": "interrupted",
    "event text": "interrupted",
    "before finish_turn": "interrupted",
    "after finish_turn": "",
    "in the note": "",
    "after answer_delta": "",
    "after apply_delta": "",
}
# What a kill leaves of the work of noting, where the turn itself had ended.
LEFT = {"after answer_delta": "answered", "after apply_delta": "applied"}


def run_child(path: str, point: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", CHILD, path, point, ANSWER, NOTE, QUESTION]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(("point", "reason"), POINTS.items())
async def test_d1_d2_d3_after_kill_9(tmp_path, point, reason):
    path = tmp_path / "lumina.db"
    child = run_child(str(path), point)
    assert child.returncode == -9, child.stderr
    acknowledged = "acknowledged" in child.stdout
    assert acknowledged == (point != "after begin_turn")
    with closing(sqlite3.connect(path)) as connection:
        jobs = [status for (status,) in connection.execute("SELECT status FROM delta_jobs")]
    assert jobs == ([] if reason else [LEFT.get(point, "waiting")])

    async with asyncio.timeout(FOR_EVER):
        await all_is_there_once(path, point, reason)


async def all_is_there_once(path: Path, point: str, reason: str) -> None:
    """What another process finds, and what it makes of it."""
    scope = ThreadScope(tenant="local", subject="me", thread="main")
    store = await open_store(path)
    asked: list[int] = []

    def taker(request):
        asked.append(request.seq)
        return NOTE if request.seq == 1 else "{}"

    notes = ScriptedNotes([taker] * 9)
    agent = SearchAgent(Desk(store=store, model=ScriptedModel(["Next."]), search=DocumentSearch(store), notes=notes))
    again = await agent.ask(scope, QUESTION, client_id="click")
    assert (again.seq, again.new) == (1, False)
    first = await again.ended()
    assert first.question == QUESTION
    assert (first.status, first.reason) == (("partial", "interrupted") if reason else ("complete", ""))
    assert ANSWER.startswith(first.answer)
    assert point != "event text" or len(first.answer) > 30
    events = [from_json(body) for _, body in await store.events(scope, 1, 1)]
    assert [event.kind for event in events].count("turn.finished") == 1
    assert "".join(event.text for event in events if event.kind == "text") == first.answer
    for record in await store.tool_calls(scope, 1, 1):
        assert json.loads(record.result)["outcome"]

    second = await (await agent.ask(scope, "And now?")).ended()
    assert (second.seq, second.answer) == (2, "Next.")
    await agent.noted()
    assert await store.delta_jobs(scope, "waiting", "answered") == []
    assert [page.seq for page in await store.page(scope)] == [1, 2]
    assert [(delta.seq, json.loads(delta.changes) != []) for delta in await store.deltas(scope)] == [
        (1, True),
        (2, False),
    ]
    entry = (await (await agent.thread(scope)).state()).get("home.city")
    assert entry is not None
    assert entry.value == "York"
    # A reply that was kept is applied and not asked for again, and a delta that comes twice changes nothing.
    assert sorted(asked) == ([2] if point in ("after answer_delta", "after apply_delta") else [1, 2])
    state, twice = await store.state(scope), (await store.deltas(scope))[0]
    assert not await store.apply_delta(scope, twice, Snapshot(version=state.version + 1, body="{}"), None)
    assert await store.state(scope) == state
    await agent.close()


CHILD_AGAIN = """
import asyncio, os, signal, sys
from pathlib import Path
from lumina.stores.sql import superseding, turns
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import asked, ended, thread_of, told

path, point = sys.argv[1:]


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


async def main():
    store = await SQLiteStore.open(Path(path))
    for n in range(3):
        await told(store, thread_of(), f"q{n}", delta=True)
    if point == "before the older turns make room":
        superseding.make_room = die
    elif point == "in between":
        turns.recall.index_passages = die
    await store.record_turn(thread_of(), asked("again", "edited"), ended(delta=True), "{}", instead_of=2)
    die()


asyncio.run(main())
"""


def run_again(path: str, point: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", CHILD_AGAIN, path, point], capture_output=True, timeout=120)


@pytest.mark.parametrize("point", ["before the older turns make room", "in between", "after"])
async def test_a_kill_while_a_turn_is_asked_again_leaves_all_of_it_or_nothing(tmp_path, point):
    path = str(tmp_path / "lumina.db")
    child = run_again(path, point)
    assert child.returncode == -9, child.stderr
    scope = ThreadScope(tenant="local", subject="me", thread="main")
    store = await open_store(path)
    live = [(page.seq, page.attempt) for page in await store.page(scope)]
    assert live == ([(1, 1), (2, 2)] if point == "after" else [(1, 1), (2, 1), (3, 1)])
    jobs = await store.delta_jobs(scope, "waiting")
    assert [(job.seq, job.attempt) for job in jobs] == live
    found = await store.matches(scope, ["it"], before=9, cap=9)
    recalled = {(one.seq, one.attempt) for one in await store.passages(scope, found.ids["it"])}
    assert recalled == set(live)
    await store.close()
