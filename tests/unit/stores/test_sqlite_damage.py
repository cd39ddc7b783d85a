"""Case D8: a damaged row never hides its thread, is counted, and stays as it was found."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lumina.memory.errors import StoreError
from lumina.memory.store import Snapshot, StoredReceipt
from lumina.memory.turns import TurnPage, Unreadable
from lumina.stores.opening import open_store
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.store_examples import asked, cited, ended, looked_up, next_of, noted, page_about, thread_of, told

HERE = thread_of()
TURNS = 12

# (columns, SQL expression): what another hand, a bad disk or a broken program may have left in a turn's row.
DAMAGE = [
    ("question", "x'fffe00ff80'"),
    ("answer", "CAST(x'c328a0' AS TEXT)"),
    ("answer", "CAST(x'eda080' AS TEXT)"),
    ("exchanges", '\'[{"role": "user"\''),
    ("exchanges", '\'[{"role": "wizard", "content": "", "tool_calls": [], "tool_call_id": ""}]\''),
    ("exchanges", "'[1]'"),
    ("exchanges", f"'{'[' * 100_000}'"),
    ("status", "'celebrated'"),
    ("status", "x'00'"),
    ("cited", "'{}'"),
    ("cited", "'[\"1\"]'"),
    ("cited", f"'[{'9' * 5000}]'"),
    ("cited", "'[true]'"),
    ("number", "9223372036854775807"),
    ("window_start", "'soon'"),
    ("window_start", "-5"),
    ("window_start", "1e300"),
    ("superseded", "'perhaps'"),
    ("day", "x'ff'"),
    ("seq", "9223372036854775807"),
]
PAGE_ONLY = [
    ("searched", "'sideways'"),
    ("usage", "'{\"input\": '"),
    ("followups", "'[1]'"),
    ("followups", "'nothing'"),
    ("asked_at", "x'80'"),
]


def by_hand(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        with connection:
            return connection.execute(statement).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lumina.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SQLiteStore]:
    store = await SQLiteStore.open(path)
    for n in range(1, TURNS + 1):
        await told(store, HERE, f"cat {n}", delta=True)
    yield store
    await store.close()


@pytest.mark.parametrize(("column", "value"), DAMAGE)
async def test_d8_the_newest_valid_turns_are_returned_past_damaged_ones(
    store: SQLiteStore, path: Path, column: str, value: str
) -> None:
    damaged = (12, 10) if column != "seq" else (12,)
    for seq in damaged:
        by_hand(path, f"UPDATE turns SET {column} = {value} WHERE seq = {seq}")
    before = by_hand(path, "SELECT * FROM turns ORDER BY rowid")

    recent = await store.recent_turns(HERE, limit=5)
    assert [turn.seq for turn in recent.turns] == [seq for seq in range(11, 0, -1) if seq not in damaged][:5][::-1]
    assert len(recent.unreadable) == len(damaged)
    if column != "seq":
        assert [one.seq for one in recent.unreadable] == [10, 12]
    assert all(column in one.reason for one in recent.unreadable)

    shown = await store.page(HERE)
    assert len(shown) == TURNS
    assert sum(isinstance(one, Unreadable) for one in shown) <= len(damaged)
    assert sum(isinstance(one, TurnPage) for one in shown) >= TURNS - len(damaged)

    assert len(await store.turns(HERE, [(seq, 1) for seq in range(1, TURNS + 1)])) == TURNS - len(damaged)
    assert (await store.thread_info(HERE)).turns == TURNS
    after = await told(store, HERE, "and life goes on")
    assert after.seq == TURNS + 1
    assert by_hand(path, "SELECT * FROM turns ORDER BY rowid")[: len(before)] == before


@pytest.mark.parametrize(("column", "value"), PAGE_ONLY)
async def test_d8_damage_to_what_only_a_page_shows_is_shown_there(
    store: SQLiteStore, path: Path, column: str, value: str
) -> None:
    by_hand(path, f"UPDATE turns SET {column} = {value} WHERE seq = 3")
    shown = await store.page(HERE)
    (damaged,) = [one for one in shown if isinstance(one, Unreadable)]
    assert damaged.seq == 3
    assert column in damaged.reason
    assert [one.seq for one in shown] == list(range(1, TURNS + 1))
    assert len((await store.recent_turns(HERE, limit=99)).turns) == TURNS


async def test_d8_a_thread_of_damaged_turns_only_is_still_a_thread(store: SQLiteStore, path: Path) -> None:
    by_hand(path, "UPDATE turns SET status = 'x', seq = CASE WHEN seq = 7 THEN 'seven' ELSE seq END")
    recent = await store.recent_turns(HERE, limit=3)
    assert recent.turns == ()
    assert sorted(one.seq for one in recent.unreadable) == [0, *(n for n in range(1, 13) if n != 7)]
    assert len(await store.threads(HERE.of_subject)) == 1
    assert (await told(store, HERE, "new")).seq == TURNS + 1


async def test_d8_a_passage_of_a_damaged_turn_is_not_recalled(store: SQLiteStore, path: Path) -> None:
    by_hand(path, "UPDATE turns SET question = CAST(x'ff' || CAST('cat 3' AS BLOB) AS TEXT) WHERE seq = 3")
    ids = (await store.matches(HERE, ["cat"], before=5, cap=9)).ids["cat"]
    assert {one.seq for one in await store.passages(HERE, ids)} == {1, 2, 4}


async def test_d8_a_damaged_citation_marks_its_turn(store: SQLiteStore, path: Path) -> None:
    for n in (1, 2):
        turn, _ = await store.begin_turn(HERE, asked(f"cited {n}"))
        await store.finish_turn(HERE, ended(turn, "It is [1].", citations=(cited(), cited(2))))
    for column, value in (("passage", "'[[1]]'"), ("score", "'much'"), ("digest", "x'ff'"), ("missing", "'[1]'")):
        kept = by_hand(path, f"SELECT {column} FROM citations WHERE seq = 13 AND place = 1")[0][0]
        by_hand(path, f"UPDATE citations SET {column} = {value} WHERE seq = 13 AND place = 1")
        damaged, whole = (await store.page(HERE))[-2:]
        assert isinstance(damaged, Unreadable)
        assert "citation 2" in damaged.reason
        assert isinstance(whole, TurnPage)
        with closing(sqlite3.connect(path)) as connection, connection:
            again = kept.decode() if isinstance(kept, bytes) else kept
            connection.execute(f"UPDATE citations SET {column} = ? WHERE seq = 13 AND place = 1", [again])


async def damaged_secret(path: Path) -> bytes:
    """As whoever opens the database next reads it: a store that has read it goes on."""
    store = await open_store(path)
    try:
        return await store.secret()
    finally:
        await store.close()


async def test_d8_other_damaged_rows_are_told_as_such(store: SQLiteStore, path: Path) -> None:
    turn = await told(store, HERE, "all of it", delta=True)
    seq = turn.seq
    await store.append_events(HERE, seq, 1, ['{"kind": "text"}'])
    await store.add_tool_call(HERE, seq, 1, looked_up())
    source = await store.register_source(HERE, seq, 1, page_about("x"))
    await store.put_receipt(HERE, StoredReceipt(seq=seq, attempt=1, call=1, purpose="answer", body="{}"))
    await store.apply_delta(HERE, noted(turn), next_of(Snapshot()), next_of(Snapshot()))
    reads = {
        "events": ("body", lambda: store.events(HERE, seq, 1)),
        "tool_calls": ("result", lambda: store.tool_calls(HERE, seq, 1)),
        "sources": ("title", lambda: store.sources(HERE)),
        "receipts": ("body", lambda: store.receipts(HERE, seq, 1)),
        "deltas": ("changes", lambda: store.deltas(HERE)),
        "texts": ("text", lambda: store.text(HERE.of_subject, source.digest)),
        "meta": ("value", lambda: damaged_secret(path)),
    }
    for table, (column, read) in reads.items():
        assert await read(), table
        by_hand(path, f"UPDATE {table} SET {column} = CAST(x'7b22ff' AS TEXT)")
        with pytest.raises(StoreError) as told_so:
            await read()
        assert "ead" in str(told_so.value) or "damaged" in str(told_so.value), table
        assert by_hand(path, f"SELECT {column} FROM {table}")[0][0] == b'{"\xff'


async def test_d8_truncated_json_in_an_event_is_a_store_error(store: SQLiteStore, path: Path) -> None:
    await store.append_events(HERE, 0, 0, ['{"kind": "title", "title": "x"}'])
    by_hand(path, "UPDATE events SET body = '{\"kind\": '")
    with pytest.raises(StoreError, match="not JSON"):
        await store.events(HERE, 0, 0)
