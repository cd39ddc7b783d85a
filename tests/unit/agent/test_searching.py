"""One search of a turn: who is asked, in which order, how each ended, and what is put together."""

import asyncio

import pytest

from lumina.agent.ports import Empty, Failed, Found, Hit
from lumina.agent.searching import search_in_turn
from lumina.memory.scope import SubjectScope

ME = SubjectScope(tenant="local", subject="me")


def hit(locator: str, text: str = "x", coverage: float = 1.0) -> Hit:
    return Hit(locator=locator, url=locator, title="T", host="h", depth="snippet", stored=text, start=0, end=len(text),
               coverage=coverage, score=coverage)  # fmt: skip


class Says:
    def __init__(self, name, result):
        self.name, self.result, self.asked = name, result, []
        self.reached = asyncio.Event()

    async def search(self, scope, query, *, limit):
        self.asked.append((scope, query, limit))
        self.reached.set()
        if isinstance(self.result, Exception):
            raise self.result
        if self.result is None:
            await asyncio.Event().wait()
        return self.result


def found(name, *hits):
    return Says(name, Found(provider=name, hits=hits))


def down():
    return Says("down", Failed(provider="down", reason="503", retry=True))


def none():
    return Says("none", Empty(provider="none", reason="nothing"))


async def search(*providers, limit=8):
    """What was searched, and what was told while it was."""
    told = []

    async def begun(name):
        told.append(name)

    async def ended(ending):
        told.append((ending.provider, ending.kind))

    done = await search_in_turn(providers, ME, "q", limit=limit, seconds=0.05, begun=begun, ended=ended)
    return done, told


async def test_P6_the_next_is_asked_when_one_fails_or_is_empty_and_each_ending_is_told_as_it_comes():
    good, late = found("good", hit("a")), found("late", hit("b"))
    done, told = await search(down(), none(), good, late)
    assert told == ["down", ("down", "failed"), "none", ("none", "empty"), "good", ("good", "found")]
    assert [hit.locator for hit in done.hits] == ["a"]
    assert late.asked == []
    assert good.asked == [(ME, "q", 8)]


async def test_demand_24_when_nobody_has_anything_every_reason_is_kept():
    done, _ = await search(none(), down())
    assert done.hits == ()
    assert [(each.kind, each.reason) for each in done.endings] == [("empty", "nothing"), ("failed", "503")]


async def test_P6_slow_broken_and_lying_providers_fail_alone_and_say_nothing_of_what_broke():
    done, told = await search(
        Says("slow", None), Says("broken", ValueError("sk-1")), found("liar"), found("good", hit("a"))
    )
    assert [each[1] for each in told if isinstance(each, tuple)] == ["failed", "failed", "failed", "found"]
    assert [hit.locator for hit in done.hits] == ["a"]
    assert "sk-1" not in repr(done)


async def test_a_stop_is_no_failure_of_a_provider():
    slow, later = Says("slow", None), none()
    task = asyncio.ensure_future(search(slow, later))
    await slow.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert later.asked == []


async def test_documents_that_hardly_hold_the_question_do_not_keep_the_web_from_being_asked():
    done, _ = await search(found("documents", hit("doc:1", coverage=0.4)), found("web", hit("w"), hit("v")))
    assert [hit.locator for hit in done.hits] == ["w", "v", "doc:1"]
    assert [each.kind for each in done.endings] == ["found", "found"]


async def test_documents_that_hold_the_question_are_enough():
    web = found("web", hit("w"))
    done, _ = await search(found("documents", hit("doc:1", coverage=0.95), hit("doc:2", coverage=0.2)), web)
    assert [hit.locator for hit in done.hits] == ["doc:1", "doc:2"]
    assert web.asked == []


async def test_thin_documents_are_what_there_is_when_the_web_fails():
    done, _ = await search(found("documents", hit("doc:1", coverage=0.4)), down())
    assert [hit.locator for hit in done.hits] == ["doc:1"]


async def test_what_was_found_first_keeps_two_places_beside_a_full_list_of_the_web():
    own = found("documents", *(hit(f"doc:{n}", coverage=0.4) for n in range(5)))
    done, _ = await search(own, found("web", *(hit(f"w{n}") for n in range(8))))
    assert [hit.locator for hit in done.hits] == [*(f"w{n}" for n in range(6)), "doc:0", "doc:1"]


async def test_demand_7_a_page_from_two_providers_stands_once_and_passages_of_a_document_all_do():
    thin = found("documents", hit("doc:1", "a", 0.1), hit("doc:1", "b", 0.1))
    done, _ = await search(thin, found("web", hit("w", "one"), hit("v"), hit("w", "two")))
    assert [(hit.locator, hit.text) for hit in done.hits] == [
        ("w", "one"), ("v", "x"), ("doc:1", "a"), ("doc:1", "b"),
    ]  # fmt: skip
