"""Promise 10: what was forgotten stays gone when others write meanwhile, or the process is killed (CASES D11)."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lumina.memory.errors import TurnConflict
from lumina.memory.forgotten import finish, forget_entry, forget_turn
from lumina.memory.state import State
from lumina.memory.turns import TurnEnd
from lumina.stores.sqlite import SQLiteStore
from lumina.testing import Call, ScriptedModel, ScriptedNotes
from support.forgetting import MAIN, bytes_of, fact, play, rows_of, thread_at


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    store = await SQLiteStore.open(tmp_path / "lumina.db")
    yield store
    await store.close()


# Races and kills

WRITER = """
import asyncio, sys
from pathlib import Path
from lumina.memory import noting
from lumina.memory.errors import LuminaError
from lumina.memory.scope import ThreadScope
from lumina.stores.sqlite import SQLiteStore

path, reply = sys.argv[1:]
scope = ThreadScope(tenant="local", subject="me", thread="main")

async def main():
    store = await SQLiteStore.open(Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    for seq in range(1, 13):
        try:
            await noting.ask(store, scope, seq=seq)
            await noting.take(store, scope, reply.replace("SEQ", str(seq)), seq=seq)
        except LuminaError as error:
            pass
    await store.close()

asyncio.run(main())
"""


async def test_d11_another_process_that_is_noting_brings_nothing_back(tmp_path: Path) -> None:
    path = tmp_path / "lumina.db"
    store = await SQLiteStore.open(path)
    thread = await thread_at(store, MAIN)
    for seq in range(1, 13):
        await play(thread, f"My note{seq} is zyx{seq}q.", "Ok.")
    op = {"op": "set", "key": "noteSEQ", "value": "zyxSEQq", "quote": "My noteSEQ is zyxSEQq"}
    reply = json.dumps({"ops": [op], "title": "zyxSEQq", "followups": ["zyxSEQq?"]})
    arguments = [sys.executable, "-c", WRITER, str(path), reply]
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe, stderr=pipe)
    assert child.stdin is not None
    assert child.stdout is not None
    await child.stdout.readline()
    child.stdin.write(b"\n")
    for seq in range(2, 13, 2):
        await forget_turn(store, MAIN, seq)
    _, errors = await child.communicate()
    assert child.returncode == 0, errors
    rows = rows_of(path)
    assert [seq for seq in range(2, 13, 2) if f"zyx{seq}q" in rows] == []
    assert [seq for seq in range(1, 13, 2) if f"zyx{seq}q" not in rows] == []
    assert await finish(store)
    await store.close()
    assert [seq for seq in range(2, 13, 2) if f"zyx{seq}q".encode() in bytes_of(tmp_path)] == []


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from sqlalchemy import event
from lumina.memory.forgotten import forget_turn
from lumina.memory.scope import ThreadScope
from lumina.stores.sqlite import SQLiteStore

path, limit = sys.argv[1], int(sys.argv[2])
count = 0

async def main():
    store = await SQLiteStore.open(Path(path))

    def counted(connection, cursor, statement, parameters, context, many):
        global count
        if statement.split()[0] in ("UPDATE", "DELETE", "INSERT"):
            count += 1
            if count > limit:
                os.kill(os.getpid(), signal.SIGKILL)

    event.listen(store._engine, "before_cursor_execute", counted)
    await forget_turn(store, ThreadScope(tenant="local", subject="me", thread="main"), 2)
    print(count)

asyncio.run(main())
"""


@pytest.mark.parametrize("limit", [0, 3, 9, 15, 999])
async def test_d11_a_kill_between_two_statements_leaves_all_or_nothing(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "lumina.db"
    store = await SQLiteStore.open(path)
    thread = await thread_at(store, MAIN)
    await play(thread, "Hello there.", "Hello.", ops=[])
    quote = "My city is Zyxwvutown"
    await play(
        thread, f"{quote}.", "Zyxanswer.", ops=[fact("home.city", "Zyxwvutown", quote, "subject")], extra="zyxextra"
    )
    await store.close()
    before = rows_of(path)
    arguments = [sys.executable, "-c", KILLED, str(path), str(limit)]
    child = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, text=True, timeout=120)
    if limit < 999:
        assert child.returncode == -9
        assert rows_of(path) == before
        store = await SQLiteStore.open(path)
        await forget_turn(store, MAIN, 2)
        await store.close()
    else:
        assert int(child.stdout) > 15, child.stderr
    assert "zyx" not in rows_of(path)
    assert b"zyx" not in bytes_of(tmp_path)


async def test_a_reader_that_holds_the_log_is_told_of_and_can_be_waited_out(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lumina.stores.sqlite_scrub.WAIT_SECONDS", 0.05)
    thread = await thread_at(store, MAIN)
    await play(thread, "My city is Zyxwvutown.", "Ok.", ops=[])
    with closing(sqlite3.connect(tmp_path / "lumina.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        done = await forget_turn(store, MAIN, 1)
        assert not done.bytes_gone
        assert reader.execute("SELECT question FROM turns").fetchone() == ("My city is Zyxwvutown.",)
    assert "zyx" not in rows_of(tmp_path / "lumina.db")
    assert await finish(store)
    assert b"zyx" not in bytes_of(tmp_path)


async def test_the_agent_forgets_what_it_looked_back_at_and_refused_to_search_for(make_agent, store, scope) -> None:
    """Copies in other turns: a look back's result, and a search that was refused because it carried a noted value."""
    quote = "My harbour city is Zyxwvutown"
    city = fact("home.city", "Zyxwvutown", quote, "subject")
    notes = ScriptedNotes([json.dumps({"ops": [city]}), *["{}"] * 30])
    model = ScriptedModel([
        "Ok.", *["Fine."] * 11, Call("look_back", {"query": "harbour city"}), "Found.",
        Call("web_search", {"query": "weather in Zyxwvutown"}), "No search.",
    ])  # fmt: skip
    agent = make_agent(model, notes=notes)
    questions = [f"{quote}.", *[f"Question {n}?" for n in range(11)], "Look back, please.", "What is the weather?"]
    for question in questions:
        run = await agent.ask(scope, question)
        await run.ended()
        await run.notes(wait=30)
    await agent.noted()
    calls = [record for seq in range(1, 15) for record in await store.tool_calls(scope, seq, 1)]
    assert "Zyxwvutown" in calls[0].result
    assert "remembered" in calls[1].result
    done = await forget_entry(store, scope, "home.city", about="subject")
    assert done.elsewhere == ()
    for seq in range(1, 15):
        told = [
            *await store.tool_calls(scope, seq, 1),
            *await store.events(scope, seq, 1),
            *await store.receipts(scope, seq, 1),
        ]
        assert "zyxwvu" not in repr(told).lower()
        for call in await (await agent.thread(scope)).show(seq):
            assert call.same is not False
    assert "zyxwvu" not in repr(await store.events(scope, 0, 0)).lower()


async def test_nothing_is_forgotten_while_it_is_being_answered(store: SQLiteStore) -> None:
    thread = await thread_at(store, MAIN)
    await play(thread, "My city is Zyxwvutown.", "Ok.", ops=[])
    turn, _ = await thread.begin("And now?")
    with pytest.raises(TurnConflict):
        await thread.forget_turn(1)
    await store.finish_turn(MAIN, TurnEnd(seq=turn.seq, attempt=1, answer="Now.", status="complete"))
    assert (await thread.forget_turn(1)).turns == 1
    assert State.from_json((await store.state(MAIN)).body).current() == ()
