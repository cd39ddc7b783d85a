"""Comparing stored vectors: the same with numpy and without, and past rows that are damaged or of superseded turns."""

import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lumina.memory.embedding import dot, unit
from lumina.stores import nearness
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import thread_of, told

HERE = thread_of()
MADE = {id: unit([math.sin(id * n + n) for n in range(1, 9)]) for id in range(300)}
ASKED = unit([1.0, -2.0, 0.5, 0.0, 3.0, 1.0, -1.0, 2.0])


@pytest.fixture(params=["with numpy", "without"])
def numpy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.setattr(nearness, "_numpy", lambda: None)


def test_the_nearest_are_the_same_in_any_blocks(numpy) -> None:
    rows = [(id, nearness.pack(vector)) for id, vector in MADE.items()]
    best = sorted(MADE, key=lambda id: (-dot(MADE[id], ASKED), -id))[:7]
    for size in (1, 7, 299, 1000):
        blocks = [rows[at : at + size] for at in range(0, len(rows), size)]
        assert [id for id, _ in nearness.nearest(blocks, ASKED, 7)] == best
    assert nearness.nearest([], ASKED, 7) == nearness.nearest([[]], ASKED, 7) == []
    assert nearness.nearest([rows], ASKED, 0) == []
    assert len(nearness.nearest([rows], ASKED, 10_000)) == 300


def test_a_row_that_is_no_vector_is_passed_over(numpy) -> None:
    nan = b"\x00\x00\xc0\x7f" * 8
    rows = [(1, "text"), (2, None), (3, b""), (4, b"abc"), (5, nearness.pack([1.0])), (6, 7), (7, nan)]
    assert nearness.nearest([[*rows, (8, nearness.pack(ASKED))]], ASKED, 9) == [(8, pytest.approx(1.0))]
    assert nearness.unpack("text") is nearness.unpack(b"abc") is nearness.unpack(b"") is None


@pytest.fixture
async def store(tmp_path: Path):
    opened = await SQLiteStore.open(tmp_path / "a.db")
    yield opened
    await opened.close()


async def filled(store: SQLiteStore, turns: int = 6) -> list[int]:
    for n in range(turns):
        await told(store, HERE, f"question {n}", f"answer {n}")
    ids = [one.id for one in await store.without_vectors(HERE)]
    vectors = {id: unit([math.cos(at / 20), math.sin(at / 20)]) for at, id in enumerate(ids)}
    assert await store.put_vectors(HERE, "m/2", vectors) == 2 * turns
    return ids


def change(store: SQLiteStore, statement: str) -> None:
    with closing(sqlite3.connect(store._path)) as connection, connection:
        connection.execute(statement)


async def test_vectors_of_superseded_turns_are_not_found(store: SQLiteStore) -> None:
    ids = await filled(store)
    change(store, "UPDATE turns SET superseded = 1 WHERE seq <= 4 OR seq = 6")
    found = await store.nearest(HERE, unit([1.0, 0.0]), embedder="m/2", before=99, limit=2)
    assert [id for id, _ in found] == ids[8:10], "however many nearer ones are superseded"
    assert await store.vectors(HERE, ids, embedder="m/2") == {
        id: unit([math.cos(at / 20), math.sin(at / 20)]) for at, id in enumerate(ids) if at in (8, 9)
    }
    assert await store.embedders(HERE) == {"m/2": 2}
    assert (await store.vector_ends(HERE)).last_id == ids[9]
    assert await store.without_vectors(HERE, embedder="other") == await store.passages(HERE, ids[8:10])
    assert await store.put_vectors(HERE, "other", {ids[0]: unit([1.0, 0.0])}) == 0


async def test_a_damaged_vector_is_as_if_it_were_not_there(store: SQLiteStore) -> None:
    ids = await filled(store)
    for at, damage in enumerate(("'text'", "x'00'", "12345678901", "x''")):
        change(store, f"UPDATE vectors SET vector = {damage} WHERE id = {ids[at]}")
    found = await store.nearest(HERE, unit([1.0, 0.0]), embedder="m/2", before=99, limit=99)
    assert [id for id, _ in found] == ids[4:]
    assert list(await store.vectors(HERE, ids, embedder="m/2")) == ids[4:]


async def test_what_is_compared_is_bounded_the_newest_first(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await filled(store)
    from lumina.stores.sql import vectors

    monkeypatch.setattr(vectors, "STREAM", vectors.STREAM.limit(3))
    found = await store.nearest(HERE, unit([1.0, 0.0]), embedder="m/2", before=99, limit=2)
    assert [id for id, _ in found] == ids[-3:-1]
