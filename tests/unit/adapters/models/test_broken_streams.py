"""Streams that end badly, on real sockets: each ends the turn honestly, and leaves no task and no connection behind."""

import asyncio

import pytest

from lumina.testing import Call, Reply, Thought
from support.providers import Cut, Garbage, Hold, Provider

FORMS = ("openai", "ollama", "anthropic", "google")
BYTES = b"\x00\xff\xfe garbage \xc3\x28"


async def answered(agent, scope, question="How large is the cache?"):
    return await (await agent.ask(scope, question)).ended()


@pytest.fixture(autouse=True)
async def nothing_is_left():
    """P4: the tasks of a turn are gone when it has ended."""
    yield
    left = [task for task in asyncio.all_tasks() if "TestRunner" not in repr(task.get_coro())]
    assert left == []


async def usable_afterwards(agent, scope, provider) -> None:
    turn = await answered(agent, scope, "And now?")
    assert (turn.status, turn.answer) == ("complete", "It keeps 128.")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("step", "status", "answer", "said"),
    [
        (Reply(), "failed", "", "empty answer"),
        (Reply("It ", "keeps", finish="length"), "partial", "It keeps", "truncated: the model reached the limit"),
        (Reply("It ", "keeps", finish="content_filter"), "partial", "It keeps", "content filter"),
        (Reply(finish="content_filter"), "failed", "", "content filter"),
        (Reply(finish="length"), "failed", "", "reached the limit"),
        (Reply("It ", "keeps", Cut()), "partial", "It keeps", ""),
        (Reply(Thought("hm"), Cut()), "failed", "", ""),
        (Garbage(b"<html>502 Bad Gateway</html>"), "failed", "", "text/html"),
    ],
    ids=["empty", "length", "filtered", "filtered empty", "length empty", "cut", "cut in thought", "html"],
)
async def test_P2_P3_each_ending_has_its_reason(form, step, status, answer, said, agent_on, scope):
    """Cases P2 and P3."""
    with Provider([step, "It keeps 128."], form=form) as provider:
        agent = agent_on(provider)
        turn = await answered(agent, scope)
        assert (turn.status, turn.answer.strip()) == (status, answer)
        assert said in turn.reason
        assert turn.reason
        await usable_afterwards(agent, scope, provider)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("garbage", [BYTES, b"data: {broken\n\n", b"data: " + BYTES + b"\n\n", b"data: [1, 2]\n\n"])
@pytest.mark.parametrize("where", ["instead", "amid"])
async def test_P3_garbage_ends_the_turn_with_a_reason_and_stands_in_no_log(
    form, garbage, where, agent_on, scope, caplog
):
    """Case P3."""
    caplog.set_level("DEBUG", "lumina")
    kind = "text/event-stream"
    step = Garbage(garbage, kind) if where == "instead" else Reply("It ", "keeps", Garbage(garbage), Cut())
    with Provider([step] + [step] * 2 * (where == "instead") + ["It keeps 128."], form=form) as provider:
        agent = agent_on(provider, model_tries=1)
        turn = await answered(agent, scope)
        assert turn.status == ("failed" if where == "instead" else "partial"), turn
        assert turn.reason
        assert "garbage" not in turn.reason + caplog.text
        assert "broken\n" not in turn.reason + caplog.text
        del provider.asked[1:]
        provider._script = [None, "It keeps 128."]
        await usable_afterwards(agent, scope, provider)


async def test_P3_a_stream_cut_at_any_byte_never_passes_as_complete(agent_on, scope):
    """Case P3: the recorded stream of an answer, cut in many places."""
    from support.providers.formats import Writer

    written = Writer("openai", "scripted", tokens=(1, 1))
    stream = b"".join(
        [*written.opening(), *written.piece("It keeps "), *written.piece("128."), *written.ending("stop")]
    )
    told = stream.index(b'"finish_reason": "stop"')
    for at in range(0, told, 37):
        with Provider([Garbage(stream[:at], "text/event-stream")]) as provider:
            turn = await answered(agent_on(provider, model_tries=1), scope)
            assert turn.status in ("failed", "partial"), (at, turn)
            assert "It keeps 128.".startswith(turn.answer.strip())


