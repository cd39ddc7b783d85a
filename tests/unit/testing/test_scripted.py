"""The scripted model under real pydantic-ai agents: what it plays arrives, and what it was sent is kept."""

import anyio
import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)

from lumina.memory.delta import DeltaRequest
from lumina.testing import Call, Gate, Reply, ScriptedModel, ScriptedNotes, ScriptEnded, Thought


def searching_agent(model: ScriptedModel) -> Agent:
    agent = Agent(model, instructions="Answer from sources.")

    @agent.tool_plain
    def web_search(query: str) -> str:
        return f"results for {query}"

    return agent


async def read_into(seen: list[str], agent: Agent, question: str = "q") -> None:
    async with agent.run_stream(question) as run:
        async for piece in run.stream_text(delta=True, debounce_by=None):
            seen.append(piece)


async def streamed(agent: Agent, question: str) -> list[str]:
    seen: list[str] = []
    await read_into(seen, agent, question)
    return seen


async def test_a_tool_call_is_made_and_its_result_comes_back_in_the_next_request():
    model = ScriptedModel([Call("web_search", {"query": "lru_cache"}), "It caches [1]."])
    result = await searching_agent(model).run("What is lru_cache?")
    assert result.output == "It caches [1]."
    assert model.requests[0].spoken() == [("system", "Answer from sources."), ("user", "What is lru_cache?")]
    assert model.requests[0].tools == ("web_search",)
    assert model.requests[1].spoken()[2:] == [
        ("call", 'web_search({"query":"lru_cache"})'),
        ("tool", "results for lru_cache"),
    ]


async def test_several_calls_in_one_step_are_all_carried_out():
    model = ScriptedModel([[Call("web_search", {"query": "a"}), Call("web_search", {"query": "b"})], "done"])
    await searching_agent(model).run("q")
    assert [text for role, text in model.requests[1].spoken() if role == "tool"] == ["results for a", "results for b"]


@pytest.mark.parametrize(
    ("chunks", "pieces"),
    [("words", ["Hi ", "you  ", "there"]), ("whole", ["Hi you  there"]), ("characters", list("Hi you  there"))],
)
async def test_a_text_is_streamed_in_the_chosen_chunks(chunks, pieces):
    assert await streamed(Agent(ScriptedModel(["Hi you  there"], chunks=chunks)), "q") == pieces


async def test_a_reply_keeps_its_own_chunks():
    assert await streamed(Agent(ScriptedModel([Reply("a [", "1", "] b")])), "q") == ["a [", "1", "] b"]


async def test_the_same_reply_gives_the_same_text_streamed_or_not():
    steps = [Reply(Thought("hm"), "a [", "1] b")]
    whole = await Agent(ScriptedModel(steps)).run("q")
    async with Agent(ScriptedModel(steps)).run_stream("q") as run:
        assert await run.get_output() == whole.output == "a [1] b"
        last = run.all_messages()[-1]
    assert [type(part) for part in last.parts] == [ThinkingPart, TextPart]
    assert [type(part) for part in whole.all_messages()[-1].parts] == [ThinkingPart, TextPart]


async def test_an_error_as_a_step_is_raised_before_the_first_byte():
    with pytest.raises(TimeoutError):
        await Agent(ScriptedModel([TimeoutError("slow")])).run("q")
    with pytest.raises(TimeoutError):
        await streamed(Agent(ScriptedModel([TimeoutError("slow")])), "q")


async def test_an_error_within_a_reply_comes_after_the_text_before_it():
    seen: list[str] = []
    agent = Agent(ScriptedModel([Reply("It kee", ConnectionError("reset"))]))
    with pytest.raises(ConnectionError):
        await read_into(seen, agent)
    assert seen == ["It kee"]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_the_finish_reason_is_the_one_of_the_script(finish):
    model = ScriptedModel([Reply("It", finish=finish), Reply("It", finish=finish)])
    whole = await Agent(model).run("q")
    assert whole.response.finish_reason == finish
    async with Agent(model).run_stream("q") as run:
        await run.get_output()
        assert run.response.finish_reason == finish


