"""The after-turn note over the vendors' real formats: what goes over the wire is what the receipt shows, in the form
that the provider has for structured answers, and what it took is kept."""

import json

import pytest
from pydantic_ai.models import override_allow_model_requests

from lumina.memory.note import note_schema
from lumina.wiring import find_model, note_taker
from support.providers import Garbage, Provider

QUESTION = "I live in York. Which cache is used?"
NOTE = json.dumps({
    "ops": [{"op": "set", "key": "home.city", "value": "York", "quote": "I live in York", "offer": "",
             "about": "subject", "source": None}],
    "followups": ["How large is it?"], "title": "Caches",
})  # fmt: skip
# Who is paid. What only speaks as OpenAI does, on this machine, is not OpenAI.
WHO = {"openai": "local:scripted", "anthropic": "anthropic:scripted", "google": "google:scripted",
       "ollama": "ollama:scripted"}  # fmt: skip


@pytest.mark.parametrize("form", WHO)
async def test_what_a_provider_is_asked_for_the_note_is_what_the_receipt_shows(form, agent_on, scope, store):
    """Promise 8 at the second seam: the bytes of the request."""
    with Provider(["The LRU cache."], form=form, note=NOTE, tokens=(900, 40)) as provider:
        agent = agent_on(provider, model_notes=True)
        noted = await (await agent.ask(scope, QUESTION)).notes(wait=60)
        assert [outcome.change.value for outcome in noted.outcomes] == ["York"]
        assert (noted.followups, noted.title) == (("How large is it?",), "Caches")
        answer, note = await (await agent.thread(scope)).show(1)
        assert (answer.receipt.purpose, note.receipt.purpose) == ("answer", "delta")
        assert note.same is True
        assert note.receipt.model
        [asked] = provider.noted
        assert [(role, text) for role, text, _ in asked.rows()] == [(m.role, m.content) for m in note.messages]
        assert asked.tools == ()
        uses = await store.usage(scope)
        assert [use.purpose for use in uses] == ["answer", "note"]
        assert (uses[1].input, uses[1].output) == (900, 40)
        assert uses[0].model == uses[1].model == WHO[form]


def schema_asked(form, body):
    if form == "openai":
        assert body["response_format"]["json_schema"]["strict"] is True
        return body["response_format"]["json_schema"]["schema"]
    return body["output_config"]["format"]["schema"]


@pytest.mark.parametrize(("form", "model"), [("openai", "gpt-5"), ("anthropic", "claude-sonnet-5")])
async def test_the_note_is_asked_by_its_schema_as_the_provider_has_it(form, model, make_agent, scope, store):
    """A model that may write much is asked for it as a stream: then it is the second one."""
    with Provider(["Yes.", NOTE], form=form, note=NOTE) as provider, override_allow_model_requests(True):
        url = provider.environment()["LUMINA_MODEL_URL"]
        chosen = find_model(provider.name(model), url=url, key="sk-of-this-test")
        agent = make_agent(chosen, notes=note_taker(chosen))
        noted = await (await agent.ask(scope, QUESTION)).notes(wait=60)
        await chosen.aclose()
        assert noted.title == "Caches"
        asked = [*provider.asked, *provider.noted][-1]
        schema = schema_asked(form, asked.body)
        assert set(schema["properties"]) == {"ops", "followups", "title"}
        assert schema["$defs"]["Op"]["required"] == note_schema()["$defs"]["Op"]["required"]
        assert "description" not in json.dumps(schema["$defs"])


async def test_a_server_that_refuses_the_schema_is_asked_in_words(agent_on, scope):
    refused = [True, False]

    def note(asked):
        if refused.pop(0):
            assert "response_format" in asked.body
            return Garbage(b'{"error": {"message": "response_format is not supported"}}', "application/json", 400)
        return NOTE

    with Provider(["Yes."], form="openai", note=note) as provider:
        noted = await (await agent_on(provider, model_notes=True).ask(scope, QUESTION)).notes(wait=60)
        assert noted.title == "Caches"
        assert "response_format" not in provider.noted[1].body
        assert provider.noted[0].rows() == provider.noted[1].rows()
