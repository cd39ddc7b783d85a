"""From a place to a store, or to what to do about it."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lumina.memory.errors import StoreError, UsageError
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store
from lumina.stores.sqlite import SQLiteStore
from lumina.stores.sqlite_connect import prepare
from lumina.testing.store_examples import thread_of, told

SOURCE = str(Path(__file__).parents[3] / "src")


@pytest.mark.parametrize("where", [None, ":memory:"])
async def test_no_place_is_memory(where: str | None) -> None:
    assert isinstance(await open_store(where), InMemoryStore)


async def test_a_path_or_a_url_is_a_file_in_a_folder_that_is_made(tmp_path: Path) -> None:
    file = tmp_path / "new 100% folder?" / "deep" / "a#b.db"
    for where in (file, str(file), f"sqlite:///{file}"):
        store = await open_store(where)
        assert isinstance(store, SQLiteStore)
        await told(store, thread_of(thread=str(type(where)) + str(where)[:9]), "hello")
        await store.close()
    again = await open_store(file)
    assert len(await again.threads(thread_of().of_subject)) == 3
    await again.close()
    assert [entry.name for entry in file.parent.iterdir()] == ["a#b.db"]


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("postgresql://host", "names no database"),
        ("mysql://host/db", "not a kind"),
        ("sqlite://", "not a kind|names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("", "path"),
        ("a\0b", "path"),
        (b"bytes.db", "path"),
    ],
)
async def test_a_place_that_is_none_is_a_usage_error(where: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        await open_store(where)


async def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear reader, this is not a database. " * 40)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="not a database"):
        await open_store(file)
    assert file.read_bytes() == before


async def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = file.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        await open_store(file)
    assert file.read_bytes() == before


async def test_a_folder_is_no_file_and_a_file_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Check that it is a file"):
        await open_store(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="Choose another place"):
        await open_store(tmp_path / "file" / "below.db")


WITHOUT_PERMISSION = """
import asyncio, os, sys
from lumina.memory.errors import StoreError
from lumina.stores.opening import open_store
from lumina.testing.store_examples import thread_of, told

async def use(where):
    store = await open_store(where)
    try:
        await told(store, thread_of(), "hello")
    finally:
        await store.close()

asyncio.run(use(sys.argv[1]))  # all modules are loaded now, wherever they are
if os.getuid() == 0:
    os.setuid(65534)
for where in sys.argv[2:]:
    try:
        asyncio.run(use(where))
    except StoreError as problem:
        print("told:", problem)
"""


def test_without_permission_the_message_says_what_to_do(tmp_path: Path) -> None:
    locked, readable = tmp_path / "locked", tmp_path / "readable"
    for folder in (locked, readable):
        folder.mkdir()
    for folder in (tmp_path, *(each for each in tmp_path.parents if each.name.startswith(("pytest-", "popen-")))):
        folder.chmod(0o755)  # pytest makes them for one user only
    kept = readable / "kept.db"
    prepare(kept)
    kept.chmod(0o444)
    for folder in (locked, readable):
        folder.chmod(0o555)
    places = [tmp_path / "fine.db", locked / "new.db", locked / "sub" / "new.db", kept]
    try:
        ran = subprocess.run(
            [sys.executable, "-c", WITHOUT_PERMISSION, *places], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": SOURCE},
        )  # fmt: skip
    finally:
        for folder in (locked, readable):
            folder.chmod(0o755)
    told_so = ran.stdout.splitlines()
    assert len(told_so) == 3, ran.stderr
    assert all(line.startswith("told:") for line in told_so)
    assert "may be written" in told_so[0]
    assert "cannot be made" in told_so[1]
    assert "writable" in told_so[2] or "may be written" in told_so[2]


BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Block(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pydantic_ai", "openai", "httpx", "httpx2", "typer", "rich", "lxml", "pytest"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Block())
import lumina.stores
light = [name for name in ("sqlalchemy", "alembic", "aiosqlite") if name in sys.modules]
import asyncio
from lumina.stores.opening import open_store
from lumina.testing.store_examples import thread_of, told

async def main():
    for where in (None, sys.argv[1]):
        store = await open_store(where)
        print(light, (await told(store, thread_of(), "hello")).answer)
        await store.close()

asyncio.run(main())
"""


def test_stores_need_the_base_only_and_are_light_to_import(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", BLOCKED, tmp_path / "a.db"], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    assert ran.stdout.splitlines() == ["[] It is.", "[] It is."], ran.stderr


FORGOTTEN = """
import asyncio, sys
from lumina.stores.opening import open_store
from lumina.testing.store_examples import thread_of, told

async def main():
    await told(await open_store(sys.argv[1]), thread_of(), "hello")
    print("done")

asyncio.run(main())
"""


def test_a_store_that_nobody_closed_does_not_keep_the_process(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORGOTTEN, tmp_path / "a.db"], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr
