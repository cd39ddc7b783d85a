"""DEMAND 13: reasoning that an answer held goes to no model again, not by way of recall either."""

from dataclasses import replace

from lumina.memory.receipt import as_text
from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Thread
from lumina.stores.in_memory import InMemoryStore
from lumina.testing.clock import FixedClock


async def test_a_passage_that_lies_within_reasoning_is_not_recalled_and_one_after_it_is():
    store = InMemoryStore()
    scope = ThreadScope(tenant="local", subject="ada", thread="main")
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=False), clock=FixedClock())
    context = await thread.context("Which meter has the tariff?")
    thought = "<think>" + "The meter might be secret number nine of the tariff. " * 40 + "</think>"
    await thread.record(context, thought + "\n\n" + "The blue meter has the tariff. " * 30)
    for n in range(12):
        await thread.record(replace(context, question=f"How warm is day {n}?"), "Mild.")
    text = as_text((await thread.context("Which meter did you mention earlier for the tariff?")).messages)
    assert "The blue meter has the tariff." in text
    assert "secret number nine" not in text
