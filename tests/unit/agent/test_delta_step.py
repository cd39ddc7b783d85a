"""After the answer: tries are counted, a failed one is told apart from an empty one, and the turn is always safe."""

import json

from lumina.agent.model_notes import ModelNotes
from lumina.memory.errors import ProviderError
from lumina.testing import Gate, ScriptedModel, ScriptedNotes

QUESTION = "I live in York."


def note(value="York", quote="I live in York"):
    return json.dumps({"ops": [{"op": "set", "key": "home.city", "value": value, "quote": quote}]})


async def noted(agent, scope, question=QUESTION):
    run = await agent.ask(scope, question)
    return await run.notes(wait=60)


async def status(store, scope, seq=1):
    return (await store.turns(scope, [(seq, 1)]))[seq, 1].delta


async def test_a_try_that_fails_is_followed_by_another(make_agent, scope, store):
    down = ProviderError("The model is overloaded.", provider="p", retry=True)
    agent = make_agent(["Noted."], notes=ScriptedNotes([down, "no JSON at all", note()]))
    result = await noted(agent, scope)
    assert [outcome.kind for outcome in result.outcomes] == ["new"]
    assert await status(store, scope) == "applied"
    assert len(agent.desk.notes.requests) == 3


async def test_d5_after_three_tries_it_is_set_aside_visibly_and_the_thread_goes_on(make_agent, scope, store):
    agent = make_agent(["Noted.", "Next."], notes=ScriptedNotes(["{broken"] * 3))
    result = await noted(agent, scope)
    assert result.set_aside
    assert await status(store, scope) == "set aside"
    assert len(agent.desk.notes.requests) == 3
    bodies = [json.loads(body) for _, body in await store.events(scope, 0, 0)]
    [told] = [body["text"] for body in bodies if body["kind"] == "notice"]
    assert told.startswith("What turn 1 changed could not be noted and was set aside")
    assert (await (await agent.ask(scope, "And now?")).ended()).answer == "Next."


async def test_tries_are_counted_over_processes(make_agent, scope, store):
    gate = Gate()
    dead = make_agent(["Noted."], notes=ScriptedNotes([], gate=gate))
    await (await dead.ask(scope, QUESTION)).ended()
    await gate.reached.wait()
    await dead.quiet()
    for _ in range(2):
        await store.fail_delta(scope, 1, 1, "the model was down", set_aside=False)
    notes = ScriptedNotes(["{broken" if n < 5 else "{}" for n in range(6)])
    agent = make_agent(["Next."], notes=notes)
    await (await agent.ask(scope, "And now?")).ended()
    await agent.noted()
    assert await status(store, scope) == "set aside"
    assert [request.seq for request in notes.requests].count(1) == 1


async def test_what_was_refused_is_told_to_the_model_once(make_agent, scope, store):
    agent = make_agent(["Noted."], notes=ScriptedNotes([note(quote="I live in Leeds"), note()]))
    result = await noted(agent, scope)
    assert await status(store, scope) == "applied"
    assert [outcome.change.value for outcome in result.outcomes] == ["York"]
    first, second = agent.desk.notes.requests
    assert len(second.messages) >= len(first.messages)
    assert "Leeds" in second.messages[-1].content or "quote" in second.messages[-1].content


async def test_a_delta_that_a_dead_process_left_is_taken_up_beside_the_next_turn(make_agent, scope, store):
    """The next turn's context does not wait for it: the note taker hangs until that turn has been answered."""
    gate = Gate()
    dead = make_agent(["Noted."], notes=ScriptedNotes([note()], gate=gate))
    run = await dead.ask(scope, QUESTION)
    await run.ended()
    await gate.reached.wait()
    await dead.quiet()
    assert await status(store, scope) == "waiting"
    held = Gate()
    agent = make_agent(["Next."], notes=ScriptedNotes([lambda r: note() if r.seq == 1 else "{}"] * 2, gate=held))
    turn = await (await agent.ask(scope, "And now?")).ended()
    assert turn.answer == "Next."
    held.open()
    await agent.noted()
    assert [await status(store, scope, seq) for seq in (1, 2)] == ["applied", "applied"]
    assert len(await store.deltas(scope, [1])) == 1


async def test_the_next_turn_does_not_wait_for_the_notes_of_this_one(make_agent, scope, store):
    gate = Gate()
    agent = make_agent(["One.", "Two."], notes=ScriptedNotes([note()], gate=gate))
    await (await agent.ask(scope, QUESTION)).ended()
    assert (await (await agent.ask(scope, "And now?")).ended()).answer == "Two."
    assert await status(store, scope) == "waiting"
    gate.open()
    await agent.noted()
    assert await status(store, scope) == "applied"


async def test_a_model_as_note_taker_is_sent_the_request_and_nothing_else(make_agent, scope):
    model = ScriptedModel([f"Here you are:\n```json\n{note()}\n```"])
    agent = make_agent(["Noted."], notes=ModelNotes(model))
    result = await noted(agent, scope)
    assert [outcome.change.value for outcome in result.outcomes] == ["York"]
    [request] = model.requests
    assert request.tools == ()
    assert [role for role, _ in request.spoken()] == ["system", "user"]


async def test_a_models_failure_is_told_without_its_makers_words(make_agent, scope, store):
    agent = make_agent(["Noted."], notes=ModelNotes(ScriptedModel([ValueError("sk-secret")] * 3)))
    result = await noted(agent, scope)
    assert result.set_aside == "The model scripted failed (ValueError)."
    [job] = await store.delta_jobs(scope, "set aside")
    assert "secret" not in job.reason


async def test_a_failed_turn_is_noted_too_because_the_question_was_said(make_agent, scope, store):
    agent = make_agent([ConnectionError()], notes=ScriptedNotes([note()]))
    result = await noted(agent, scope)
    assert [outcome.change.value for outcome in result.outcomes] == ["York"]
