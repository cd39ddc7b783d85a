"""The copying model repeats every citation that it can see, and nothing that it cannot."""

import json

from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

from lumina.testing import CopyingModel
from lumina.testing.copying import markers

HIDDEN = '<!--SOURCES:[{"n": 1, "url": "https://example.org/old"}]-->'


async def test_an_old_marker_and_a_hidden_comment_are_copied():
    history = [
        ModelRequest(parts=[UserPromptPart("What is it?")]),
        ModelResponse(parts=[TextPart(f"It is a thing [1][2]. {HIDDEN}")]),
    ]
    result = await Agent(CopyingModel()).run("And now?", message_history=history)
    assert result.output == f"This is what is known. [1] [2] {HIDDEN}"


async def test_without_any_marker_in_view_there_is_none_in_the_answer():
    assert (await Agent(CopyingModel(text="Nothing."))
            .run("And now?")).output == "Nothing."  # fmt: skip


async def test_it_searches_when_told_so_and_cites_what_was_found():
    agent, queries = Agent(CopyingModel(searches=lambda question: "latest" in question)), []

    @agent.tool_plain
    def web_search(query: str) -> str:
        queries.append(query)
        return json.dumps({"results": [{"source": 7, "text": "words"}, {"source": 8, "text": "see [3]"}]})

    result = await agent.run("<memory 00ff>\nlines\n</memory 00ff>\n\nthe latest?")
    assert queries == ["the latest?"]
    assert result.output == "This is what is known. [7] [8] [3]"
    assert (await agent.run("something else")).output == "This is what is known."


def test_every_form_of_marker_is_seen_once_and_in_order():
    assert markers(["b [2], [1] 【3】 ［4］ [5, 6] [2] [a] [1"]) == ["[2]", "[1]", "【3】", "［4］", "[5, 6]"]
