"""Promise 5, across threads. The profile folds by a per-subject number taken in the transaction that commits the turn.

The newer statement wins, whichever thread it came from and whenever its delta arrived; a thread keeps its own value
only if it was said for this thread, and then both are shown with their days.
"""

from datetime import UTC, datetime

import pytest

from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Thread


class Days:
    """A clock that goes backwards: nothing may be ordered by it (CASES C7)."""

    def __init__(self) -> None:
        self.day = 28

    def __call__(self) -> datetime:
        return datetime(2026, 11, self.day, tzinfo=UTC)


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def opened(store, days):
    async def open_one(name: str) -> Thread:
        scope = ThreadScope(tenant="local", subject="s", thread=name)
        return Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True), clock=days)

    return open_one


async def says(thread: Thread, question: str) -> None:
    await thread.record(await thread.context(question), "ok")


async def lives(thread: Thread, city: str, *, about: str = "subject", key: str = "home.city"):
    op = {"op": "set", "key": key, "value": city, "quote": f"I live in {city}", "about": about}
    return await thread.apply({"ops": [op]})


async def test_the_newer_statement_wins_whichever_thread_it_came_from(opened, days):
    one, two = await opened("one"), await opened("two")
    for thread, city in ((one, "Paris"), (two, "York"), (one, "Rome")):
        await says(thread, f"I live in {city}")
        await lives(thread, city)
        days.day -= 1
    for thread in (one, two):
        assert (await thread.profile()).get("home.city").value == "Rome"
    rows = await two.history("home.city", about="subject")
    assert [(row.value, row.thread, row.until_thread) for row in rows] == [
        ("Paris", "one", "two"), ("York", "two", "one"), ("Rome", "one", ""),
    ]  # fmt: skip
    assert [row.quote for row in rows] == ["I live in Paris", "I live in York", "I live in Rome"]
    assert (await two.profile(as_of=1)).get("home.city").value == "York"
    assert (await one.profile(as_of=1)).get("home.city").value == "Paris"


async def test_an_older_threads_late_delta_never_replaces_a_newer_one(opened):
    one, two = await opened("one"), await opened("two")
    await says(one, "I live in Paris")
    await says(two, "I live in York")
    await lives(two, "York")
    noting = await lives(one, "Paris")
    assert [(outcome.kind, outcome.old) for outcome in noting.outcomes] == [("late", "York")]
    assert (await one.profile()).get("home.city").value == "York"
    rows = await one.history("home.city", about="subject")
    assert [(row.value, row.current) for row in rows] == [("Paris", False), ("York", True)]


async def test_a_thread_keeps_its_own_value_only_if_it_was_said_for_this_thread_and_both_are_shown(opened, days):
    one, two = await opened("one"), await opened("two")
    await says(one, "I live in Paris")
    await lives(one, "Paris")
    days.day = 29
    await says(two, "I live in York")
    await lives(two, "York", about="thread")
    block = (await two.context("where do I live?")).openai()[-1]["content"]
    assert "About the user, 2026-11:\n- 28 home.city: Paris" in block
    assert "Facts, 2026-11:\n- 29 home.city: York" in block
    assert "York" not in (await one.context("where do I live?")).openai()[-1]["content"]
    await says(two, "Where?")
    request = await two.delta_request()
    assert [(entry.key, entry.value, entry.about) for entry in request.entries] == [
        ("home.city", "Paris", "subject"), ("home.city", "York", "thread"),
    ]  # fmt: skip


async def test_a_key_that_nearly_equals_one_of_the_profile_is_refused_back_once(opened):
    one, two = await opened("one"), await opened("two")
    await says(one, "I live in Paris")
    await lives(one, "Paris")
    await says(two, "I live in York")
    noting = await lives(two, "York", key="home.cities")
    assert noting.again
    assert "nearly equals home.city" in noting.refused[0].reason
    noting = await lives(two, "York", key="home.cities")
    assert [outcome.kind for outcome in noting.outcomes] == ["new"], "the second time it is believed"


async def test_a_truncated_delta_changes_nothing_that_it_does_not_name(opened):
    """CASES D10: what a model leaves out is not taken back, and half a reply changes nothing."""
    from lumina.memory.delta import NoteError

    one = await opened("one")
    await says(one, "I live in Paris")
    await lives(one, "Paris")
    before = await one.profile()
    await says(one, "Thanks")
    await one.apply({"ops": []})
    await says(one, "I live in York")
    for cut in ('{"ops": [{"op": "set", "key": "home.ci', "", "{"):
        with pytest.raises(NoteError):
            await one.apply(cut)
    assert await one.profile() == before
    [turn] = (await one.store.recent_turns(one.scope, limit=1)).turns
    assert turn.delta == "set aside"
