"""An agent's turn that is asked again or otherwise, temporary threads, and memory that is off."""

import json
from datetime import timedelta

import pytest

from lumina.memory.errors import NotFound, TurnConflict
from lumina.testing import Call, FixedClock, Gate, Reply, ScriptedNotes


def note(value: str, about: str = "subject") -> str:
    op = {"op": "set", "key": "home.city", "value": value, "quote": f"I live in {value}", "about": about}
    return json.dumps({"ops": [op]})


async def told(agent, scope, question, **how):
    run = await agent.ask(scope, question, **how)
    turn = await run.ended()
    await run.notes(wait=60)
    return turn


async def test_a_regenerated_answer_takes_the_place_of_the_old_one(make_agent, scope, store):
    agent = make_agent(["One.", "Two.", "Two, better."])
    await told(agent, scope, "first")
    await told(agent, scope, "second")
    run = await agent.regenerate(scope)
    assert (run.seq, run.attempt, run.question) == (2, 2, "second")
    assert (await run.ended()).answer == "Two, better."
    (started, *_) = [event async for event in run.events()]
    assert (started.kind, started.attempt) == ("turn.started", 2)
    assert [page.answer for page in await store.page(scope)] == ["One.", "Two, better."]
    sent = [message.content for message in (await (await agent.thread(scope)).show(2))[0].messages][1:]
    assert [text for text in sent if "second" in text] == ["second"]
    assert "Two." not in sent
    old = [event async for event in agent.follow(scope, 2, 1)]
    assert old[-1].kind == "turn.finished", "the log of the older attempt is still there"


async def test_an_edited_question_is_answered_without_what_came_after(make_agent, scope, store):
    notes = ScriptedNotes([note("Paris"), note("York"), note("Oslo")])
    agent = make_agent(["A.", "B.", "C."], notes=notes)
    await told(agent, scope, "I live in Paris.")
    await told(agent, scope, "I live in York.")
    turn = await told(agent, scope, "I live in Oslo.", instead_of=1)
    assert (turn.seq, turn.attempt) == (1, 2)
    assert "York" not in str((await (await agent.thread(scope)).show(1))[0].messages)
    entry = (await (await agent.thread(scope)).profile()).get("home.city")
    assert entry is not None
    assert entry.value == "Oslo"
    assert [page.question for page in await store.page(scope)] == ["I live in Oslo."]


async def test_only_a_turn_that_is_there_and_nothing_while_one_runs(make_agent, scope, store):
    gate = Gate()
    agent = make_agent(["One.", Reply("Two ", gate, "more.")])
    with pytest.raises(NotFound):
        await agent.regenerate(scope)
    await told(agent, scope, "first")
    with pytest.raises(NotFound):
        await agent.regenerate(scope, 7)
    run = await agent.ask(scope, "second")
    await gate.reached.wait()
    with pytest.raises(TurnConflict):
        await agent.regenerate(scope, 1)
    gate.open()
    await run.ended()
    assert [page.seq for page in await store.page(scope)] == [1, 2]


async def test_a_click_twice_regenerates_once(make_agent, scope, store):
    agent = make_agent(["One.", "Again."])
    await told(agent, scope, "first")
    run = await agent.regenerate(scope, 1, client_id="click")
    await run.ended()
    twice = await agent.ask(scope, "first", client_id="click", instead_of=1)
    assert (twice.new, twice.seq, twice.attempt) == (False, 1, 2)
    assert len(await store.page(scope, superseded=True)) == 2


async def test_a_note_that_comes_when_its_turn_was_asked_again_has_no_effect(make_agent, scope, store):
    gate = Gate()
    notes = ScriptedNotes([note("York"), "{}"], gate=gate)
    agent = make_agent(["One.", "Again."], notes=notes)
    await (await agent.ask(scope, "I live in York.")).ended()
    await gate.reached.wait()
    await (await agent.regenerate(scope, 1)).ended()
    gate.open()
    await agent.noted()
    assert (await (await agent.thread(scope)).profile()).current() == ()
    assert [(delta.seq, delta.attempt) for delta in await store.deltas(scope)] == [(1, 2)]
    assert sorted((request.seq, request.attempt) for request in notes.requests) == [(1, 1), (1, 2)]


async def test_no_number_of_a_source_is_given_out_again(make_agent, scope, store):
    agent = make_agent([Call("web_search", {"query": "cache"}), "It keeps 128 [1].",
                        Call("web_search", {"query": "cache_clear counters"}), "They start at zero [2]."])  # fmt: skip
    await told(agent, scope, "How large is the cache?")
    await told(agent, scope, "What of the counters?", instead_of=1)
    sources = await store.sources(scope)
    assert len({source.locator for source in sources}) == len(sources)
    assert [source.n for source in sources] == list(range(1, len(sources) + 1))
    assert {source.n for source in sources if source.locator == "doc:cache"} == {1}


async def test_a_temporary_conversation_knows_nobody_and_is_gone_after_a_day(make_agent, scope, store):
    clock = FixedClock()
    notes = ScriptedNotes([note("Paris"), note("York")])
    agent = make_agent(["A.", "B.", "C."], notes=notes, clock=clock)
    await told(agent, scope, "I live in Paris.")
    short = scope.of_subject.thread("short")
    await told(agent, short, "I live in York.", temporary=True)
    assert "Paris" not in str((await (await agent.thread(short)).show(1))[0].messages)
    entry = (await (await agent.thread(scope)).profile()).get("home.city")
    assert entry is not None
    assert entry.value == "Paris"
    assert [(info.thread, info.temporary) for info in await agent.threads(scope.of_subject)] == [
        ("short", True), ("main", False),
    ]  # fmt: skip
    clock.move(timedelta(days=1))
    assert [info.thread for info in await agent.threads(scope.of_subject)] == ["main"]


async def test_with_memory_off_neither_delta_nor_profile_is_written(make_agent, scope, store):
    notes = ScriptedNotes([])
    agent = make_agent(["A.", "B."], notes=notes, memory=False)
    await told(agent, scope, "I live in Paris.")
    await told(agent, scope, "I live in Paris.", instead_of=1)
    await agent.noted()
    assert notes.requests == []
    assert await store.deltas(scope) == await store.subject_deltas(scope.of_subject) == []
    assert await store.delta_jobs(scope, "waiting", "answered", "applied", "set aside") == []
    assert (await store.profile(scope.of_subject)).version == 0
