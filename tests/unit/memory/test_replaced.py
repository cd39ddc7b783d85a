"""DEMAND "Memory" 4, CASES I2: an old value is never read as the current one; it is marked wherever it is recalled."""

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.looking_back import look_back
from lumina.memory.receipt import as_text
from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Thread
from lumina.stores.in_memory import InMemoryStore
from lumina.testing.clock import FixedClock

CITIES = ("Porto", "Lisbon", "Braga", "Faro")
KEYS = ("home.city", "work.city")


async def opened() -> Thread:
    store = InMemoryStore()
    scope = ThreadScope(tenant="local", subject="ada", thread="main")
    return Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True), clock=FixedClock())


async def say(thread: Thread, question: str, answer: str, *ops: dict[str, str]) -> None:
    await thread.record(await thread.context(question), answer)
    await thread.apply(json.dumps({"ops": list(ops)}))


def city(key: str, value: str, about: str, quote: str) -> dict[str, str]:
    return {"op": "set", "key": key, "value": value, "quote": quote, "about": about}


async def marked(thread: Thread, query: str) -> dict[int, int]:
    """seq of each recalled question -> the turn that replaced its value, or 0."""
    found = await look_back(
        thread.store, thread.scope, query, before=99, state=await thread.state(), profile=await thread.profile()
    )
    return {
        pick.passage.seq: found.replaced.get(pick.passage.id, 0)
        for pick in found.picks
        if pick.passage.part == "question"
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(CITIES)), min_size=1, max_size=8),
       st.sampled_from(("thread", "subject")))  # fmt: skip
def test_every_passage_with_an_old_value_is_marked_and_no_other(said: list[tuple[str, str]], about: str):
    async def run() -> None:
        thread = await opened()
        for key, value in said:
            where = key.partition(".")[0]
            quote = f"My {where} city is {value}"
            await say(thread, f"{quote}.", "Noted.", city(key, value, about, quote))
        current = dict(said)
        last = {key: max(n for n, (k, v) in enumerate(said, 1) if k == key) for key in current}
        found = await marked(thread, "Which city is my home city and which is my work city?")
        for seq, (key, value) in enumerate(said, 1):
            if (key, value) in said[seq:]:
                assert seq not in found  # said again later, word for word: recalled from there
            elif value != current[key]:
                assert found[seq] > seq, (said, found)
                assert found[seq] <= last[key]
            else:
                assert found[seq] == 0, (said, found)

    asyncio.run(run())


async def test_a_value_that_stood_in_the_offer_is_marked_in_the_answer_that_offered_it():
    thread = await opened()
    await say(thread, "Which tariff suits me?", "I can move you to the blue tariff.")
    await say(
        thread, "Yes, do that.", "Done.",
        {"op": "decide", "key": "tariff", "value": "blue tariff", "quote": "Yes, do that",
         "offer": "I can move you to the blue tariff"},
    )  # fmt: skip
    assert (await thread.state()).get("tariff"), "the confirmation was taken"
    quote = "I want the green tariff instead"
    await say(thread, f"{quote}.", "Done.", {"op": "decide", "key": "tariff", "value": "green tariff", "quote": quote})
    for n in range(12):
        await say(thread, f"How is the weather on day {n}?", "Mild.")
    text = as_text((await thread.context("Which blue tariff did you offer to move me to earlier?")).messages)
    assert "#1 assistant: I can move you to the blue tariff. (replaced at turn 3)" in text


async def test_a_profile_value_is_marked_in_the_context_and_the_block_shows_the_new_one():
    """DEMAND "Memory" 4: a default read returns no superseded value unmarked."""
    thread = await opened()
    await say(
        thread, "My home city is Porto.", "Noted.", city("home.city", "Porto", "subject", "My home city is Porto")
    )
    await say(thread, "My home city is Faro.", "Noted.", city("home.city", "Faro", "subject", "My home city is Faro"))
    for n in range(12):
        await say(thread, f"How is the weather on day {n}?", "Mild.")
    text = as_text((await thread.context("Which home city did I tell you first, earlier?")).messages)
    assert "#1 user: My home city is Porto. (replaced at turn 2)" in text
    assert "home.city: Faro" in text
    assert "Porto" not in text.replace("My home city is Porto. (replaced at turn 2)", "")
