"""The recorded search plays found, empty and failed, and the clock stands still."""

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from lumina.agent.ports import Empty, Failed, Found, SearchProvider
from lumina.memory.scope import SubjectScope
from lumina.testing import FixedClock, Gate, RecordedSearch, page

SCOPE = SubjectScope(tenant="local", subject="me")


async def test_it_plays_its_answers_in_order_and_repeats_the_last():
    failed = Failed(provider="recorded", reason="401", retry=False)
    search: SearchProvider = RecordedSearch(
        [[page("A", "one"), page("B", "two")], Empty(provider="recorded", reason="nothing"), failed]
    )
    kinds = [(await search.search(SCOPE, query, limit=5)).kind for query in ("a", "b", "c", "d")]
    assert kinds == ["found", "empty", "failed", "failed"]
    assert search.queries == ["a", "b", "c", "d"]
    assert search.asked[0] == (SCOPE, "a", 5)


async def test_it_gives_no_more_than_the_limit_and_can_decide_by_the_query():
    search = RecordedSearch([lambda query: [page(query, "text"), page("other", "text")]])
    result = await search.search(SCOPE, "A title", limit=1)
    assert isinstance(result, Found)
    assert [hit.title for hit in result.hits] == ["A title"]


async def test_without_answers_it_finds_nothing_and_an_exception_is_raised():
    assert (await RecordedSearch().search(SCOPE, "a", limit=1)).kind == "empty"
    with pytest.raises(OSError, match="down"):
        await RecordedSearch([OSError("down")]).search(SCOPE, "a", limit=1)


async def test_a_gate_holds_the_search():
    gate, done = Gate(), []
    search = RecordedSearch([[page("A", "one")]], gate=gate)

    async def ask() -> None:
        done.append(await search.search(SCOPE, "a", limit=1))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await gate.reached.wait()
        assert done == []
        gate.open()
    assert len(done) == 1


def test_a_page_knows_where_its_passage_stands():
    hit = page("A", "the middle", stored="Before, the middle, after.", url="https://example.org/a")
    assert (hit.text, hit.start, hit.host, hit.locator) == ("the middle", 8, "example.org", "https://example.org/a")
    assert page("Notes", "text").host == "documents"
    with pytest.raises(ValueError, match="does not hold"):
        page("A", "absent", stored="something else")


def test_the_clock_stands_until_it_is_moved_forth_or_back():
    clock = FixedClock()
    assert clock() == clock() == datetime(2026, 11, 30, 12, tzinfo=UTC)
    clock.move(timedelta(hours=-1))
    assert clock() == datetime(2026, 11, 30, 11, tzinfo=UTC)
    with pytest.raises(ValueError, match="time zone"):
        FixedClock(datetime(2026, 1, 1))
