"""Case R1, scale: what a turn costs does not grow with its thread. Counted in steps of SQLite's own machine and in
statements, never in seconds."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.thread import Thread
from lumina.memory.transfer import export_to, import_from
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.sqlite import SQLiteStore

ME = SubjectScope(tenant="local", subject="me")
SHORT, LONG = 60, 600
TOPICS = ("harbour", "tariff", "meter")
STEPS = 100  # of SQLite's machine, between two calls of the counter


async def thread_at(store: InMemoryStore | SQLiteStore, scope: ThreadScope) -> Thread:
    return Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True))


async def conversation(turns: int) -> bytes:
    """A thread of so many turns, each noted, a fact overwritten in every tenth, as a file."""
    store = InMemoryStore()
    thread = await thread_at(store, ME.thread(f"{turns}"))
    first = await thread.context("Hello?")
    for n in range(1, turns + 1):
        question = f"Case k{n}: it reads r{n} today, is the {TOPICS[n % 3]} fine?"
        ops = [{"op": "set", "key": f"reading.{TOPICS[n % 3]}", "value": f"r{n}", "quote": f"it reads r{n}"}]
        context = replace(first, question=question, window_start=max(1, n - 6))
        await thread.record(context, f"For case k{n} the {TOPICS[n % 3]} is within its limits.")
        await thread.apply({"ops": ops if n % 10 == 0 else []}, seq=n)
    file = io.BytesIO()
    await export_to(store, thread.scope, file.write)
    return file.getvalue()


class Work:
    """What the database does: statements, and hundreds of steps."""

    def __init__(self, store: SQLiteStore) -> None:
        self.statements = self.steps = 0
        event.listen(store._engine, "before_cursor_execute", self._counted)

    def _counted(self, connection, *_) -> None:  # type: ignore[no-untyped-def]
        self.statements += 1
        connection.connection.dbapi_connection.set_progress_handler(self._stepped, STEPS)

    def _stepped(self) -> int:
        self.steps += 1
        return 0

    @contextmanager
    def counted(self) -> Iterator[list[int]]:
        self.statements = self.steps = 0
        found: list[int] = []
        yield found
        found += [self.statements, self.steps]


@pytest.fixture(scope="module")
async def files() -> dict[int, bytes]:
    return {turns: await conversation(turns) for turns in (SHORT, LONG)}


async def test_r1_a_turn_of_a_long_thread_costs_what_one_of_a_short_thread_does(
    files: dict[int, bytes], tmp_path: Path
) -> None:
    """Building a context with recall, recording a turn and noting it: ten times as many turns, the same work."""
    cost: dict[int, dict[str, list[int]]] = {}
    tokens: dict[int, int] = {}
    for turns, file in files.items():
        store = await SQLiteStore.open(tmp_path / f"{turns}.db")
        await import_from(store, ME, io.BytesIO(file))
        thread = await thread_at(store, ME.thread(f"{turns}"))
        work = Work(store)
        with work.counted() as plain:
            await thread.context("And what do you recommend?")
        with work.counted() as looking:
            context = await thread.context("What did you say earlier about the tariff and case k50?")
        assert context.receipt.recall_fired
        with work.counted() as kept:
            await thread.record(context, "That it is within its limits.")
        with work.counted() as noted:
            await thread.apply({"ops": []})
        with work.counted() as opened:
            await store.open_thread(thread.scope, deltas=True)
        with work.counted() as shown:
            await thread.show(turns + 1)
        cost[turns] = {
            "plain": plain,
            "looking": looking,
            "kept": kept,
            "noted": noted,
            "opened": opened,
            "shown": shown,
        }
        tokens[turns] = context.tokens
        await store.close()
    for step, (statements, steps) in cost[LONG].items():
        few, short = cost[SHORT][step]
        assert statements <= few + 3, step
        assert steps <= 3 * max(short, 20), step
    assert tokens[LONG] <= 1.1 * tokens[SHORT]
