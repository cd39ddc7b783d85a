"""What the model calls of a turn took is kept, call by call, whatever becomes of the turn."""

import json

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from lumina.agent.model_notes import ModelNotes
from lumina.agent.ports import NoteReply, Tokens
from lumina.agent.spending import model_ref
from lumina.memory.errors import StoreError
from lumina.testing import Call, FixedClock, Gate, Reply, ScriptedModel, ScriptedNotes

QUESTION = "How large is the cache?"
NOTHING = json.dumps({"ops": []})


def told(uses):
    return [(use.seq, use.attempt, use.purpose, use.model) for use in uses]


async def test_every_call_of_a_turn_and_every_try_of_its_note_is_kept(make_agent, scope, store):
    model = ScriptedModel([Call("web_search", {"query": "cache"}), "It keeps 128."])
    notes = ScriptedModel(["no JSON at all", NOTHING], name="small")
    agent = make_agent(model, notes=ModelNotes(notes))
    run = await agent.ask(scope, QUESTION)
    turn = await run.ended()
    await run.notes(wait=60)
    uses = await store.usage(scope)
    answer, note = "lumina.testing:scripted", "lumina.testing:small"
    assert told(uses) == [(1, 1, "answer", answer)] * 2 + [(1, 1, "note", note)] * 2
    assert all(use.input > 0 and use.output > 0 for use in uses)
    page = (await store.page(scope))[0]
    summed = json.loads(page.usage)
    assert (summed["calls"], summed["input"]) == (2, sum(use.input for use in uses[:2]))
    assert turn.status == "complete"


async def test_the_day_is_that_of_the_call_in_utc(make_agent, scope, store):
    from datetime import UTC, datetime

    agent = make_agent(["Yes."], clock=FixedClock(datetime(2026, 11, 30, 23, 59, tzinfo=UTC)))
    agent.zone = "Asia/Tokyo"
    await (await agent.ask(scope, QUESTION)).ended()
    assert [use.day for use in await store.usage(scope)] == ["2026-11-30"]


async def test_what_a_stopped_call_took_is_kept_too(make_agent, scope, store):
    gate = Gate()
    agent = make_agent([Reply("It ", gate, "keeps")])
    run = await agent.ask(scope, QUESTION)
    await gate.reached.wait()
    run.stop()
    assert (await run.ended()).status == "partial"
    assert told(await store.usage(scope)) == [(1, 1, "answer", "lumina.testing:scripted")]


async def test_a_turn_that_breaks_off_keeps_what_its_calls_took(make_agent, scope, store):
    agent = make_agent([Call("web_search", {"query": "cache"}), Reply("It", ConnectionError("reset"))])
    assert (await (await agent.ask(scope, QUESTION)).ended()).status == "partial"
    assert len(await store.usage(scope)) == 2


async def test_a_note_takers_own_tokens_are_kept_and_a_problem_counts_as_a_try(make_agent, scope, store):
    tokens = Tokens(input=10, output=4, cached=6, cache_written=2, reasoning=1)
    cut = NoteReply(text=NOTHING, model="openai:gpt-5", tokens=tokens, problem="it was cut off")
    agent = make_agent(["Yes."], notes=ScriptedNotes([cut, NoteReply(text=NOTHING, model="openai:gpt-5"), NOTHING]))
    await (await agent.ask(scope, QUESTION)).notes(wait=60)
    cut_off, second = [use for use in await store.usage(scope) if use.purpose == "note"]
    assert (cut_off.input, cut_off.output, cut_off.cached, cut_off.cache_written, cut_off.reasoning) == (10, 4, 6, 2, 1)
    assert second.input == 0
    assert (await store.turns(scope, [(1, 1)]))[1, 1].delta == "applied"


async def test_a_note_taker_without_a_model_has_no_account(make_agent, scope, store):
    agent = make_agent(["Yes."], notes=ScriptedNotes([NOTHING]))
    await (await agent.ask(scope, QUESTION)).notes(wait=60)
    assert [use.purpose for use in await store.usage(scope)] == ["answer"]


async def test_an_account_that_cannot_be_written_keeps_no_turn_from_ending(make_agent, scope, store, monkeypatch):
    async def full(*_):
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store, "add_usage", full)
    agent = make_agent(["Yes."], notes=ModelNotes(ScriptedModel([NOTHING])))
    run = await agent.ask(scope, QUESTION)
    assert (await run.ended()).answer == "Yes."
    await run.notes(wait=60)
    assert (await store.turns(scope, [(1, 1)]))[1, 1].delta == "applied"


@pytest.mark.parametrize(
    ("url", "ref"),
    [
        ("https://api.openai.com/v1", "openai:m"),
        ("http://127.0.0.1:8080/v1", "local:m"),
        ("http://gpu-box:8000/v1", "local:m"),
        ("http://192.168.1.4/v1", "local:m"),
        ("http://[::1]:8000/v1", "local:m"),
        ("https://models.example.org/v1", "compatible:m"),
    ],
)
def test_a_server_that_only_speaks_openais_format_is_not_taken_for_openai(url, ref):
    assert model_ref(OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="k"))) == ref
