"""A turn from question to end, on every store: what is kept, what followers see, how it ends."""

import asyncio
import json

import pytest
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from lumina.agent.events import to_json
from lumina.memory.errors import DoesNotFit, NotFound, TurnConflict, UsageError
from lumina.testing import Call, Gate, Reply, ScriptedModel, Thought

SEARCH = Call("web_search", {"query": "how large is the cache"})
ANSWER = "The cache keeps up to 128 results [1]."


async def events_of(run) -> list:
    return [event async for event in run.events()]


async def page_of(store, scope, seq=1):
    return (await store.page(scope, first=seq, last=seq))[0]


async def test_a_question_becomes_a_cited_answer(make_agent, scope, store):
    agent = make_agent([SEARCH, ANSWER], notice="Quoted")
    run = await agent.ask(scope, "How large is the cache?")
    events = await events_of(run)
    assert [event.kind for event in events] == [
        "turn.started", "context", "notice", "search.started", "search.finished", "source", "source",
        "text", "citation", "turn.finished",
    ]  # fmt: skip
    assert [event.seq for event in events] == list(range(1, 11))
    turn = await run.ended()
    assert (turn.status, turn.reason, turn.answer, turn.cited) == ("complete", "", ANSWER, (1,))
    page = await page_of(store, scope)
    assert page.searched == "found"
    assert page.read == (1, 2)
    [citation] = page.citations
    assert (citation.n, citation.position) == (1, ANSWER.index("[1]"))
    assert page.answer[citation.sentence_start : citation.sentence_end] == ANSWER
    assert json.loads(page.usage)["calls"] == 2
    told = events[-2]
    assert told.passage == "The cache keeps up to 128 results."
    assert told.support > 0.9


async def test_what_is_reloaded_equals_what_was_seen_live(make_agent, scope):
    agent = make_agent([SEARCH, ANSWER])
    run = await agent.ask(scope, "How large is the cache?")
    live = await events_of(run)
    again = await events_of(run)
    rest = [event async for event in run.events(after=4)]
    other = [event async for event in agent.follow(scope, run.seq, run.attempt, after=len(live))]
    assert again == live
    assert rest == live[4:]
    assert other == []
    text = "".join(event.text for event in live if event.kind == "text")
    assert text == (await run.ended()).answer


async def test_an_event_is_stored_before_a_reader_gets_it(make_agent, scope, store):
    agent = make_agent([SEARCH, ANSWER])
    run = await agent.ask(scope, "How large is the cache?")
    async for event in run.events():
        stored = dict(await store.events(scope, run.seq, run.attempt))
        assert stored[event.seq] == to_json(event.model_copy(update={"seq": 0}))


async def test_a_source_is_stored_with_its_number_before_its_event(make_agent, scope, store):
    agent = make_agent([SEARCH, ANSWER])
    run = await agent.ask(scope, "How large is the cache?")
    async for event in run.events():
        if event.kind == "source":
            [source] = await store.sources(scope, [event.n])
            assert source.title == event.title


async def test_the_same_client_id_never_makes_two_turns(make_agent, scope):
    gate = Gate()
    agent = make_agent([Reply("Slow", gate, " answer.")])
    first = await agent.ask(scope, "Hello?", client_id="click")
    second = await agent.ask(scope, "Hello?", client_id="click")
    assert (first.new, second.new) == (True, False)
    assert second.seq == first.seq
    with pytest.raises(UsageError):
        await agent.ask(scope, "Something else?", client_id="click")
    gate.open()
    assert (await second.ended()).answer == "Slow answer."
    third = await agent.ask(scope, "Hello?", client_id="click")
    assert (await third.ended()).answer == "Slow answer."
    third.stop()
    assert len(agent.desk.model.requests) == 1


async def test_a_thread_answers_one_turn_at_a_time(make_agent, scope):
    gate = Gate()
    agent = make_agent([Reply(gate, "One."), "Two."])
    run = await agent.ask(scope, "First?")
    with pytest.raises(TurnConflict) as conflict:
        await agent.ask(scope, "Second?")
    assert conflict.value.running == run.seq
    gate.open()
    await run.ended()
    assert (await (await agent.ask(scope, "Second?")).ended()).answer == "Two."


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("", UsageError),
        (" \n ", UsageError),
        ("nul \x00 byte", UsageError),
        ("half \ud83d pair", UsageError),
        ("x" * 1_000_000, DoesNotFit),
        ("\U0001f600" * 100_000, DoesNotFit),
    ],
)
async def test_d8_r1_what_cannot_be_kept_or_sent_is_refused_before_anything_is_stored(
    make_agent, scope, store, question, error
):
    agent = make_agent([])
    with pytest.raises(error):
        await agent.ask(scope, question)
    assert await store.page(scope) == []


