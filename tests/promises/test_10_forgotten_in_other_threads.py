"""Promise 10, where one thread showed another's words: what is forgotten in a thread leaves every receipt that recalled
it from there, hash and all, and no receipt that only has a turn of the same number."""

import json
from collections.abc import AsyncIterator

import pytest

from lumina.memory.forgotten import Forgotten, forget_entry, forget_thread, forget_turn
from lumina.memory.receipt import as_text
from lumina.memory.scope import SubjectScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store
from lumina.testing import Call, ScriptedModel, ScriptedNotes
from lumina.testing.clock import FixedClock

ADA = SubjectScope(tenant="local", subject="ada")
NAMES = ("trip", 'Reise "nach" Köln %_')


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path) -> AsyncIterator[Store]:
    made = InMemoryStore() if request.param == "memory" else await open_store(tmp_path / "a.db")
    yield made
    await made.close()


async def opened(store: Store, name: str, **options) -> Thread:
    scope = ADA.thread(name)
    info = await store.open_thread(scope, deltas=True)
    return Thread(store=store, scope=scope, info=info, clock=FixedClock(), **options)


async def say(thread: Thread, question: str, answer: str) -> None:
    await thread.record(await thread.context(question), answer)


async def forget(store: Store, name: str, what: str) -> Forgotten:
    if what == "thread":
        return await forget_thread(store, ADA.thread(name))
    if what == "turn":
        return await forget_turn(store, ADA.thread(name), 1)
    return await forget_entry(store, ADA.thread(name), "hotel.name")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["entry", "turn", "thread"])
async def test_a_receipt_that_showed_it_in_another_thread_loses_its_hash_and_says_so(store: Store, name, what):
    trip, today = await opened(store, name), await opened(store, "today")
    await say(trip, "Which hotel in Lisbon? My hotel is Zyxford.", "I recommend the Pombal hotel.")
    await trip.apply({"ops": [{"op": "set", "key": "hotel.name", "value": "Zyxford", "quote": "My hotel is Zyxford"}]})
    await say(today, "Hello", "Hello!")
    await say(today, "Which hotel in Lisbon did I name last time?", "One.")
    (before,) = await today.show(2)
    assert "Zyxford" in as_text(before.messages)
    await forget(store, name, what)
    (shown,) = await today.show(2)
    recalled = [item for item in shown.items if item.kind == "recalled"]
    assert recalled
    assert all(item.forgotten for item in recalled)
    assert (shown.receipt.sent, shown.same) == ("", None)
    assert shown.forgotten == len(recalled)
    assert "Zyxford" not in as_text(shown.messages)
    (first,) = await today.show(1)
    assert first.same is True, "a turn of the same number in another thread is another turn"


async def test_a_turn_of_the_same_number_here_says_nothing_of_the_one_that_was_recalled_from_there(store: Store):
    trip, today = await opened(store, "trip"), await opened(store, "today")
    await say(trip, "Which hotel in Lisbon?", "I recommend the Pombal hotel.")
    await say(today, "My dog is called Rex.", "Noted.")
    await say(today, "Which hotel in Lisbon did you recommend last time?", "The Pombal hotel.")
    await forget_turn(store, today.scope, 1)
    (shown,) = await today.show(2)
    assert [(item.kind, bool(item.forgotten)) for item in shown.items if item.kind in ("turn", "recalled")] == [
        ("turn", True), ("recalled", False), ("recalled", False),
    ]  # fmt: skip
    assert "Pombal" in as_text(shown.messages)


@pytest.mark.parametrize("what", ["entry", "turn", "thread"])
async def test_a_search_that_was_refused_in_another_thread_loses_the_words_it_would_have_carried(
    make_agent, store: Store, scope, what: str
):
    quote = "My hotel is Zyxwvutown"
    op = {"op": "set", "key": "hotel.name", "value": "Zyxwvutown", "quote": quote}
    model = ScriptedModel(["Ok.", Call("web_search", {"query": "weather near Zyxwvutown"}), "No search."])
    agent = make_agent(model, notes=ScriptedNotes([json.dumps({"ops": [op]}), *["{}"] * 4]))
    trip, today = scope.of_subject.thread("trip"), scope.of_subject.thread("today")
    for place, question in ((trip, f"{quote}."), (today, "Which hotel did I name last time? What is the weather?")):
        run = await agent.ask(place, question)
        await run.ended()
        await run.notes(wait=30)
    await agent.noted()
    (call,) = await store.tool_calls(today, 1, 1)
    assert "remembered" in call.result
    assert "Zyxwvutown" in call.arguments
    if what == "entry":
        await forget_entry(store, trip, "hotel.name")
    elif what == "turn":
        await forget_turn(store, trip, 1)
    else:
        await forget_thread(store, trip)
    told = [await store.tool_calls(today, 1, 1), await store.events(today, 1, 1), await store.receipts(today, 1, 1)]
    assert "zyxwvu" not in repr(told).lower()
    for shown in await (await agent.thread(today)).show(1):
        assert shown.same is not False
