"""A database that cannot be used is told with what to do, and never with a password."""

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from lumina.memory.errors import StoreError, UsageError
from lumina.stores.opening import open_store

SECRET = "hunter2-secret"


@pytest.mark.parametrize(
    "where",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/db",
        f"postgres://me:{SECRET}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=me&password={SECRET}",
        f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/db?connect_timeout=2",
    ],
)
async def test_a_server_that_is_down_is_told_without_the_password(where: str) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as told:
        await open_store(where)
    assert "'db' on 127.0.0.1:1" in str(told.value)
    assert SECRET not in "".join(traceback.format_exception(told.value))


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (f"postgresql://me:{SECRET}@host", "names no database"),
        (f"postgresql://me:{SECRET}@host:port/db", "no PostgreSQL URL"),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/db?colour=red", "cannot be used"),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/db?sslmode=perhaps", "cannot be used"),
    ],
)
async def test_a_url_that_is_none_is_a_usage_error_that_does_not_repeat_it(where: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as told:
        await open_store(where)
    assert SECRET not in "".join(traceback.format_exception(told.value))


async def test_a_database_or_a_user_that_is_not_there_is_told(postgresql_server: str) -> None:
    with pytest.raises(StoreError, match="CREATE DATABASE"):
        await open_store(postgresql_server.replace("/postgres?", "/nowhere?"))
    stranger = postgresql_server.replace("postgres:@", "stranger:hunter2@")
    with pytest.raises(StoreError, match="refuses this user") as told:
        await open_store(stranger)
    assert "hunter2" not in str(told.value)


async def test_a_number_that_no_column_holds_is_the_callers(fresh_database: Callable[..., str]) -> None:
    from lumina.testing.store_examples import thread_of, told

    store = await open_store(fresh_database())
    await told(store, thread_of(), "hello")
    with pytest.raises(UsageError, match="too large"):
        await store.events(thread_of(), 2**70, 1)
    await store.close()


BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Block(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("psycopg", "psycopg_binary"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Block())
import asyncio
from lumina.memory.errors import UsageError
from lumina.stores.opening import open_store

try:
    asyncio.run(open_store("postgresql://127.0.0.1/db"))
except UsageError as problem:
    print(problem)
"""


def test_without_its_package_it_is_told_what_to_install() -> None:
    source = str(Path(__file__).parents[3] / "src")
    ran = subprocess.run(
        [sys.executable, "-c", BLOCKED], capture_output=True, text=True, env={"PYTHONPATH": source}, check=True
    )
    assert "pip install 'lumina-search[postgres]'" in ran.stdout
