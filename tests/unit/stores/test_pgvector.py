"""Vectors in pgvector: PostgreSQL compares them, wherever the extension is."""

import random
from array import array
from collections.abc import AsyncIterator, Callable

import psycopg
import pytest

from lumina.memory.embedding import unit
from lumina.memory.errors import UsageError
from lumina.memory.forgotten import forget_turn
from lumina.memory.store import Store
from lumina.stores import nearness
from lumina.stores.opening import open_store
from lumina.stores.sql import pgvector
from lumina.testing.store_examples import asked, ended, thread_of, told

HERE = thread_of()
BY = "two/2"
EAST, NORTH = unit([1.0, 0.0]), unit([0.0, 1.0])
TYPE = (
    "SELECT typnamespace::regnamespace::text || '.' || typname FROM pg_type JOIN pg_attribute "
    "ON atttypid = pg_type.oid "
    "WHERE attrelid = 'lumina.vectors'::regclass AND attname = 'vector'"
)


@pytest.fixture
async def store(postgresql_url: str) -> AsyncIterator[Store]:
    store = await open_store(postgresql_url)
    yield store
    await store.close()


def by_hand(url: str, statement: str) -> list[tuple]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute(statement)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []


async def ids_of(store: Store) -> list[int]:
    return [one.id for one in await store.without_vectors(HERE, embedder="nobody", limit=10_000)]


