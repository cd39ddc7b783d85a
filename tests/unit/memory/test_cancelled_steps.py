"""CASES D9: a step that is cancelled at any of its awaits was done wholly or not at all.

A store that counts its calls cancels the task before the n-th of them; then what is kept is compared, row by row, with
what a run without a cancel has kept before or after the step.
"""

import asyncio
import json
from typing import Any

import pytest

from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Thread
from lumina.stores.in_memory import InMemoryStore
from lumina.testing import FixedClock

SCOPE = ThreadScope(tenant="local", subject="me", thread="main")
NOTE = json.dumps({"ops": [{"op": "set", "key": "home.city", "value": "York", "quote": "I live in York"}]})
CALLS = (
    "secret", "thread_info", "recent_turns", "turns", "page", "state", "profile", "delta_jobs", "answer_delta",
    "apply_delta", "deltas", "subject_deltas", "put_text", "put_receipt", "receipts", "put_state", "put_profile",
    "record_turn", "unnoted", "matches", "passages", "source_names", "set_followups", "set_title",
)  # fmt: skip


class Cancelling(InMemoryStore):
    """Raises CancelledError in the place of its call number `at` (from 1), or after it."""

    def __init__(self, at: int = 0, *, after: bool = False) -> None:
        super().__init__(secret=b"s" * 32)
        self.at, self.after, self.counted = at, after, 0
        for name in CALLS:
            setattr(self, name, self._cancelling(getattr(self, name)))

    def _cancelling(self, call: Any) -> Any:
        async def counted(*args: Any, **named: Any) -> Any:
            self.counted += 1
            hit = self.counted == self.at
            if hit and not self.after:
                raise asyncio.CancelledError
            done = await call(*args, **named)
            if hit:
                raise asyncio.CancelledError
            return done

        return counted


async def prepared(at: int = 0, *, after: bool = False) -> tuple[Cancelling, Thread]:
    store = Cancelling()
    thread = Thread(store=store, scope=SCOPE, info=await store.open_thread(SCOPE, deltas=True), clock=FixedClock())
    for n in range(3):
        await thread.record(await thread.context(f"I live in York {n}."), "Noted.", client_id=f"c{n}")
    await thread.apply(NOTE, seq=1)
    store.counted, store.at, store.after = 0, at, after
    return store, thread


async def kept(store: Cancelling) -> Any:
    """Everything that is stored of the history: turns, jobs' effect, deltas, state, profile."""
    store.at = 0
    names = ("seq", "attempt", "superseded", "question", "answer", "delta")
    rows = await store.page(SCOPE, superseded=True)
    pages = [tuple(getattr(row, name, None) for name in names) for row in rows]
    return pages, await store.deltas(SCOPE), await store.state(SCOPE), await store.profile(SCOPE.of_subject)


async def build(thread: Thread) -> None:
    await thread.context("What now?", instructions="Be brief.")


async def keep(thread: Thread) -> None:
    thread.store.at, wanted = 0, thread.store.at  # type: ignore[attr-defined]
    context = await thread.context("What now?")
    thread.store.counted, thread.store.at = 0, wanted  # type: ignore[attr-defined]
    await thread.record(context, "This.", client_id="now")


async def redo(thread: Thread) -> None:
    thread.store.at, wanted = 0, thread.store.at  # type: ignore[attr-defined]
    context = await thread.context("I live in Oslo.", instead_of=2)
    thread.store.counted, thread.store.at = 0, wanted  # type: ignore[attr-defined]
    await thread.record(context, "Noted.", client_id="redo")


async def note(thread: Thread) -> None:
    await thread.apply(NOTE, seq=2)


@pytest.mark.parametrize("step", [build, keep, redo, note])
@pytest.mark.parametrize("after", [False, True])
async def test_d9_a_cancelled_step_leaves_history_as_it_was_or_is_done(step, after):
    store, thread = await prepared()
    before = await kept(store)
    store.counted = 0
    await step(thread)
    calls, done = store.counted, await kept(store)
    assert calls
    for at in range(1, calls + 1):
        store, thread = await prepared(at, after=after)
        with pytest.raises(asyncio.CancelledError):
            await step(thread)
        found = await kept(store)
        if step is note:  # a reply that was kept is applied by whoever comes next, once
            assert found[1:] in (before[1:], done[1:])
        else:
            assert found in (before, done)
        # Afterwards the same step can be made, and ends where it would have.
        again = Thread(store=store, scope=SCOPE, info=await store.thread_info(SCOPE), clock=FixedClock())
        await again.settle()
        if (step is note and (await kept(store))[1:] != done[1:]) or (step is not note and found == before):
            await step(again)
        assert (await kept(store)) == done