async def test_an_empty_reply_has_no_parts():
    model = ScriptedModel([Reply()])
    response = await model.request([], None, _parameters())
    assert response.parts == []


async def test_a_gate_holds_the_stream_until_it_is_opened():
    gate, seen = Gate(), []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, seen, Agent(ScriptedModel([Reply("before ", gate, "after")])))
        await gate.reached.wait()
        assert seen == ["before "]
        gate.open()
    assert seen == ["before ", "after"]


async def test_two_runs_overlap_at_a_gate_and_each_gets_its_own_step():
    gate = Gate()
    model = ScriptedModel([Reply(gate, "first"), "second"])
    answers = {}

    async def ask(name: str) -> None:
        answers[name] = (await Agent(model).run(name)).output

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "one")
        await gate.reached.wait()
        await ask("two")
        assert answers == {"two": "second"}
        gate.open()
    assert answers["one"] == "first"


async def test_a_cancelled_run_leaves_the_gate_reached_and_nothing_hanging():
    gate = Gate()
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:

            async def stop() -> None:
                await gate.reached.wait()
                scope.cancel()

            tasks.start_soon(stop)
            await Agent(ScriptedModel([Reply("a", gate)])).run("q")
    assert scope.cancelled_caught


async def test_a_request_beyond_the_script_fails_the_test():
    model = ScriptedModel(["only one"])
    await Agent(model).run("q")
    assert model.unplayed == 0
    with pytest.raises(ScriptEnded, match="has 1 steps and this is request 2"):
        await Agent(model).run("q")


async def test_a_step_can_decide_from_what_was_sent():
    model = ScriptedModel([lambda request: request.question.upper()])
    assert (await Agent(model).run("loud")).output == "LOUD"


async def test_what_was_captured_does_not_change_afterwards():
    model = ScriptedModel([Call("web_search", {"query": "a"}), "done"])
    await searching_agent(model).run("q")
    assert len(model.requests[0].messages) == 1
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart("before")])]
    model = ScriptedModel(["a"])
    await model.request(messages, None, _parameters())
    messages[0].parts[0].content = "after"
    assert model.requests[0].spoken() == [("user", "before")]


async def test_calls_get_ids_of_their_own_and_broken_arguments_stay_as_written():
    model = ScriptedModel([[Call("a"), Call("b", "{not json"), Call("c", id="mine")]])
    response: ModelResponse = await model.request([], None, _parameters())
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    assert [(call.tool_call_id, call.args) for call in calls] == [
        ("call-1", "{}"),
        ("call-2", "{not json"),
        ("mine", "{}"),
    ]


async def test_usage_grows_with_what_was_sent_and_said():
    short = (await Agent(ScriptedModel(["a"])).run("q")).usage
    long = (await Agent(ScriptedModel(["a " * 400])).run("q " * 400)).usage
    assert long.input_tokens > short.input_tokens > 0
    assert long.output_tokens > short.output_tokens > 0


def _parameters():
    from pydantic_ai.models import ModelRequestParameters

    return ModelRequestParameters()


def _request(question: str = "q") -> DeltaRequest:
    return DeltaRequest(
        seq=1, attempt=1, question=question, answer="", previous_answer="", keys={}, read_sources=False,
        title_wanted=False, messages=(),
    )  # fmt: skip


async def test_notes_are_played_in_order_and_then_nothing_changes():
    notes = ScriptedNotes(['{"ops": []}', ValueError("down"), lambda request: request.question])
    assert await notes.note(_request()) == '{"ops": []}'
    with pytest.raises(ValueError, match="down"):
        await notes.note(_request())
    assert await notes.note(_request("what")) == "what"
    assert await notes.note(_request()) == '{"ops": [], "followups": [], "title": ""}'
    assert [request.question for request in notes.requests] == ["q", "q", "what", "q"]


async def test_a_gate_holds_a_note_back():
    gate = Gate()
    notes, got = ScriptedNotes(["x"], gate=gate), []

    async def take() -> None:
        got.append(await notes.note(_request()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await gate.reached.wait()
        assert got == []
        gate.open()
    assert got == ["x"]
