"""Promise 4: one number, one source, for the life of the thread; a number that is not citable in its turn is taken out
of the stream and reported."""

import re
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Thread
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store
from lumina.testing import Call, Gate, Reply, ScriptedModel
from lumina.testing.store_examples import asked, ended, page_about

EVERY_NUMBER = "".join(f"Claim {n} [{n}]. " for n in range(100))
STORIES = {
    "alpha": "Story alpha tells of a lighthouse.",
    "beta": "Story beta tells of a river.",
    "gamma": "Story gamma tells of a forest.",
    "delta": "Story delta tells of a harbour.",
    "epsilon": "Story epsilon tells of a desert.",
}


async def ask(agent, scope, question="Which story?"):
    run = await agent.ask(scope, question)
    return run, [event async for event in run.events()]


def numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"\[(\d+)\]", text)]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(st.lists(st.sampled_from(sorted(STORIES)), max_size=3), min_size=1, max_size=4))
async def test_x4_a_number_means_the_same_source_in_every_turn_and_only_citable_ones_are_shown(
    make_agent, library, turns
):
    store = InMemoryStore()
    scope = ThreadScope(tenant="local", subject="me", thread="main")
    library.texts = STORIES
    meaning: dict[int, str] = {}
    for searches in turns:
        calls = [Call("web_search", {"query": title}) for title in searches]
        agent = make_agent([*([calls] if calls else []), EVERY_NUMBER], store=store)
        run, events = await ask(agent, scope)
        for event in events:
            if event.kind == "source":
                assert meaning.setdefault(event.n, event.title) == event.title
        receipts = [call.receipt for call in await (await agent.thread(scope)).show(run.seq)]
        answer = [receipt for receipt in receipts if receipt.purpose == "answer"][-1]
        page = (await store.page(scope, first=run.seq, last=run.seq))[0]
        assert set(numbers(page.answer)) == set(answer.citable)
        assert {citation.n for citation in page.citations} == set(answer.citable)
        removed = [event for event in events if event.kind == "citation.removed"]
        assert len(removed) == 100 - len(answer.citable)
        assert {source.n: source.title for source in await store.sources(scope)} == meaning
    assert sorted(meaning) == list(range(1, len(meaning) + 1))


async def test_a_stale_number_of_an_earlier_turn_cannot_come_back_without_its_source(make_agent, scope, store, library):
    """The experiment that started this project, in small: a model that copies an old [1] into an answer without a
    search. [1] is still listed, so it keeps its meaning; a number that never was is taken out."""
    agent = make_agent([Call("web_search", {"query": "cache"}), "It keeps 128 [1].", "As said [1], and also [3]."])
    await ask(agent, scope)
    _, events = await ask(agent, scope, "Say it again?")
    page = (await store.page(scope, first=2, last=2))[0]
    assert page.answer == "As said [1], and also."
    assert page.searched == "not needed"
    [source] = [source for source in await store.sources(scope) if source.n == 1]
    assert source.title == "cache"
    [citation] = page.citations
    assert citation.digest == source.digest
    assert [event.marker for event in events if event.kind == "citation.removed"] == ["[3]"]


async def test_the_numbers_of_a_run_that_was_stopped_are_never_given_to_another_source(make_agent, scope, library):
    gate = Gate()
    alpha, beta = Call("web_search", {"query": "alpha"}), Call("web_search", {"query": "beta"})
    agent = make_agent([alpha, Reply("Al", gate), beta, "B."])
    library.texts = STORIES
    run = await agent.ask(scope, "First?")
    await gate.reached.wait()
    run.stop()
    await run.ended()
    _, events = await ask(agent, scope, "Second?")
    found = {event.title: event.n for event in events if event.kind == "source"}
    assert found["beta"] == 2
    assert {source.n: source.title for source in await agent.store.sources(scope)} == {1: "alpha", 2: "beta"}


