"""Promise 9, where a limit of time, size or calls ends a turn: on a clock that jumps, so that no test here waits."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import pytest

from lumina.memory.scope import ThreadScope
from lumina.stores.in_memory import InMemoryStore
from lumina.testing import Call, Gate, Reply, ScriptedModel, Thought
from support.jumping_loop import JumpingLoop

SEARCH = Call("web_search", {"query": "cache"})


@pytest.fixture
def anyio_backend():
    return ("asyncio", {"loop_factory": JumpingLoop})


@pytest.fixture
def store():
    return InMemoryStore()


async def ended(agent, scope: ThreadScope):
    return await (await agent.ask(scope, "How large is the cache?")).ended()


async def test_p4_a_model_that_says_nothing_ends_the_turn_as_failed(make_agent, scope):
    agent = make_agent([Reply(Gate(), "Never.")], first_piece=90)
    turn = await ended(agent, scope)
    assert turn.status == "failed"
    assert turn.reason == "interrupted: the model said nothing for 90 seconds"
    assert asyncio.get_running_loop().time() == pytest.approx(90, abs=1)


async def test_p4_a_model_that_falls_silent_ends_the_turn_as_partial(make_agent, scope):
    agent = make_agent([Reply("It keeps", Gate(), " 128.")], silence=60)
    turn = await ended(agent, scope)
    assert (turn.status, turn.answer) == ("partial", "It keeps")
    assert turn.reason.startswith("interrupted")


async def test_words_that_keep_coming_are_no_silence_however_long_they_take(make_agent, scope):
    class Slow(ScriptedModel):
        @asynccontextmanager
        async def request_stream(self, *args, **named):
            async with super().request_stream(*args, **named) as stream:
                yield Dripping(stream)

    class Dripping:
        """The stream with 40 seconds before each of its events."""

        def __init__(self, stream):
            self._stream = stream

        def __getattr__(self, name):
            return getattr(self._stream, name)

        async def __aiter__(self):
            async for event in self._stream:
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.Event().wait(), 40)
                yield event

    agent = make_agent(Slow(["It keeps 128 results."]), silence=60, turn=10_000)
    turn = await ended(agent, scope)
    assert (turn.status, turn.answer) == ("complete", "It keeps 128 results.")
    assert asyncio.get_running_loop().time() > 100


async def test_p4_a_turn_ends_at_its_deadline_even_if_words_keep_coming(make_agent, scope):
    class Dripping:
        name = "dripping"

        async def search(self, scope, query, *, limit):
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 15)

    calls = [[SEARCH] * 8, "Never said."]
    agent = make_agent(calls, search=Dripping(), turn=40)
    turn = await ended(agent, scope)
    assert turn.status == "failed"
    assert turn.reason == "stopped: the turn took longer than 40 seconds"


async def test_a_search_without_an_answer_fails_in_its_own_time_and_the_turn_goes_on(make_agent, scope, store):
    class Hanging:
        name = "hanging"

        async def search(self, scope, query, *, limit):
            await asyncio.Event().wait()

    agent = make_agent([SEARCH, "I could not search."], search=Hanging(), one_search=20)
    turn = await ended(agent, scope)
    assert turn.status == "complete"
    [page] = await store.page(scope)
    assert page.searched == "failed"
    [record] = await store.tool_calls(scope, 1, 1)
    assert json.loads(record.result) == {"outcome": "failed", "reason": "No answer within 20 seconds."}


async def test_p4_an_answer_without_end_is_cut(make_agent, scope):
    agent = make_agent([Reply(*["again and "] * 50)], answer=100)
    turn = await ended(agent, scope)
    assert turn.status == "partial"
    assert turn.reason == "truncated: the answer reached 100 characters"
    assert 100 < len(turn.answer) <= 110


async def test_p4_thinking_without_end_is_cut(make_agent, scope):
    agent = make_agent([Reply(*[Thought("hm ")] * 50, "Never said.")], thinking=100)
    turn = await ended(agent, scope)
    assert (turn.status, turn.answer) == ("failed", "")
    assert "thought" in turn.reason


async def test_p5_a_model_that_only_calls_tools_is_asked_a_limited_number_of_times(make_agent, scope, store):
    agent = make_agent([SEARCH] * 20, model_calls=3)
    turn = await ended(agent, scope)
    assert (turn.status, turn.reason) == ("failed", "stopped: the model was asked 3 times and still asked for tools")
    assert len(agent.desk.model.requests) == 3
    assert len(await store.tool_calls(scope, 1, 1)) == 2
    assert [request.settings for request in agent.desk.model.requests] == [None, None, {"tool_choice": "none"}]
