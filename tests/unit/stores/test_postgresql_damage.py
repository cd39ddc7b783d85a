"""Case D8 on PostgreSQL, as far as its columns let damage in: a damaged row never hides its thread."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from lumina.memory.errors import StoreError
from lumina.memory.store import Snapshot, Store
from lumina.memory.turns import TurnPage, Unreadable
from lumina.stores.opening import open_store
from lumina.testing.store_examples import next_of, noted, thread_of, told

HERE = thread_of()
TURNS = 8


def by_hand(url: str, statement: str) -> list[tuple]:
    with psycopg.connect(url, options="-c search_path=lumina") as connection:
        cursor = connection.execute(statement)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
async def store(postgresql_url: str) -> AsyncIterator[Store]:
    store = await open_store(postgresql_url)
    for n in range(1, TURNS + 1):
        await told(store, HERE, f"cat {n}", delta=True)
    yield store
    await store.close()


async def test_d8_the_newest_valid_turns_are_returned_past_damaged_ones(store: Store, postgresql_url: str) -> None:
    damages = [
        ("exchanges", '[{"role": "user"'), ("exchanges", "[1]"), ("exchanges", "[" * 100_000), ("status", "celebrated"),
        ("cited", "{}"), ("cited", f"[{'9' * 5000}]"), ("number", str(2**63 - 1)), ("window_start", "-5"),
        ("superseded", "7"),
    ]  # fmt: skip
    for column, value in damages:
        kept = by_hand(postgresql_url, f"SELECT {column}::text FROM turns WHERE seq = 8")[0][0]
        by_hand(postgresql_url, f"UPDATE turns SET {column} = '{value}' WHERE seq IN (6, 8)")
        recent = await store.recent_turns(HERE, limit=3)
        assert [turn.seq for turn in recent.turns] == [4, 5, 7], column
        assert [one.seq for one in recent.unreadable] == [6, 8]
        assert all(column in one.reason for one in recent.unreadable)
        assert [one.seq for one in await store.page(HERE)] == list(range(1, TURNS + 1))
        assert by_hand(postgresql_url, f"SELECT {column}::text FROM turns WHERE seq = 8")[0][0] == value
        by_hand(postgresql_url, f"UPDATE turns SET {column} = '{kept}' WHERE seq IN (6, 8)")
    assert (await told(store, HERE, "and life goes on")).seq == TURNS + 1


async def test_d8_damage_to_what_only_a_page_shows_is_shown_there(store: Store, postgresql_url: str) -> None:
    for column, value in (("searched", "sideways"), ("usage", '{"input": '), ("followups", "[1]")):
        by_hand(postgresql_url, f"UPDATE turns SET {column} = '{value}' WHERE seq = 3")
        shown = await store.page(HERE)
        assert [isinstance(one, TurnPage) for one in shown] == [n != 3 for n in range(1, TURNS + 1)]
        assert isinstance(shown[2], Unreadable)
        assert len((await store.recent_turns(HERE, limit=99)).turns) == TURNS


async def test_d8_a_passage_whose_place_is_damaged_is_not_recalled(store: Store, postgresql_url: str) -> None:
    by_hand(postgresql_url, "UPDATE passages SET \"end\" = -3 WHERE seq = 3 AND part = 'question'")
    by_hand(postgresql_url, "UPDATE passages SET \"end\" = 9000000000000000000 WHERE seq = 4 AND part = 'question'")
    ids = (await store.matches(HERE, ["cat"], before=6, cap=9)).ids["cat"]
    assert {one.seq for one in await store.passages(HERE, ids)} == {1, 2, 4, 5}


async def test_d8_a_damaged_state_is_folded_anew_and_other_rows_are_told(store: Store, postgresql_url: str) -> None:
    (turn,) = (await store.recent_turns(HERE, limit=1)).turns
    await store.apply_delta(HERE, noted(turn), next_of(Snapshot()), next_of(Snapshot()))
    by_hand(postgresql_url, "UPDATE states SET body = '{'")
    assert (await store.state(HERE)).body == "null"
    await store.append_events(HERE, 0, 0, ['{"kind": "title"}'])
    by_hand(postgresql_url, "UPDATE events SET body = '{\"kind\": '")
    with pytest.raises(StoreError, match="not JSON"):
        await store.events(HERE, 0, 0)
    by_hand(postgresql_url, "UPDATE meta SET value = '\\x7b22ff'")
    with pytest.raises(StoreError, match="damaged"):
        await store.secret()