@pytest.mark.parametrize("form", ["openai", "anthropic", "google"])
async def test_P4_silence_and_endless_streams_are_cut_and_the_connection_is_closed(form, agent_on, scope):
    """Case P4: no first byte, silence amid, more than the caps."""
    cases = [
        (Reply(Hold()), {"first_piece": 0.2}, "said nothing for 0.2 seconds"),
        (Reply("It keeps ", Hold()), {"silence": 0.2}, "said nothing for 0.2 seconds"),
        (Reply("It keeps ", Hold()), {"turn": 0.3}, "longer than 0.3 seconds"),
        (Reply(*["again and again "] * 2000), {"answer": 1000}, "reached 1000 characters"),
        (Reply(*[Thought("x" * 10_000)] * 1000), {"thinking": 20_000}, "thought for more than"),
    ]
    for step, limits, said in cases:
        with Provider([step], form=form) as provider:
            agent = agent_on(provider, **limits)
            turn = await answered(agent, scope)
            assert said in turn.reason, turn
            assert turn.status in ("failed", "partial")
            assert await asyncio.to_thread(provider.nobody_connected), "the connection is still open"


async def test_P4_one_piece_at_a_time_is_kept_as_it_comes(agent_on, scope):
    holds = [Hold(), Hold()]
    with Provider([Reply("It ", holds[0], "keeps ", holds[1], "128.")]) as provider:
        run = await agent_on(provider).ask(scope, "How large is the cache?")
        texts = []
        async for event in run.events():
            if event.kind == "text":
                texts.append(event.text.strip())
                holds[min(len(texts), 2) - 1].open()
        assert "".join(texts) == "Itkeeps128."


async def test_a_stop_closes_the_connection(agent_on, scope):
    hold = Hold()
    with Provider([Reply("It keeps ", hold)]) as provider:
        run = await agent_on(provider).ask(scope, "How large is the cache?")
        await asyncio.to_thread(hold.reached.wait)
        run.stop()
        turn = await run.ended()
        assert (turn.status, turn.reason) == ("partial", "stopped")
        assert await asyncio.to_thread(provider.hung_up.wait, 60)


@pytest.mark.parametrize("form", FORMS)
async def test_P5_wrong_calls_are_told_to_the_model_once_each_with_one_result(form, agent_on, scope, store):
    """Case P5: unknown tools, wrong and huge arguments, the same call again, fifty at once."""
    wrong = [
        Call("no_such_tool", {"x": 1}),
        Call("web_search", {"wrong": 1}),
        Call("web_search", {"query": "cache" * 2000}),
        Call("web_search", {"query": "cache"}),
        Call("web_search", {"query": "cache"}),
        *[Call("web_search", {"query": f"cache {n}"}) for n in range(50)],
    ]
    with Provider([wrong, "It keeps 128 [1]."], form=form) as provider:
        agent = agent_on(provider)
        turn = await answered(agent, scope)
        assert (turn.status, turn.answer) == ("complete", "It keeps 128 [1].")
        records = await store.tool_calls(scope, 1, 1)
        assert len(records) == len(wrong)
        assert all(record.result for record in records)
        assert len({record.id for record in records}) == len(wrong)
        from support.providers.wire import check_valid

        check_valid(form, provider.asked[1].body)


async def test_an_error_inside_a_stream_is_an_error(agent_on, scope):
    """Anthropic sends one when it is overloaded while it answers."""
    said = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    with Provider([Reply("It keeps ", Garbage(said))], form="anthropic") as provider:
        turn = await answered(agent_on(provider), scope)
        assert (turn.status, turn.answer.strip()) == ("partial", "It keeps")
        assert "overloaded" in turn.reason
