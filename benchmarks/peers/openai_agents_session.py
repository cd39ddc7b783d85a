"""OpenAI Agents SDK: SQLiteSession, which sends the whole history with every turn.

Needs openai-agents. Timed: reading the history back from the session.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, set_tracing_disabled
from agents.usage import Usage
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from script import INSTRUCTIONS, LENGTHS, Script, Sent, arguments, chatter, timed


class Listener(Model):
    """Answers as the script says and keeps what it was sent."""

    def __init__(self) -> None:
        self.answer = ""
        self.heard = ""

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:
        rows = [{"role": "user", "content": input}] if isinstance(input, str) else input
        self.heard = "\n".join(
            [f"system: {system_instructions}", *(f"{row.get('role')}: {_text(row)}" for row in rows)]
        )
        text = ResponseOutputText(text=self.answer, type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )  # fmt: skip
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the script is played without streaming")


def _text(row: Any) -> str:
    content = row.get("content", "")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def play(script: Script, sent: Sent) -> None:
    set_tracing_disabled(True)
    model = Listener()
    agent = Agent(name="household", instructions=INSTRUCTIONS, model=model)
    with tempfile.TemporaryDirectory() as folder:
        session = SQLiteSession("script", Path(folder) / "session.db")
        for turn in script.turns:
            model.answer = turn["answer"]
            await Runner.run(agent, turn["question"], session=session)
            sent.add(turn["turn"], model.heard)
        session.close()
    sent.save()


async def time_it() -> None:
    for length in LENGTHS:
        with tempfile.TemporaryDirectory() as folder:
            session = SQLiteSession("timed", Path(folder) / "session.db")
            rows: list[Any] = []
            for turn in range(1, length + 1):
                question, answer = chatter(turn)
                rows += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
            await session.add_items(rows)
            await timed("openai-agents SQLiteSession.get_items", length, session.get_items)
            session.close()


if __name__ == "__main__":
    given = arguments("OpenAI Agents SQLiteSession")
    if given.play:
        asyncio.run(play(Script(given.play), Sent(given.sent)))
    if given.time:
        asyncio.run(time_it())
