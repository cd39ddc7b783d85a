"""Promise 9: a turn ends as complete, partial or failed, in a field, with a reason for people; how its searches
ended is a field; a failed search is never shown or treated as an empty one."""

import json
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior, UserError

from lumina.agent.ports import Empty, Failed, Found
from lumina.memory.errors import ProviderError, StoreError
from lumina.testing import Call, Gate, Reply, ScriptedModel, ScriptedNotes, Thought

SEARCH = Call("web_search", {"query": "cache"})
KEY = "sk-secret-in-an-error"
HTTP_401 = ModelHTTPError(401, "gpt", {"error": KEY})


async def one_turn(make_agent, scope, steps, **options):
    agent = make_agent(ScriptedModel(steps), **options)
    run = await agent.ask(scope, "How large is the cache?")
    events = [event async for event in run.events()]
    return await run.ended(), events


ENDINGS = [
    # what the model does, status, how the reason begins, answer
    ("It keeps 128.", "complete", "", "It keeps 128."),
    (Reply("It ke", finish="length"), "partial", "truncated: the model reached the limit", "It ke"),
    (Reply("It ke", finish="content_filter"), "partial", "truncated: the provider's content filter", "It ke"),
    (Reply("It ke", finish="error"), "partial", "interrupted", "It ke"),
    (Reply("It ke", ConnectionError("reset")), "partial", "The model scripted could not be reached", "It ke"),
    (Reply("It ke", TimeoutError()), "partial", "The model scripted did not answer in time", "It ke"),
    (Reply("It ke", ValueError(KEY)), "partial", "The model scripted failed (ValueError)", "It ke"),
    (Reply(), "failed", "The model gave an empty answer", ""),
    (Reply(" \n "), "failed", "The model gave an empty answer", ""),
    (Reply(Thought("Hm.")), "failed", "The model gave an empty answer", ""),
    (Reply(finish="length"), "failed", "truncated", ""),
    (Reply(finish="content_filter"), "failed", "truncated", ""),
    (ConnectionError("refused"), "failed", "The model scripted could not be reached", ""),
    (HTTP_401, "failed", "The model scripted failed (HTTP 401)", ""),
    (UserError(f"no {KEY}"), "failed", "The model scripted is not set up", ""),
    (UnexpectedModelBehavior("odd", KEY), "failed", "The model scripted answered in a form that cannot be read", ""),
    (ProviderError("The quota is used up.", provider="p", retry=False), "failed", "The quota is used up.", ""),
    (ZeroDivisionError(), "failed", "The model scripted failed (ZeroDivisionError)", ""),
]


@pytest.mark.parametrize(("step", "status", "reason", "answer"), ENDINGS)
async def test_p1_p2_p3_whatever_a_model_does_the_turn_ends_and_says_how(
    make_agent, scope, store, step, status, reason, answer
):
    turn, events = await one_turn(make_agent, scope, [step, "Next."], model_tries=1)
    assert (turn.status, turn.answer) == (status, answer)
    assert turn.reason.startswith(reason)
    assert (turn.reason == "") == (status == "complete")
    assert [event.kind for event in events].count("turn.finished") == 1
    assert (events[-1].kind, events[-1].status, events[-1].reason) == ("turn.finished", status, turn.reason)
    assert KEY not in json.dumps([event.model_dump(mode="json") for event in events])
    page = (await store.page(scope))[0]
    assert (page.status, page.reason) == (status, turn.reason)
    assert (await store.thread_info(scope)).running == 0


@pytest.mark.parametrize("state", ["incomplete", "interrupted"])
async def test_an_answer_that_its_provider_calls_unfinished_is_partial(make_agent, scope, state):
    class Unfinished(ScriptedModel):
        @asynccontextmanager
        async def request_stream(self, *args, **named):
            async with super().request_stream(*args, **named) as stream:
                whole = stream.get
                stream.get = lambda: replace(whole(), state=state)
                yield stream

    run = await make_agent(Unfinished(["It ke"])).ask(scope, "How large is the cache?")
    turn = await run.ended()
    assert (turn.status, turn.answer) == ("partial", "It ke")
    assert turn.reason == "interrupted: the model's answer ended early"


@pytest.mark.parametrize(("said", "answer"), [((), ""), (("It ke",), "It ke")])
async def test_a_turn_that_was_stopped_is_partial_and_says_so_even_without_a_word(make_agent, scope, said, answer):
    gate = Gate()
    agent = make_agent([Reply(*said, gate)])
    run = await agent.ask(scope, "How large is the cache?")
    await gate.reached.wait()
    run.stop()
    turn = await run.ended()
    assert (turn.status, turn.reason, turn.answer) == ("partial", "stopped", answer)


def breaks_off():
    raise OSError("the network is down")


FAILURES = [
    (breaks_off, "failed", "It broke off (OSError)."),
    (lambda: Failed(provider="p", reason="HTTP 503", retry=True), "failed", "HTTP 503"),
    (lambda: Found(provider="p", hits=()), "failed", "It claims hits and gave none."),
    (lambda: Empty(provider="p", reason="nothing like it"), "empty", "nothing like it"),
]


@pytest.mark.parametrize(("search", "outcome", "reason"), FAILURES)
async def test_model_person_and_field_are_told_the_same_of_how_a_search_ended(
    make_agent, scope, store, search, outcome, reason
):
    class Ending:
        name = "ending"

        async def search(self, scope, query, *, limit):
            return search()

    _, events = await one_turn(make_agent, scope, [SEARCH, "I could not say."], search=Ending())
    [finished] = [event for event in events if event.kind == "search.finished"]
    assert (finished.outcome, finished.reason, finished.hits) == (outcome, reason, 0)
    [call] = await store.tool_calls(scope, 1, 1)
    assert json.loads(call.result) == {"outcome": outcome, "reason": reason}
    assert events[-1].searched == outcome


async def test_a_search_that_was_refused_is_not_shown_as_one_that_found_nothing(make_agent, scope, store):
    notes = ScriptedNotes([json.dumps({"ops": [
        {"op": "set", "key": "home.city", "value": "Zyxwvutown", "quote": "I live in Zyxwvutown", "about": "subject"}
    ]})])  # fmt: skip
    agent = make_agent(["Ok.", Call("web_search", {"query": "weather in Zyxwvutown"}), "No."], notes=notes)
    await (await agent.ask(scope, "I live in Zyxwvutown.")).notes(wait=60)
    elsewhere = scope.of_subject.thread("elsewhere")
    run = await agent.ask(elsewhere, "What is the weather?")
    events = [event async for event in run.events()]
    assert [event.outcome for event in events if event.kind == "search.finished"] == ["refused"]
    assert events[-1].searched == "failed"
    assert [page.searched for page in await store.page(elsewhere)] == ["failed"]


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        ("It keeps 128.", "It keeps 128."),
        (Reply("It ke", finish="length"), "It ke\n(stopped here)"),
        (Reply(), "(no answer was given)"),
        (ConnectionError(), "(no answer was given)"),
    ],
)
async def test_the_next_turn_sees_how_the_last_one_ended_and_never_an_empty_message(make_agent, scope, step, shown):
    agent = make_agent([step, "Next."], model_tries=1)
    await (await agent.ask(scope, "First?")).ended()
    await (await agent.ask(scope, "Second?")).ended()
    spoken = agent.desk.model.requests[-1].spoken()
    assert [row for row in spoken if row[0] == "assistant"] == [("assistant", shown)]


