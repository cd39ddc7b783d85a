"""What a provider refuses with, in its own shape, is told to a person, and what may pass is asked again (case P1)."""

import logging

import pytest

from lumina.testing import Call, Reply
from support.providers import Cut, Garbage, Provider, Refuse
from support.providers.errors import KEY

FORMS = ("openai", "ollama", "anthropic", "google")


async def answered(agent, scope, question="How large is the cache?"):
    run = await agent.ask(scope, question)
    events = [event async for event in run.events()]
    return await run.ended(), [event.text for event in events if event.kind == "notice"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reason", ["rate", "server", "overloaded"])
async def test_P1_what_may_pass_is_asked_again_and_told(form, reason, agent_on, scope):
    with Provider([Refuse(reason, after="0"), Refuse(reason), "It keeps 128."], form=form) as provider:
        turn, notices = await answered(agent_on(provider), scope)
        assert (turn.status, turn.answer) == ("complete", "It keeps 128.")
        assert len(notices) == 2
        assert all(f"The model {provider.name()}" in said and "asking again" in said for said in notices)
        assert "(try 2 of 3)" in notices[0]
        assert len({asked.raw for asked in provider.asked}) == 1  # the very same request


@pytest.mark.parametrize(
    ("form", "reason", "said"),
    [
        *((form, "key", "refused the key") for form in FORMS),
        *((form, "no model", "scripted") for form in FORMS),
        *((form, "too long", "that much text") for form in FORMS),
        ("openai", "quota", "quota is used up"),  # Ollama and Google say it as they say that there were too many
        ("anthropic", "quota", ""),
    ],
)
async def test_P1_what_will_not_pass_is_asked_once_and_says_what_to_do(form, reason, said, agent_on, scope, caplog):
    """DEMAND "Search, citations, streams" 20: the thread is usable afterwards."""
    caplog.set_level(logging.DEBUG)
    with Provider([Refuse(reason), "It keeps 128."], form=form) as provider:
        agent = agent_on(provider)
        turn, notices = await answered(agent, scope)
        assert (turn.status, turn.answer) == ("failed", "")
        assert notices == []
        assert said in turn.reason
        assert provider.name() in turn.reason
        assert len(provider.asked) == 1
        if reason == "key":
            assert "Set LUMINA_MODEL_KEY" in turn.reason
        shown = turn.reason + caplog.text
        assert KEY not in shown
        assert "sk-of-this-test" not in shown
        turn, _ = await answered(agent, scope, "And now?")
        assert (turn.status, turn.answer) == ("complete", "It keeps 128.")


async def test_P1_a_provider_that_wants_a_longer_pause_than_the_cap_is_not_waited_for(agent_on, scope):
    with Provider([Refuse("rate", after="3600")]) as provider:
        turn, notices = await answered(agent_on(provider), scope)
        assert turn.status == "failed"
        assert "too many requests" in turn.reason
        assert (len(provider.asked), notices) == (1, [])


async def test_P1_tries_end(agent_on, scope):
    with Provider([Refuse("overloaded")] * 9) as provider:
        turn, notices = await answered(agent_on(provider, model_tries=4), scope)
        assert turn.status == "failed"
        assert (len(provider.asked), len(notices)) == (4, 3)


async def test_P1_nothing_is_asked_again_once_a_word_was_shown(agent_on, scope):
    with Provider([Reply("It keeps ", Cut()), "Never asked."]) as provider:
        turn, notices = await answered(agent_on(provider), scope)
        assert (turn.status, turn.answer) == ("partial", "It keeps ")
        assert (len(provider.asked), notices) == (1, [])


async def test_P1_a_provider_that_is_not_there_is_named_with_what_to_do(agent_on, scope):
    with Provider(form="ollama") as provider:
        agent = agent_on(provider)
    turn, notices = await answered(agent, scope)
    assert turn.reason.startswith(f"No Ollama answers at {provider.url}. Start it (ollama serve), or set OLLAMA_HOST")
    assert len(notices) == 2


async def test_a_model_that_ollama_does_not_have_is_pulled(agent_on, scope):
    with Provider([Refuse("no model")], form="ollama") as provider:
        turn, _ = await answered(agent_on(provider), scope)
        assert "ollama pull scripted" in turn.reason


async def test_P1_a_page_with_200_or_a_redirect_is_no_answer_and_the_address_is_named(agent_on, scope):
    for one in (Garbage(b"<html>Sign in</html>"), Garbage(b"", status=302)):
        with Provider([one, "Never."]) as provider:
            turn, notices = await answered(agent_on(provider), scope)
            assert turn.status == "failed"
            assert "LUMINA_MODEL_URL" in turn.reason
            assert provider.url in turn.reason
            assert (len(provider.asked), notices) == (1, [])


async def test_P1_a_refusal_after_a_tool_call_keeps_the_search(agent_on, scope):
    script = [Call("web_search", {"query": "cache"}), Refuse("overloaded"), "It keeps 128 [1]."]
    with Provider(script, form="anthropic") as provider:
        turn, notices = await answered(agent_on(provider), scope)
        assert (turn.status, turn.answer, turn.cited) == ("complete", "It keeps 128 [1].", (1,))
        assert len(notices) == 1


async def test_a_context_that_was_cut_off_silently_is_told_and_teaches_nothing(agent_on, scope):
    """DEMAND "Search, citations, streams" 21: Ollama's num_ctx."""
    long = "How large is the cache? " * 600
    with Provider(["128."] * 2, form="ollama", tokens=(2048, 3)) as provider:
        agent = agent_on(provider)
        factor = agent.desk.calibration.counter.count(long)
        turn, notices = await answered(agent, scope, long)
        assert turn.status == "complete"
        [said] = notices
        assert "reports 2,048: its server seems to have cut off the beginning" in said
        assert agent.desk.calibration.counter.count(long) == factor
