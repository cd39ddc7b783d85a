"""What must never be stored, in a turn of the agent: masked in the question before it is kept, and in the answer as it
streams, however the text was cut."""

import json

import pytest

from lumina.memory.schema import Schema
from lumina.testing import Call, Reply, ScriptedNotes, Thought
from support.cards import shows_card

CARD, HIDDEN = "4111 1111 1111 1111", "████ ████ ████ ████"


@pytest.fixture
def masked_agent(make_agent):
    def make(steps, **more):
        agent = make_agent(steps, **more)
        agent.schema = Schema(never=("card_number",))
        return agent

    return make


@pytest.mark.parametrize("size", [1, 3, 7, 200])
async def test_the_streamed_the_stored_and_the_reloaded_answer_are_masked_alike(masked_agent, scope, store, size):
    answer = f"The cache keeps 128 results [1]. You gave {CARD}, and 41 more."
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
    thought = Thought(f"they said {CARD}")
    agent = masked_agent([Call("web_search", {"query": f"cache {CARD}"}), Reply(thought, *pieces)])
    run = await agent.ask(scope, f"My card is {CARD}. How large is the cache?")
    events = [event async for event in run.events()]
    turn = await run.ended()
    assert turn.question == f"My card is {HIDDEN}. How large is the cache?"
    assert turn.answer == answer.replace(CARD, HIDDEN)
    assert "".join(event.text for event in events if event.kind == "text") == turn.answer
    [citation] = (await store.page(scope))[0].citations
    assert turn.answer[citation.position :].startswith("[1]")
    told = json.dumps([event.model_dump(mode="json") for event in events], ensure_ascii=False)
    assert "".join(event.text for event in events if event.kind == "thinking") == f"they said {HIDDEN}"
    assert not shows_card(told, CARD)
    for record in await store.tool_calls(scope, 1, 1):
        assert not shows_card(record.arguments, CARD)
    assert not shows_card(repr(agent.desk.model.requests), CARD), "the model is sent the masked text"
    assert all(shown.same for shown in await (await agent.thread(scope)).show(1))


async def test_what_was_held_back_is_there_when_the_answer_breaks_off(masked_agent, scope):
    agent = masked_agent([Reply("It costs 41", RuntimeError("gone"))])
    turn = await (await agent.ask(scope, "How much?")).ended()
    assert (turn.status, turn.answer) == ("partial", "It costs 41")


async def test_follow_ups_titles_and_a_note_that_cannot_be_read_are_masked(masked_agent, scope, store):
    reply = json.dumps({"ops": [], "title": f"About {CARD}", "followups": [f"Is {CARD} mine?"]})
    agent = masked_agent(["Yes."], notes=ScriptedNotes([f'{{"{CARD}": 1, "{CARD}": 2}}', reply]))
    run = await agent.ask(scope, "Hello?")
    await run.notes(wait=60)
    assert (await store.thread_info(scope)).title == f"About {HIDDEN}"
    assert (await store.page(scope))[0].followups == (f"Is {HIDDEN} mine?",)
    jobs = await store.delta_jobs(scope, "applied")
    assert not shows_card(repr(jobs) + repr(await store.events(scope, 0, 0)), CARD)