async def test_p6_after_a_failed_search_nothing_new_can_be_cited_even_by_a_model_that_was_told_to(
    make_agent, scope, store, library
):
    library.down = "HTTP 503"
    turn, events = await one_turn(make_agent, scope, [SEARCH, "It keeps 128 [1], as [2] says 【1】."])
    assert turn.answer == "It keeps 128, as says."
    assert turn.cited == ()
    assert [event.marker for event in events if event.kind == "citation.removed"] == ["[1]", "[2]", "【1】"]
    assert not [event for event in events if event.kind == "source"]
    assert events[-1].searched == "failed"
    assert await store.sources(scope) == []


@pytest.mark.parametrize(
    ("outcomes", "searched"),
    [
        ([], "not needed"),
        (["found"], "found"),
        (["empty"], "empty"),
        (["failed"], "failed"),
        (["empty", "failed"], "failed"),
        (["failed", "empty"], "failed"),
        (["failed", "found"], "found"),
        (["found", "failed"], "found"),
        (["empty", "found"], "found"),
    ],
)
async def test_how_the_searches_of_a_turn_ended_is_one_field(make_agent, scope, store, library, outcomes, searched):
    class Mixed:
        name = "mixed"

        async def search(self, scope, query, *, limit):
            library.down = "down" if query == "failed" else ""
            return await library.search(scope, "cache" if query == "found" else "xyzzy", limit=limit)

    calls = [Call("web_search", {"query": outcome}) for outcome in outcomes]
    _, events = await one_turn(make_agent, scope, [*([calls] if calls else []), "Done."], search=Mixed())
    assert [event.outcome for event in events if event.kind == "search.finished"] == outcomes
    assert events[-1].searched == searched
    assert (await store.page(scope))[0].searched == searched


async def test_a_turn_whose_citations_cannot_be_matched_still_ends_with_its_answer(make_agent, scope, monkeypatch):
    from lumina.agent import draft

    def broken(*_):
        raise ValueError("odd text")

    monkeypatch.setattr(draft, "support", broken)
    turn, _ = await one_turn(make_agent, scope, [SEARCH, "It keeps 128 [1]."])
    assert (turn.status, turn.answer) == ("complete", "It keeps 128 [1].")


async def test_d7_when_the_end_cannot_be_committed_the_thread_goes_on_as_soon_as_it_can(
    make_agent, scope, store, monkeypatch
):
    """A full disk: whoever waits is told, and once there is room again the turn is ended and the next one answered."""
    gate = Gate()
    agent = make_agent([Reply("It keeps 128. ", gate, "Later words."), "Next."])
    finish = store.finish_turn

    async def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(store, "finish_turn", full)
    run = await agent.ask(scope, "How large is the cache?")
    async for event in run.events():
        if event.kind == "text":
            break
    gate.open()
    with pytest.raises(OSError, match="disk full"):
        await run.ended()
    with pytest.raises(OSError, match="disk full"):
        await agent.ask(scope, "Are you there?")
    monkeypatch.setattr(store, "finish_turn", finish)
    assert (await (await agent.ask(scope, "Are you there?")).ended()).answer == "Next."
    first, second = await store.page(scope)
    assert (first.status, first.reason) == ("partial", "interrupted")
    assert first.answer.startswith("It keeps 128.")
    assert "It keeps 128. Later words.".startswith(first.answer)
    events = [event async for event in agent.follow(scope, 1, 1)]
    assert [event.kind for event in events].count("turn.finished") == 1
    assert second.seq == 2


async def test_a_search_whose_finds_cannot_be_kept_has_failed_and_was_not_unneeded(
    make_agent, scope, store, monkeypatch
):
    async def damaged(*_):
        raise StoreError("The stored source cannot be read.")

    monkeypatch.setattr(store, "register_source", damaged)
    turn, events = await one_turn(make_agent, scope, [SEARCH, "It keeps 128 [1]."])
    assert (turn.status, turn.answer) == ("complete", "It keeps 128.")
    assert [event.outcome for event in events if event.kind == "search.finished"] == ["failed"]
    assert events[-1].searched == "failed"
