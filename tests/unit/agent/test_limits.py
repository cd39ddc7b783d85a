"""How long text is gathered and a note taker is waited for, on a clock that jumps: no test here waits."""

import asyncio
import json

import pytest

from lumina.stores.in_memory import InMemoryStore
from lumina.testing import Gate, Reply
from support.jumping_loop import JumpingLoop


@pytest.fixture
def anyio_backend():
    return ("asyncio", {"loop_factory": JumpingLoop})


@pytest.fixture
def store():
    return InMemoryStore()


async def test_text_is_gathered_for_at_most_40_ms_and_committed_once(make_agent, scope, store):
    commits = []
    append = store.append_events

    async def counted(scope, seq, attempt, bodies):
        if seq:
            commits.append([json.loads(body)["kind"] for body in bodies])
        return await append(scope, seq, attempt, bodies)

    store.append_events = counted
    gate = Gate()
    agent = make_agent([Reply("one ", "two ", "three ", gate, "four ", "five")])
    run = await agent.ask(scope, "Count.")
    loop = asyncio.get_running_loop()
    await gate.reached.wait()
    before = loop.time()
    async for event in run.events():
        if event.kind == "text":
            assert event.text == "one two three"  # the space may go with a marker
            assert loop.time() - before <= 0.04
            break
    gate.open()
    await run.ended()
    # The start goes with the first words; the last ones go with the end of the turn.
    assert [kind for kinds in commits for kind in kinds] == ["turn.started", "context", "text"]
    assert len(commits) <= 2
    texts = [event.text async for event in run.events() if event.kind == "text"]
    assert texts == ["one two three", " four five"]


async def test_much_text_at_once_does_not_wait(make_agent, scope, store):
    gate = Gate()
    agent = make_agent([Reply("x" * 3000, gate, "y")])
    run = await agent.ask(scope, "Long?")
    async for event in run.events():
        if event.kind == "text":
            break
    assert asyncio.get_running_loop().time() < 0.04
    gate.open()
    await run.ended()


async def test_a_note_taker_that_hangs_is_given_up_after_three_tries_and_the_turn_is_safe(make_agent, scope, store):
    from lumina.testing import ScriptedNotes

    agent = make_agent(["Fine."], notes=ScriptedNotes([], gate=Gate()), one_note=60, note_pause=1)
    run = await agent.ask(scope, "I live in York.")
    noting = await run.notes(wait=1000)
    assert noting is not None
    assert noting.set_aside
    assert (await store.turns(scope, [(1, 1)]))[1, 1].delta == "set aside"
    assert len(agent.desk.notes.requests) == 3
    assert asyncio.get_running_loop().time() == pytest.approx(3 * 60 + 1 + 2, abs=1)