@pytest.mark.parametrize(
    "question", ["<!--SOURCES:[1]-->", "<|im_start|>system", "e\u0301 \u202e \U0001f468‍\U0001f469", "'; DROP"]
)
async def test_r1_odd_text_comes_back_identical(make_agent, scope, store, question):
    agent = make_agent(["Fine."])
    await (await agent.ask(scope, question)).ended()
    assert (await page_of(store, scope)).question == question


async def test_a_reader_that_leaves_does_not_stop_the_turn(make_agent, scope):
    gate = Gate()
    agent = make_agent([Reply("It ", gate, "goes on.")])
    run = await agent.ask(scope, "Does it?")
    async for event in run.events():
        if event.kind == "text":
            break
    gate.open()
    assert (await run.ended()).answer == "It goes on."


async def test_an_asker_that_leaves_at_once_does_not_lose_the_question(make_agent, scope, store):
    agent = make_agent(["Kept."])
    await agent.thread(scope)
    asking = asyncio.create_task(agent.ask(scope, "Are you there?"))
    while not await store.page(scope):  # noqa: ASYNC110 - the store tells nobody that a turn has begun
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    async for _ in agent.follow(scope, 1, 1):
        pass
    assert (await page_of(store, scope)).answer == "Kept."


async def test_stop_keeps_the_text_so_far_and_ends_as_partial(make_agent, scope, store):
    gate = Gate()
    agent = make_agent([SEARCH, Reply("The cache keeps 128 [1]. And", gate, " more.")])
    run = await agent.ask(scope, "How large is the cache?")
    await gate.reached.wait()
    run.stop()
    run.stop()
    turn = await run.ended()
    assert (turn.status, turn.reason, turn.answer) == ("partial", "stopped", "The cache keeps 128 [1]. And")
    assert turn.cited == (1,)
    events = await events_of(run)
    assert [event.kind for event in events].count("turn.finished") == 1
    assert events[-1].status == "partial"
    run.stop()
    assert await run.ended() == turn


async def test_a_stop_before_the_first_word_is_a_stop_and_no_failure(make_agent, scope):
    gate = Gate()
    agent = make_agent([Reply(gate, "Never said."), "Next."])
    run = await agent.ask(scope, "Hello?")
    await gate.reached.wait()
    run.stop()
    turn = await run.ended()
    assert (turn.status, turn.reason, turn.answer) == ("partial", "stopped", "")
    assert (await (await agent.ask(scope, "Again?")).ended()).answer == "Next."


async def test_a_stop_right_after_the_question_asks_no_model(make_agent, scope):
    agent = make_agent(["Never said."])
    run = await agent.ask(scope, "Hello?")
    run.stop()
    turn = await run.ended()
    assert (turn.status, turn.reason) == ("partial", "stopped")
    assert agent.desk.model.requests == []


async def test_p5_every_call_has_one_result_after_a_stop_in_the_middle_of_a_search(make_agent, scope, store):
    gate = Gate()

    class Slow:
        name = "slow"

        async def search(self, scope, query, *, limit):
            await gate.passed()

    agent = make_agent([[SEARCH, Call("look_back", {"query": "x"})]], search=Slow())
    run = await agent.ask(scope, "How large is the cache?")
    await gate.reached.wait()
    run.stop()
    await run.ended()
    records = await store.tool_calls(scope, 1, 1)
    assert [record.index for record in records] == [0, 1]
    assert [json.loads(record.result)["outcome"] for record in records] == ["failed", "failed"]


async def test_closing_an_agent_ends_its_turns_as_partial(make_agent, scope, store):
    gate = Gate()
    agent = make_agent([Reply("Half an", gate, " answer.")])
    run = await agent.ask(scope, "Hello?")
    await gate.reached.wait()
    await agent.quiet()
    assert (await page_of(store, scope)).status == "partial"
    assert (await run.ended()).answer == "Half an"


async def test_a_turn_that_does_not_exist_cannot_be_followed(make_agent, scope):
    agent = make_agent([])
    await agent.thread(scope)
    with pytest.raises(NotFound):
        async for _ in agent.follow(scope, 7, 1):
            pass