@pytest.mark.parametrize("chunks", ["words", "characters", "whole"])
async def test_s5_the_answer_and_its_citations_do_not_depend_on_how_the_text_was_cut(
    make_agent, scope, store, library, chunks
):
    answer = (
        "The cache keeps up to 128 results [1]. It is full then. [1]\n\nWhen it is full, the least recently used result"
        " is dropped 【1】, see `a[1]` and [7].\n\n- cache_clear empties it [1, 2]\n- and [2]\n\n[1]"
    )
    model = ScriptedModel([Call("web_search", {"query": "cache"}), answer], chunks=chunks)
    _, events = await ask(make_agent(model), scope)
    page = (await store.page(scope))[0]
    assert page.answer == "".join(event.text for event in events if event.kind == "text")
    assert page.answer == (
        "The cache keeps up to 128 results [1]. It is full then. [1]\n\nWhen it is full, the least recently used result"
        " is dropped [1], see `a[1]` and.\n\n- cache_clear empties it [1][2]\n- and [2]\n\n[1]"
    )
    told = [(page.answer[c.sentence_start : c.sentence_end], c.n, round(c.score, 2)) for c in page.citations]
    assert told[0] == ("The cache keeps up to 128 results [1].", 1, 1.0)
    assert [text for text, _, _ in told] == [
        "The cache keeps up to 128 results [1].",
        "It is full then.",
        "When it is full, the least recently used result is dropped [1], see `a[1]` and.",
        "cache_clear empties it",
        "cache_clear empties it",
        "and",
        "and",
    ]
    assert len([event for event in events if event.kind == "citation"]) == 7


async def test_what_was_opened_may_be_cited_and_a_number_that_there_is_not_may_not(make_agent, scope, store, library):
    """A source of a turn that is not shown any more has to be opened again; each citation is matched with its own."""
    search = [Call("web_search", {"query": "alpha"}), Call("web_search", {"query": "beta"})]
    library.texts = STORIES
    tale = "It tells of a lighthouse [1]. It tells of a river [2]. And of [3]."
    agent = make_agent([search, "Ok.", tale, [Call("open_source", {"n": 2}), Call("open_source", {"n": 3})], tale,
                        [Call("web_search", {"query": "alpha"})], tale])  # fmt: skip
    for _ in range(4):
        await ask(agent, scope)
    answers = [page.answer for page in await store.page(scope)]
    assert answers == [
        "Ok.",
        "It tells of a lighthouse. It tells of a river. And of.",
        "It tells of a lighthouse. It tells of a river [2]. And of.",
        "It tells of a lighthouse [1]. It tells of a river [2]. And of.",
    ]
    assert [source.title for source in await store.sources(scope)] == ["alpha", "beta"]  # read again, the same number
    digests = {source.n: source.digest for source in await store.sources(scope)}
    for page in await store.page(scope):
        for citation in page.citations:
            assert citation.digest == digests[citation.n]
            assert citation.score > 0.9


@pytest.mark.parametrize("budget", [400, 700, 8000])
async def test_what_may_be_cited_is_what_the_memory_block_lists_and_it_lists_what_is_shown(store, budget):
    """Eighteen turns, each with a source of its own: of turns that are not sent, and of sources that found no room, no
    number may be cited."""
    scope = ThreadScope(tenant="local", subject="me", thread="main")
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=False))
    for n in range(1, 19):
        turn, _ = await thread.begin(f"Question {n}?")
        source = await store.register_source(scope, n, 1, page_about(f"Page {n}", f"doc:{n}"))
        context = await thread.context(f"Question {n}?", turn=turn, budget=budget)
        lines = context.messages[-1].content.splitlines()
        listed = [int(line[3 : line.index("]")]) for line in lines if line.startswith("- [")]
        sent = {item.seq for item in context.receipt.items if item.kind == "turn" and item.included}
        assert list(context.receipt.citable) == listed
        assert set(listed) <= sent  # each turn cites the source of its own number
        assert budget < 8000 or set(listed) == sent
        end = ended(turn, f"Answer [{n}].", cited=(source.n,), window_start=context.window_start)
        await store.finish_turn(scope, end)
    assert budget > 400 or len(listed) < len(sent)  # there some were really left out


async def test_a_number_is_not_given_again_when_its_source_is_gone(make_agent, scope, tmp_path):
    """As a forget will leave it: the row of the last source is not there any more."""
    path = tmp_path / "numbers.db"
    store = await open_store(path)
    agent = make_agent([Call("web_search", {"query": "cache"}), "Both [1] [2].", "Fine."], store=store)
    await ask(agent, scope)
    await agent.noted()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM turn_sources WHERE n = 2")
        connection.execute("DELETE FROM sources WHERE n = 2")
    turn, _ = await store.begin_turn(scope, asked("again", "And now?"))
    assert (await store.register_source(scope, turn.seq, 1, page_about("new", "doc:new"))).n == 3
    await store.close()
