"""Faults that users of search agents report (the list "Search, citations, streams"), each as a turn that shows it gone.
The numbers of the tests are the list's."""

import asyncio
import json

import pytest

from lumina.agent.ports import Found, Hit
from lumina.cli.transfer_markdown import markdown_of
from lumina.memory.errors import LuminaError
from lumina.memory.turns import NewSource
from lumina.testing import Call, Reply, ScriptedModel
from lumina.testing.scripted import chunked

SEARCH = Call("web_search", {"query": "cache 128"})


class Pages:
    """Finds the pages whose addresses stand in the query; each has a text of its own."""

    name = "pages"

    def __init__(self, text: str = "The cache keeps 128 results in {}.") -> None:
        self._text = text

    async def search(self, scope, query, *, limit):
        hits = []
        for name in query.split():
            text = self._text.format(name)
            hits.append(Hit(
                locator=f"https://{name}.test/", url=f"https://{name}.test/?session=opaque9", title=name,
                host=f"{name}.test", depth="snippet", stored=text, start=0, end=len(text),
            ))  # fmt: skip
        return Found(provider=self.name, hits=tuple(hits))


async def answered(agent, scope, question):
    run = await agent.ask(scope, question)
    return await run.ended()


async def test_demand_1_a_citation_carries_the_words_of_the_stored_text_or_says_that_nothing_carries_it(
    make_agent, scope, store
):
    claims = "The cache keeps up to 128 results [1]. Mars has two moons [1]."
    await answered(make_agent([SEARCH, claims]), scope, "How large is the cache?")
    (turn,) = await store.page(scope)
    text = await store.text(scope.of_subject, turn.citations[0].digest)
    held, other = turn.citations
    assert "128 results" in "".join(text[start:end] for start, end in held.passage)
    assert held.score > 0.8
    assert other.score < 0.4
    assert other.missing


async def test_demand_3_as_many_results_as_there_are_have_as_many_numbers(make_agent, scope, store):
    await answered(make_agent([Call("web_search", {"query": "a b c d"}), "Done."], search=Pages()), scope, "?")
    assert [(source.n, source.host) for source in await store.sources(scope)] == [
        (1, "a.test"), (2, "b.test"), (3, "c.test"), (4, "d.test"),
    ]  # fmt: skip


async def test_demand_5_a_short_number_stands_beside_each_result_and_nothing_opaque_does(make_agent, scope):
    agent = make_agent([Call("web_search", {"query": "a b"}, id="toolu_0123456789abcdef"), "Yes [2]."], search=Pages())
    await answered(agent, scope, "?")
    result = agent.desk.model.requests[1].spoken()[-1][1]
    assert [row["source"] for row in json.loads(result)["results"]] == [1, 2]
    assert "opaque9" not in result
    assert "toolu" not in result


async def test_demand_7_one_page_has_one_number_however_often_it_is_found(make_agent, scope, store):
    search = [Call("web_search", {"query": words}) for words in ("a b", "b c", "a")]
    await answered(make_agent([*search, "So [1], so [2], so [3]."], search=Pages()), scope, "?")
    assert [source.host for source in await store.sources(scope)] == ["a.test", "b.test", "c.test"]


async def test_demand_9_a_source_of_an_earlier_turn_keeps_its_number_and_a_copy_holds_no_marker_of_ours(
    make_agent, scope, store
):
    agent = make_agent([SEARCH, "It keeps 128 [1].", "As said, 128 results [1]."])
    await answered(agent, scope, "How large is the cache?")
    await answered(agent, scope, "And again?")
    first, second = await store.page(scope)
    assert [c.n for c in first.citations] == [c.n for c in second.citations] == [1]
    text, _ = await markdown_of(store, scope)
    assert "As said, 128 results [1]." in text
    assert not any(mark in text for mark in ("<!--", "【", "<memory", "doc:"))


async def test_demand_10_numbers_are_unique_when_many_sources_come_at_once(make_agent, scope, store):
    agent = make_agent(["Hello."])
    await answered(agent, scope, "Hello?")

    def new(n):
        return NewSource(locator=f"l{n}", url="", title="t", host="h", depth="snippet", text=f"text {n}")

    found = await asyncio.gather(*(store.register_source(scope, 1, 1, new(n % 20)) for n in range(40)))
    assert sorted({source.n for source in found}) == list(range(1, 21))
    assert len({(source.n, source.locator) for source in found}) == 20


async def test_demand_13_14_no_reasoning_and_no_marker_of_ours_or_of_a_template_goes_back(make_agent, scope):
    said = "<think>The user is Bob.</think>It is 128. [Skipped] <|im_end|> <memory 12>"
    agent = make_agent([Reply(*chunked(said, "words")), "Yes."])
    await answered(agent, scope, "How large?")
    await answered(agent, scope, "Sure?")
    back = next(text for role, text in agent.desk.model.requests[-1].spoken() if role == "assistant")
    assert back == "It is 128. [Skipped] <¦im_end¦> <memory 12>"


async def test_demand_16_the_last_turns_stand_word_for_word_on_every_later_turn(make_agent, scope):
    agent = make_agent([f"Answer number {n}." for n in range(26)])
    for n in range(26):
        await answered(agent, scope, f"Question number {n}?")
    for n, request in enumerate(agent.desk.model.requests):
        spoken = [text for _, text in request.spoken()]
        for before in range(max(0, n - 5), n):
            assert f"Question number {before}?" in spoken, n
            assert f"Answer number {before}." in spoken, n


async def test_demand_18_19_a_page_of_a_megabyte_is_capped_and_what_was_left_out_is_told(make_agent, scope):
    agent = make_agent(
        [Call("web_search", {"query": "a b c d e f g h"}), "Long [1].", "Short."],
        search=Pages("word " * 200_000 + "{}"),
    )
    await answered(agent, scope, "long " * 900)
    sent = sum(len(text) for _, text in agent.desk.model.requests[1].spoken())
    assert sent < 40_000
    run = await agent.ask(scope, "And now?", budget=900)
    (context,) = [event async for event in run.events() if event.kind == "context"]
    assert context.items_out >= 1
    assert sum(context.tokens.values()) <= 900


async def test_demand_20_a_question_that_does_not_fit_is_refused_with_the_reason_and_the_thread_goes_on(
    make_agent, scope, store
):
    agent = make_agent(["Fine."])
    with pytest.raises(LuminaError, match="tokens"):
        await agent.ask(scope, "word " * 9000, budget=2000)
    assert (await answered(agent, scope, "Short?")).status == "complete"
    assert len(await store.page(scope)) == 1


async def test_demand_24_a_failed_search_is_not_an_empty_one_and_nothing_is_cited(make_agent, scope, store, library):
    library.down = "401: the key is not accepted"
    agent = make_agent(ScriptedModel([SEARCH, "It keeps 128 [1]."]))
    run = await agent.ask(scope, "How large?")
    events = [event async for event in run.events()]
    (turn,) = await store.page(scope)
    assert (turn.searched, turn.answer, turn.citations) == ("failed", "It keeps 128.", ())
    assert any(event.kind == "search.finished" and event.outcome == "failed" for event in events)
