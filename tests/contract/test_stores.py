"""The public suites, on both stores."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lumina.stores.in_memory import InMemoryStore
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.document_suite import DocumentSuite
from lumina.testing.store_suite import StoreSuite


class TestInMemoryStore(StoreSuite, DocumentSuite):
    @pytest.fixture
    async def store(self) -> InMemoryStore:
        return InMemoryStore()

    @pytest.fixture
    async def library(self, store: InMemoryStore) -> InMemoryStore:
        return store


class TestSQLiteStore(StoreSuite, DocumentSuite):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[SQLiteStore]:
        store = await SQLiteStore.open(tmp_path / "lumina.db")
        yield store
        await store.close()

    @pytest.fixture
    async def library(self, store: SQLiteStore) -> SQLiteStore:
        return store
