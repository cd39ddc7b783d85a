"""Calls that are made again, on a clock that jumps: how often, after how long, and when not."""

import asyncio

import pytest
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
)

from lumina.stores.in_memory import InMemoryStore
from lumina.testing import Reply, ScriptedModel, Thought
from support.jumping_loop import JumpingLoop


@pytest.fixture
def anyio_backend():
    return ("asyncio", {"loop_factory": JumpingLoop})


@pytest.fixture
def store():
    return InMemoryStore()


def refused(kind, status: int = 429, after: str = "") -> ModelHTTPError:
    return ModelHTTPError.for_category(
        kind, status_code=status, model_name="m", headers={"retry-after": after} if after else None
    )


async def asked(make_agent, scope, script, **limits):
    model = ScriptedModel(script)
    run = await make_agent(model, **limits).ask(scope, "How large is the cache?")
    events = [event async for event in run.events()]
    return await run.ended(), len(model.requests), [event for event in events if event.kind == "notice"]


async def test_P1_the_pause_that_the_provider_asks_for_is_kept(make_agent, scope):
    turn, calls, notices = await asked(make_agent, scope, [refused(ModelRateLimitError, after="7"), "It keeps 128."])
    assert (turn.status, calls) == ("complete", 2)
    assert 7 <= asyncio.get_running_loop().time() < 8
    assert [(notice.now, "in 7 s (try 2 of 3)" in notice.text) for notice in notices] == [(True, True)]


async def test_P1_pauses_double_and_are_spread_and_the_turn_has_one_deadline(make_agent, scope):
    script = [refused(ModelOverloadedError, 503)] * 20
    turn, calls, _ = await asked(make_agent, scope, script, model_tries=6, first_pause=1, longest_pause=30, turn=180)
    assert (turn.status, calls) == ("failed", 6)
    assert 31 / 2 <= asyncio.get_running_loop().time() <= 31
    before = asyncio.get_running_loop().time()
    turn, calls, _ = await asked(make_agent, scope, script, model_tries=99, first_pause=8, longest_pause=30, turn=40)
    assert turn.reason == "stopped: the turn took longer than 40 seconds"
    assert asyncio.get_running_loop().time() - before <= 41


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (ModelConnectionError("m", "refused"), 3),
        (refused(ModelOverloadedError, 529), 3),
        (ConnectionError("reset"), 3),
        (refused(ModelRateLimitError, after="31"), 1),
        (refused(ModelQuotaExceededError), 1),
        (refused(ModelAuthenticationError, 401), 1),
        (ModelAPIError("m", "who knows"), 1),
        (ValueError("garbage"), 1),
    ],
)
async def test_P1_only_what_may_pass_is_tried_again(error, calls, make_agent, scope):
    turn, made, notices = await asked(make_agent, scope, [error] * 3)
    assert (turn.status, made, len(notices)) == ("failed", calls, calls - 1)


@pytest.mark.parametrize("shown", ["It keeps ", "thought"])
async def test_P1_nothing_is_tried_again_after_something_was_shown(shown, make_agent, scope):
    piece = Thought("hm") if shown == "thought" else shown
    turn, made, notices = await asked(make_agent, scope, [Reply(piece, ConnectionError("reset")), "Never."])
    assert (made, notices) == (1, [])
    assert turn.status == ("failed" if shown == "thought" else "partial")
