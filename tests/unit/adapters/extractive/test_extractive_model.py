"""The built-in model under real pydantic-ai agents: it searches, quotes what it found, and cites only that."""

import json
import re

from pydantic_ai import Agent
from pydantic_ai.messages import ToolCallPart

from lumina.adapters.extractive import ExtractiveModel

VENV = (
    "The venv module supports creating lightweight virtual environments.\n\n"
    "To create a virtual environment, run the venv module as a script with the directory path:\n\n"
    "python -m venv tutorial-env\n\n"
    "This will create the tutorial-env directory if it doesn’t exist."
)


def hit(source: int, text: str, *, covers: float = 1.0, title: str = "A page", heading: str = "") -> dict:
    return {
        "source": source, "title": title, "host": "documents", "heading": heading, "covers": covers, "text": text,
    }  # fmt: skip


def found(*hits: dict) -> str:
    return json.dumps({"outcome": "found", "reason": "", "results": list(hits)})


def agent_with(result: str, queries: list[str] | None = None) -> Agent:
    agent = Agent(ExtractiveModel(), instructions="Answer from sources.")

    @agent.tool_plain
    def web_search(query: str) -> str:
        if queries is not None:
            queries.append(query)
        return result

    return agent


async def test_it_searches_and_answers_with_sentences_and_code_of_the_source():
    queries: list[str] = []
    agent = agent_with(found(hit(3, VENV)), queries)
    result = await agent.run("How do I create a virtual environment?")
    assert queries == ["How do I create a virtual environment?"]
    assert (
        "To create a virtual environment, run the venv module as a script with the directory path: [3]" in result.output
    )
    assert "```\npython -m venv tutorial-env\n```" in result.output
    assert set(re.findall(r"\[(\d+)\]", result.output)) == {"3"}


async def test_the_answer_is_streamed_word_by_word_and_equals_the_whole_one():
    question = "How do I create a virtual environment?"
    whole = await agent_with(found(hit(3, VENV))).run(question)
    async with agent_with(found(hit(3, VENV))).run_stream(question) as run:
        pieces = [piece async for piece in run.stream_text(delta=True, debounce_by=None)]
    assert "".join(pieces) == whole.output
    assert len(pieces) > 10
    assert all(len(piece.split()) == 1 for piece in pieces)


async def test_the_same_request_gives_the_same_response_and_call_id():
    first, second = [await agent_with(found(hit(3, VENV))).run("What is venv?") for _ in range(2)]
    calls = [
        [part for message in run.all_messages() for part in message.parts if isinstance(part, ToolCallPart)]
        for run in (first, second)
    ]
    assert [(call.tool_name, call.args, call.tool_call_id) for call in calls[0]] == [
        (call.tool_name, call.args, call.tool_call_id) for call in calls[1]
    ]
    assert first.output == second.output


async def test_what_was_just_said_is_answered_from_the_conversation_and_never_searched_for():
    queries: list[str] = []
    agent = agent_with(found(hit(3, VENV)), queries)
    first = await agent.run("My phone number is 555-0101.")
    assert first.output == "Understood. It stays in this conversation."
    second = await agent.run("What is my phone number?", message_history=first.all_messages())
    assert second.output == "You said: “My phone number is 555-0101.”"
    assert queries == []
