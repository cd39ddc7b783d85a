"""A language model as the note taker: how it is held to the note's form, what is read of its answer, what it took."""

import json

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.usage import RequestUsage

from lumina.agent.model_notes import ModelNotes
from lumina.agent.ports import Tokens
from lumina.memory.errors import ProviderError
from lumina.memory.note import delta_request, note_schema
from lumina.memory.state import State
from lumina.memory.turns import Turn

QUESTION = "I live in York."
NOTE = json.dumps({"ops": [{"op": "set", "key": "home.city", "value": "York", "quote": "I live in York"}]})
BY_SCHEMA = ModelProfile(supports_json_schema_output=True, supports_json_object_output=True)
BY_JSON = ModelProfile(supports_json_schema_output=False, supports_json_object_output=True)
PLAIN = ModelProfile(supports_json_schema_output=False, supports_json_object_output=False)


def request():
    turn = Turn(
        seq=1, attempt=1, question=QUESTION, answer="Noted.", status="complete", reason="", day="2026-11-30",
        delta="waiting",
    )  # fmt: skip
    return delta_request(turn, state=State(), read_sources=False)


class Asked:
    """A model by pydantic-ai's own double: what it was asked with, and what it says."""

    def __init__(self, *said, profile=None, finish="stop"):
        self.forms = []
        self.sent = []
        self._said = list(said)
        self._finish = finish
        self.model = FunctionModel(self._answer, profile=profile)

    def _answer(self, messages, info):
        self.forms.append(info.model_request_parameters)
        self.sent.append(messages)
        said = self._said.pop(0)
        if isinstance(said, Exception):
            raise said
        parts = [ThinkingPart('{"ops": [{"op": "retract"}]}'), TextPart(said)]
        usage = RequestUsage(input_tokens=900, output_tokens=40, cache_read_tokens=700, output_reasoning_tokens=8)
        return ModelResponse(parts=parts, finish_reason=self._finish, usage=usage)


async def test_where_the_provider_has_structured_output_the_note_is_asked_by_its_schema():
    asked = Asked(NOTE, profile=BY_SCHEMA)
    reply = await ModelNotes(asked.model).note(request())
    [form] = asked.forms
    assert form.output_mode == "native"
    assert form.output_object.json_schema == note_schema()
    assert form.output_object.strict
    assert not form.instruction_parts  # nothing is added to what the receipt has
    assert reply.text == NOTE


@pytest.mark.parametrize(("profile", "mode"), [(BY_JSON, "prompted"), (PLAIN, "text")])
async def test_where_it_has_none_it_is_asked_for_json_and_nothing_is_added_either(profile, mode):
    asked = Asked(NOTE, profile=profile)
    await ModelNotes(asked.model).note(request())
    [form] = asked.forms
    assert form.output_mode == mode
    assert not form.instruction_parts
    [message] = asked.sent[0]
    assert [part.content for part in message.parts] == [each.content for each in request().messages]


async def test_a_server_that_refuses_the_form_is_asked_without_it_from_then_on():
    refuses = ModelHTTPError(status_code=400, model_name="m", body={"error": "response_format is not supported"})
    asked = Asked(refuses, NOTE, NOTE, profile=BY_SCHEMA)
    notes = ModelNotes(asked.model)
    assert (await notes.note(request())).text == NOTE
    assert (await notes.note(request())).text == NOTE
    assert [form.output_mode for form in asked.forms] == ["native", "text", "text"]


async def test_a_request_that_is_refused_without_the_form_too_is_told_and_the_form_is_tried_again():
    refused = ModelHTTPError(status_code=400, model_name="m", body=None)
    asked = Asked(refused, refused, NOTE, profile=BY_SCHEMA)
    notes = ModelNotes(asked.model)
    with pytest.raises(ProviderError):
        await notes.note(request())
    await notes.note(request())
    assert [form.output_mode for form in asked.forms] == ["native", "text", "native"]


async def test_what_the_call_took_is_told_beside_the_text():
    reply = await ModelNotes(Asked(NOTE).model).note(request())
    assert reply.tokens == Tokens(input=900, output=40, cached=700, reasoning=8)
    assert reply.model == "function:function:_answer:"


@pytest.mark.parametrize("finish", ["length", "content_filter", "error"])
async def test_demand_17_a_note_that_was_cut_off_changes_nothing_even_if_it_can_be_read(
    finish, make_agent, scope, store
):
    """CASES D10, DEMAND 17: three tries, then it is set aside; the state is what it was."""
    agent = make_agent(["Noted."], notes=ModelNotes(Asked(NOTE, NOTE, NOTE, finish=finish).model))
    noted = await (await agent.ask(scope, QUESTION)).notes(wait=60)
    assert "cut off" in noted.set_aside or "filter" in noted.set_aside or "broke" in noted.set_aside
    assert (await (await agent.thread(scope)).profile()).current() == ()
    assert (await (await agent.thread(scope)).state()).current() == ()


@pytest.mark.parametrize("said", [f"```json\n{NOTE}\n```", f"Here it is: {NOTE} Anything else?"])
async def test_json_in_a_fence_or_among_words_is_applied(said, make_agent, scope):
    agent = make_agent(["Noted."], notes=ModelNotes(Asked(said).model))
    noted = await (await agent.ask(scope, QUESTION)).notes(wait=60)
    assert [outcome.change.value for outcome in noted.outcomes] == ["York"]


async def test_d10_a_truncated_delta_changes_nothing_and_absence_deletes_nothing(make_agent, scope):
    """CASES D10: a list that was cut short, then an empty one: what was noted before stays."""
    cut = NOTE[: len(NOTE) // 2]
    agent = make_agent(["Noted.", "Fine."], notes=ModelNotes(Asked(NOTE, cut, '{"ops": []}').model))
    await (await agent.ask(scope, QUESTION)).notes(wait=60)
    await (await agent.ask(scope, "And the weather there?")).notes(wait=60)
    thread = await agent.thread(scope)
    current = [*(await thread.state()).current(), *(await thread.profile()).current()]
    assert [(entry.key, entry.value) for entry in current] == [("home.city", "York")]


async def test_a_greeting_costs_no_call(make_agent, scope, store):
    asked = Asked()
    agent = make_agent(["Hello."], notes=ModelNotes(asked.model))
    assert await (await agent.ask(scope, "Hi!")).notes(wait=60) is None
    assert asked.sent == []
    assert (await store.turns(scope, [(1, 1)]))[1, 1].delta == "applied"
