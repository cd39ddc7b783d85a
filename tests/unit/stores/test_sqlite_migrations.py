"""Case M1: the schema is brought up to date all at once or not at all, by one of those who open the file."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from lumina.memory.errors import StoreError
from lumina.memory.thread import Thread
from lumina.stores import sqlite_connect
from lumina.stores.migrations import upgrade as upgrading
from lumina.stores.schema import REVISIONS, metadata
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import thread_of, told

SOURCE = str(Path(__file__).parents[3] / "src")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder that is not there" / "lumina.db"


def test_the_migrations_make_the_tables_of_the_schema(path: Path) -> None:
    sqlite_connect.prepare(path)
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()
    # The word index exists on SQLite only, and is no table of the schema.
    extra = [
        change for change in found if not (change[0] == "remove_table" and change[1].name.startswith("turn_words"))
    ]
    assert extra == []


def test_the_known_revisions_are_those_that_exist() -> None:
    files = sorted(Path(upgrading.__file__).parent.joinpath("versions").glob("m*.py"))
    assert [file.name[1:5] for file in files] == list(REVISIONS)


def test_a_file_is_safe_by_default(path: Path) -> None:
    sqlite_connect.prepare(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_every_connection_syncs_checks_keys_and_wipes(path: Path) -> None:
    store = await SQLiteStore.open(path)

    def pragmas(connection) -> list[int]:  # type: ignore[no-untyped-def]
        names = ("synchronous", "foreign_keys", "secure_delete", "busy_timeout")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert await store._read(pragmas) == [2, 1, 1, int(sqlite_connect.BUSY_SECONDS * 1000)]
    await store.close()


CHILD = """
import asyncio, sys
from pathlib import Path
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import thread_of, told

async def main():
    sys.stdin.readline()
    store = await SQLiteStore.open(Path(sys.argv[1]))
    await told(store, thread_of(thread=sys.argv[2]), "hello")
    print((await store.secret()).hex(), "alembic" in sys.modules)
    await store.close()

asyncio.run(main())
"""


def start(path: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip


def test_of_processes_that_open_a_new_file_at_once_one_migrates_and_the_others_wait(path: Path) -> None:
    children = [start(path, str(n)) for n in range(4)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    said = [child.communicate(timeout=120) for child in children]
    assert all(child.returncode == 0 for child in children), said
    assert len({out.split()[0] for out, _ in said}) == 1, "one database, one secret"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (4,)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISIONS[-1],)]


def test_a_current_file_is_opened_without_loading_alembic(path: Path) -> None:
    sqlite_connect.prepare(path)
    out, problems = start(path, "x").communicate("\n", timeout=120)
    assert out.split()[1] == "False", problems


async def test_a_migration_that_fails_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = upgrading.upgrade

    def breaks(connection: object) -> None:
        whole(connection)  # type: ignore[arg-type]
        raise StoreError("the power went out")

    monkeypatch.setattr(upgrading, "upgrade", breaks)
    with pytest.raises(StoreError, match="power"):
        await SQLiteStore.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    monkeypatch.undo()
    store = await SQLiteStore.open(path)
    await told(store, thread_of(), "works")
    await store.close()


async def test_a_newer_schema_is_refused_and_left_untouched(path: Path) -> None:
    store = await SQLiteStore.open(path)
    await told(store, thread_of(), "kept")
    await store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    before = content(path)
    with pytest.raises(StoreError, match="newer version") as refusal:
        await SQLiteStore.open(path)
    assert "0999" in str(refusal.value)
    assert content(path) == before


def content(path: Path) -> bytes:
    return path.read_bytes()


def at_revision(path: Path, revision: str) -> None:
    """A new file with the tables of an older version."""
    path.parent.mkdir(parents=True)
    engine = sqlite_connect.connect(path)
    with engine.execution_options(**sqlite_connect.WRITE).begin() as connection:
        upgrading.upgrade(connection, revision)
    engine.dispose()


OLD_ROWS = {
    "subjects": {"number": 2},
    "threads": {"thread": "main", "handle": 1, "title": "Old", "deltas": 0, "turns": 2, "sources": 0, "number": 2,
                "running": 0, "running_attempt": 0, "owner": "", "asked_at": "2026-11-30T12:00:00+00:00"},
}  # fmt: skip


def fill(path: Path) -> None:
    """Two turns as the first version has kept them."""
    turn = {
        "thread": "main", "attempt": 1, "status": "complete", "reason": "", "searched": "not needed",
        "asked_at": "2026-11-30T12:00:00+00:00", "zone": "UTC", "day": "2026-11-30", "superseded": 0,
        "window_start": 1, "forgotten": "", "cited": "[]", "followups": "[]", "usage": "{}", "exchanges": "[]",
        "answer": "It is.",
    }  # fmt: skip
    turns = [{**turn, "seq": n, "number": n, "client_id": f"c{n}", "question": f"Old question {n}?"} for n in (1, 2)]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE counters SET last = 1 WHERE name = 'thread'")
        for table, values in [*OLD_ROWS.items(), *(("turns", values) for values in turns)]:
            row = {"tenant": "local", "subject": "me", **values}
            places = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", list(row.values()))


@pytest.mark.parametrize("revision", REVISIONS[:-1])
async def test_m1_a_file_of_an_older_version_is_brought_up_to_date_with_all_that_it_holds(
    path: Path, revision: str
) -> None:
    at_revision(path, revision)
    fill(path)
    store = await SQLiteStore.open(path)
    thread = Thread(store=store, scope=thread_of(), info=await store.open_thread(thread_of(), deltas=False))
    context = await thread.context("And now?")
    sent = ["Old question 1?", "It is.", "Old question 2?", "It is.", "And now?"]
    assert [message.content for message in context.messages] == sent
    assert (await thread.record(context, "It is, still.")).seq == 3
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISIONS[-1],)]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


KILLED = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import event
from sqlalchemy.engine import Engine
from lumina.stores import sqlite_connect

left = int(sys.argv[2])


@event.listens_for(Engine, "before_cursor_execute")
def counted(connection, cursor, statement, *_):
    global left
    if statement.lstrip().split()[0] in ("CREATE", "ALTER", "INSERT", "UPDATE", "DROP"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


sqlite_connect.prepare(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("statements", [0, 1, 2])
async def test_m1_a_kill_between_two_statements_of_a_migration_leaves_the_older_version(
    path: Path, statements: int
) -> None:
    at_revision(path, REVISIONS[-2])
    fill(path)
    tables = tables_of(path)
    arguments = [sys.executable, "-c", KILLED, str(path), str(statements)]
    child = await asyncio.to_thread(subprocess.run, arguments, env={**os.environ, "PYTHONPATH": SOURCE}, timeout=300)
    assert child.returncode == -9
    assert tables_of(path) == tables
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISIONS[-2],)]
    store = await SQLiteStore.open(path)
    assert [turn.question for turn in (await store.recent_turns(thread_of(), limit=9)).turns][-1] == "Old question 2?"
    await store.close()


def tables_of(path: Path) -> list[tuple]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
