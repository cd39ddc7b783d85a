"""The public suite, on every store that Lumina ships."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psycopg
import pytest

from lumina.memory.store import Store
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store
from lumina.stores.postgresql import PostgreSQLStore
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.capabilities import ALL
from lumina.testing.document_suite import DocumentSuite
from lumina.testing.store_suite import StoreSuite
from lumina.testing.store_suite_vectors import VectorSuite


class Shared(StoreSuite, DocumentSuite):
    """A store that several processes can open. A class of it has a fixture `where`: the address of a new database."""

    capabilities = ALL

    @pytest.fixture
    async def store(self, where: str) -> AsyncIterator[Store]:
        store = await open_store(where)
        yield store
        await store.close()

    @pytest.fixture
    async def library(self, store: Store) -> Store:
        return store

    @pytest.fixture
    async def another(self, where: str) -> AsyncIterator[Callable[[], Awaitable[Store]]]:
        opened: list[Store] = []

        async def another() -> Store:
            opened.append(await open_store(where))
            return opened[-1]

        yield another
        for store in opened:
            await store.close()


class TestInMemoryStore(StoreSuite, DocumentSuite):
    capabilities = ALL - {"several processes"}

    @pytest.fixture
    async def store(self) -> InMemoryStore:
        return InMemoryStore()

    @pytest.fixture
    async def library(self, store: InMemoryStore) -> InMemoryStore:
        return store


class TestSQLiteStore(Shared):
    @pytest.fixture
    def where(self, tmp_path: Path) -> str:
        return str(tmp_path / "lumina.db")

    @pytest.fixture
    def cut_off(self, store: SQLiteStore, where: str) -> Callable[[], Awaitable[None]]:
        async def cut_off() -> None:
            (lock,) = await asyncio.to_thread(lambda: list(Path(f"{where}.runs").iterdir()))
            lock.unlink()

        return cut_off


class TestPostgreSQLStore(Shared):
    @pytest.fixture
    def where(self, postgresql_url: str) -> str:
        return postgresql_url

    @pytest.fixture
    def cut_off(self, store: PostgreSQLStore, where: str) -> Callable[[], Awaitable[None]]:
        async def cut_off() -> None:
            with psycopg.connect(where) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                    "(SELECT oid FROM pg_database WHERE datname = current_database())"
                )

        return cut_off


class TestPostgreSQLStoreWithoutPgvector(VectorSuite):
    """The same column of bytes as on SQLite, where the extension cannot be had."""

    capabilities = frozenset({"vectors"})

    @pytest.fixture
    async def store(self, plain_postgresql_url: str) -> AsyncIterator[Store]:
        store = await open_store(plain_postgresql_url)
        yield store
        await store.close()


def test_our_stores_can_do_all_but_what_has_no_meaning_for_them() -> None:
    """DEMAND Memory 9: one suite for every store, and none may leave out what is about scopes."""
    absent = {one.__name__: ALL - one.capabilities for one in (TestInMemoryStore, TestSQLiteStore, TestPostgreSQLStore)}
    assert absent == {
        "TestInMemoryStore": {"several processes"}, "TestSQLiteStore": set(), "TestPostgreSQLStore": set(),
    }  # fmt: skip
