"""Forgetting beside others who write to the same person's threads: it comes before or after each of their steps, whole.

A forget takes the person's threads and then the person, as every write to a thread does: it waits for them and they for
it, and the server never has to break a deadlock, which takes it a second each time.
"""

import asyncio
import json
from collections.abc import AsyncIterator

import psycopg
import pytest

from lumina.memory.delta import load_changes
from lumina.memory.errors import NotFound, TurnConflict
from lumina.memory.forgotten import forget_turn
from lumina.memory.noting import load_state
from lumina.memory.state import fold
from lumina.memory.store import Store, VersionConflict
from lumina.stores import postgresql
from lumina.stores.opening import open_store
from lumina.testing.store_examples import thread_of, told
from lumina.testing.store_suite_forget import apply, said, tell

MAIN, SIDE = thread_of(), thread_of(thread="side")
WAIT = 60
ROUNDS = 8


@pytest.fixture
async def stores(postgresql_url: str) -> AsyncIterator[tuple[Store, Store]]:
    one, other = await open_store(postgresql_url), await open_store(postgresql_url)
    yield one, other
    await one.close()
    await other.close()


def by_hand(url: str, statement: str) -> list[tuple]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()  # type: ignore[arg-type]


async def forget(store: Store, seq: int) -> None:
    """As a person does who is told that an answer is being written."""
    while True:
        try:
            await forget_turn(store, MAIN, seq)
            return
        except TurnConflict:
            continue


async def test_a_forget_beside_steps_of_the_same_person_breaks_none(
    stores: tuple[Store, Store], postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "scrub", lambda connection: True)  # has tests of its own, and takes its time
    one, other = stores
    await tell(one, MAIN, "city", "Zanzibar0", about="subject")

    async def writes(store: Store, scope, name: str) -> None:  # type: ignore[no-untyped-def]
        for n in range(ROUNDS):
            turn = await told(store, scope, f"My {name}{n} is value-{name}-{n}.", delta=True)
            change = said(turn, f"{name}{n}", f"value-{name}-{n}", thread=scope.thread)
            noted = False
            while not noted:
                try:
                    await apply(store, scope, turn, change)
                    noted = True
                except VersionConflict:
                    continue  # somebody else's step came first
                except NotFound:
                    noted = True  # it is forgotten by now

    async def forgets() -> None:
        for seq in range(1, ROUNDS):
            while (await one.thread_info(MAIN)).turns <= seq:
                continue
            await forget(one, seq)

    async with asyncio.timeout(WAIT):
        await asyncio.gather(writes(other, MAIN, "a"), writes(one, SIDE, "b"), forgets())
    pages = await one.page(MAIN)
    assert [page.seq for page in pages] == list(range(1, ROUNDS + 2))
    assert [bool(page.forgotten) for page in pages] == [True] * (ROUNDS - 1) + [False] * 2  # type: ignore[union-attr]
    assert [page.question for page in pages[-2:]] == [  # type: ignore[union-attr]
        f"My a{n} is value-a-{n}." for n in (ROUNDS - 2, ROUNDS - 1)
    ]
    assert len((await one.recent_turns(SIDE, limit=99)).turns) == ROUNDS
    for scope in (MAIN, SIDE):
        changes = [
            change
            for delta in await one.deltas(scope)
            for change in load_changes(delta.changes)
            if change.about == "thread"
        ]
        assert (await load_state(one, scope)).state.current() == fold([changes]).current()
    assert "value-a-0" not in json.dumps(by_hand(postgresql_url, "SELECT body FROM lumina.states"))
    assert by_hand(
        postgresql_url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    ) == [(0,)]  # fmt: skip