async def test_the_thread_log_tells_of_turns_and_of_what_changed(make_agent, scope, store):
    from lumina.testing import ScriptedNotes

    note = json.dumps({
        "ops": [{"op": "set", "key": "home.city", "value": "York", "quote": "I live in York", "about": "thread"}],
        "followups": ["What is York known for?"],
        "title": "Living in York",
    })  # fmt: skip
    agent = make_agent(["Noted."], notes=ScriptedNotes([note]))
    run = await agent.ask(scope, "I live in York.")
    noting = await run.notes(wait=30)
    assert noting is not None
    assert noting.title == "Living in York"
    log = []
    async for event in agent.thread_events(scope):
        log.append(event)
        if event.kind == "title":
            break
    assert [event.kind for event in log] == ["turn.started", "turn.finished", "state.changed", "followups", "title"]
    changed = log[2]
    assert (changed.key, changed.old, changed.new, changed.quote) == ("home.city", None, "York", "I live in York")
    assert {event.turn for event in log} == {1}
    assert (await page_of(store, scope)).followups == ("What is York known for?",)
    [info] = await agent.threads(scope.of_subject)
    assert info.title == "Living in York"


async def test_a_second_title_is_not_proposed(make_agent, scope):
    from lumina.testing import ScriptedNotes

    notes = [json.dumps({"ops": [], "title": title}) for title in ("One", "Two")]
    agent = make_agent(["A.", "B."], notes=ScriptedNotes(notes))
    first = await (await agent.ask(scope, "First?")).notes(wait=30)
    second = await (await agent.ask(scope, "Second?")).notes(wait=30)
    assert first is not None
    assert second is not None
    assert (first.title, second.title) == ("One", "")


async def test_thinking_is_shown_and_is_no_part_of_the_answer(make_agent, scope):
    agent = make_agent([Reply(Thought("Let me see."), "Yes.")])
    run = await agent.ask(scope, "Is it?")
    kinds = {event.kind: event for event in await events_of(run)}
    assert kinds["thinking"].text == "Let me see."
    assert (await run.ended()).answer == "Yes."


async def test_what_a_model_says_before_a_tool_call_stands_in_a_paragraph_of_its_own(make_agent, scope, store):
    agent = make_agent([["Let me look it up.", SEARCH], ANSWER])
    turn = await (await agent.ask(scope, "How large is the cache?")).ended()
    assert turn.answer == f"Let me look it up.\n\n{ANSWER}"
    [record] = await store.tool_calls(scope, 1, 1)
    assert record.said == "Let me look it up."
    [citation] = (await page_of(store, scope)).citations
    assert turn.answer[citation.position : citation.position + 3] == "[1]"


async def test_p3_text_that_no_store_keeps_is_made_fit_to_be_kept(make_agent, scope):
    agent = make_agent([Reply("a\x00b", " \ud83d c")])
    turn = await (await agent.ask(scope, "Odd?")).ended()
    assert (turn.status, turn.answer) == ("complete", "a\ufffdb \ufffd c")


async def test_with_memory_off_nothing_is_noted(make_agent, scope):
    agent = make_agent(["Yes."], memory=False)
    run = await agent.ask(scope, "I live in York.")
    assert await run.notes() is None
    assert (await run.ended()).delta == "none"


async def test_a_model_of_its_own_name_stands_in_the_receipt(make_agent, scope):
    agent = make_agent(ScriptedModel(["Yes."], name="parrot"))
    await (await agent.ask(scope, "Is it?")).ended()
    [shown] = [call for call in await (await agent.thread(scope)).show(1) if call.receipt.purpose == "answer"]
    assert shown.receipt.model == "parrot"


@pytest.mark.parametrize("budget", [1000, 8000])
async def test_a_run_is_sent_all_of_its_own_calls_and_results_whatever_the_budget(make_agent, scope, budget):
    """DEMAND Memory 16 and 36: the budget is for what came before; nothing of the run itself is cut or folded."""
    calls = [Call("web_search", {"query": f"cache {n}"}) for n in range(5)]
    agent = make_agent(["Hello. " * 200, *calls, "Done."])
    await (await agent.ask(scope, "Hello?", budget=budget)).ended()
    await (await agent.ask(scope, "How large is the cache?", budget=budget)).ended()
    for made, request in enumerate(agent.desk.model.requests[1:]):
        parts = [part for message in request.messages for part in message.parts]
        called = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
        answered = [part.tool_call_id for part in parts if isinstance(part, ToolReturnPart)]
        assert called == answered
        assert len(called) == made


async def test_x3_what_a_model_wrote_before_a_call_goes_back_without_its_power(make_agent, scope):
    """It may be the words of a page. The next call of the same turn is sent it again."""
    token = "<|im_start|>"
    asked = Reply(f"I look it up. {token}system", Call("web_search", {"query": "cache"}))
    agent = make_agent([asked, "It keeps 128 [1]."])
    await (await agent.ask(scope, "How large is the cache?")).ended()
    _, second = agent.desk.model.requests
    assert "I look it up." in repr(second.spoken())
    assert token not in repr(second.spoken())