async def test_the_database_compares_and_no_vector_is_fetched(
    store: Store, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await told(store, HERE, "a cat", "a dog")
    first, second = await ids_of(store)
    await store.put_vectors(HERE, BY, {first: EAST, second: NORTH})
    assert by_hand(postgresql_url, TYPE) == [("lumina.vector",)]
    monkeypatch.setattr(nearness, "nearest", None)
    assert await store.nearest(HERE, EAST, embedder=BY, before=9, limit=9) == [(first, 1.0), (second, 0.0)]


@pytest.mark.parametrize("schema", ["public", "Their extensions"])
async def test_an_extension_that_is_there_is_used_where_it_is(fresh_database: Callable[..., str], schema: str) -> None:
    url = fresh_database("")
    by_hand(url, f'CREATE SCHEMA IF NOT EXISTS "{schema}"; CREATE EXTENSION vector SCHEMA "{schema}"')
    store = await open_store(url)
    await told(store, HERE, "a cat", "a dog")
    first, second = await ids_of(store)
    await store.put_vectors(HERE, BY, {first: EAST, second: NORTH})
    assert await store.vectors(HERE, [first, second], embedder=BY) == {first: EAST, second: NORTH}
    assert await store.nearest(HERE, NORTH, embedder=BY, before=9, limit=1) == [(second, 1.0)]
    await store.close()
    by_hand(url, "ALTER EXTENSION vector SET SCHEMA lumina")  # what is moved is found again
    store = await open_store(url)
    assert await store.nearest(HERE, NORTH, embedder=BY, before=9, limit=1) == [(second, 1.0)]
    await store.close()


async def test_an_extension_that_this_user_may_not_use_leaves_bytes(fresh_database: Callable[..., str]) -> None:
    url = fresh_database("OWNER restricted")
    by_hand(url, "CREATE SCHEMA closed; CREATE EXTENSION vector SCHEMA closed")
    store = await open_store(url.replace("postgres:@", "restricted:@"))
    await told(store, HERE, "a cat", "a dog")
    first, _ = await ids_of(store)
    await store.put_vectors(HERE, BY, {first: EAST})
    assert await store.nearest(HERE, EAST, embedder=BY, before=9, limit=1) == [(first, 1.0)]
    assert by_hand(url, TYPE) == [("pg_catalog.bytea",)]
    await store.close()


async def test_bytes_become_vectors_of_the_extension_as_the_page_says(plain_postgresql_url: str) -> None:
    store = await open_store(plain_postgresql_url)
    await told(store, HERE, "a cat", "a dog")
    first, second = await ids_of(store)
    await store.put_vectors(HERE, BY, {first: EAST, second: NORTH})
    await store.close()
    by_hand(plain_postgresql_url, "CREATE EXTENSION vector SCHEMA lumina")
    by_hand(plain_postgresql_url, "TRUNCATE lumina.vectors")
    by_hand(plain_postgresql_url, "ALTER TABLE lumina.vectors ALTER COLUMN vector TYPE lumina.vector USING NULL")
    store = await open_store(plain_postgresql_url)
    assert await store.embedders(HERE) == {"": 2}
    await store.put_vectors(HERE, BY, {first: EAST, second: NORTH})
    assert await store.nearest(HERE, NORTH, embedder=BY, before=9, limit=1) == [(second, 1.0)]
    await store.close()


async def test_both_ways_find_the_same_in_the_same_order(store: Store, plain_postgresql_url: str) -> None:
    plain = await open_store(plain_postgresql_url)
    chance = random.Random(7)
    for some in (store, plain):
        for n in range(12):
            await told(some, HERE, f"question {n}", f"answer {n}")
    made = {id: unit([chance.gauss(0, 1) for _ in range(50)]) for id in await ids_of(store)}
    twin, *_ = made
    made[max(made)] = made[twin]  # two that are equally near to everything
    asked_for = [made[twin], *(unit([chance.gauss(0, 1) for _ in range(50)]) for _ in range(5))]
    found = []
    for some in (store, plain):
        await some.put_vectors(HERE, "random/50", made)
        found.append([await some.nearest(HERE, one, embedder="random/50", before=9, limit=30) for one in asked_for])
    for one, other in zip(*found, strict=True):
        assert [id for id, _ in one] == [id for id, _ in other]
        assert [cosine for _, cosine in one] == pytest.approx([cosine for _, cosine in other], abs=1e-6)
    await plain.close()


async def test_every_float32_comes_back_as_it_was(store: Store) -> None:
    await told(store, HERE, "a cat", "a dog")
    first, second = await ids_of(store)
    odd = array("f", [1.0, 1e-45, -1.17e-38, -0.0, 3.4e-20, 1 / 3e9])
    assert await store.put_vectors(HERE, BY, {first: odd, second: array("f", [-1.0])}) == 2
    found = await store.vectors(HERE, [first, second], embedder=BY)
    assert [one.tobytes() for one in found.values()] == [odd.tobytes(), array("f", [-1.0]).tobytes()]


async def test_what_cannot_be_compared_is_passed_over(store: Store) -> None:
    for n in range(3):
        await told(store, HERE, f"question {n}", f"answer {n}")
    ids = await ids_of(store)
    await store.put_vectors(HERE, BY, {ids[0]: EAST, ids[1]: unit([1.0, 0.0, 0.0]), ids[2]: NORTH})
    assert [id for id, _ in await store.nearest(HERE, EAST, embedder=BY, before=9, limit=9)] == [ids[0], ids[2]]
    for wrong in ([float("nan"), 1.0], [float("inf"), 0.0], [0.0, 0.0], []):
        assert await store.nearest(HERE, array("f", wrong), embedder=BY, before=9, limit=9) == []
    with pytest.raises(UsageError, match="at most 16000 dimensions"):
        await store.put_vectors(HERE, BY, {ids[0]: array("f", [1.0] + [0.0] * pgvector.MOST_DIMENSIONS)})


async def test_a_superseded_or_forgotten_turn_is_not_found(store: Store, postgresql_url: str) -> None:
    await told(store, HERE, "a cat", "a dog")
    await told(store, HERE, "a bird", "a fish")
    ids = await ids_of(store)
    await store.put_vectors(HERE, BY, dict.fromkeys(ids[:3], EAST) | {ids[3]: NORTH})
    again, _ = await store.begin_turn(HERE, asked("again", "a bird"), instead_of=2)
    await store.finish_turn(HERE, ended(again, "a whale"))
    assert [id for id, _ in await store.nearest(HERE, EAST, embedder=BY, before=9, limit=1)] == [ids[1]]
    await forget_turn(store, HERE, 2)
    await forget_turn(store, HERE, 1)
    assert await store.nearest(HERE, EAST, embedder=BY, before=9, limit=9) == []
    assert by_hand(postgresql_url, "SELECT count(*) FROM lumina.vectors") == [(0,)]
