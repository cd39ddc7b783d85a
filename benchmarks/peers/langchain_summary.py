"""LangChain: SummarizationMiddleware with a summariser that forgets nothing and keeps nothing stale.

Needs langchain. The agent is LangChain's own; the model only takes down what it is sent. Timed: `trim_messages`, what a
LangChain program does to fit a history into a budget.
"""

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from script import BUDGET, INSTRUCTIONS, LENGTHS, Script, Sent, arguments, chatter, timed

TRIGGER = 6000  # tokens; leaves room for the answer within the budget
KEPT = 20  # messages, the middleware's own default


class Listener(BaseChatModel):
    """Answers as the script says and keeps what it was sent."""

    answer: str = ""
    heard: list[BaseMessage] = []  # noqa: RUF012 - a field of a pydantic model

    @property
    def _llm_type(self) -> str:
        return "listener"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.heard = messages
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answer))])


def turn_of(message: BaseMessage) -> int:
    return int(message.id[1:]) if message.id and message.id[1:].isdigit() else 0


def play(script: Script, sent: Sent) -> None:
    def summary(messages: list[AnyMessage]) -> str:
        facts = script.facts_after(max(map(turn_of, messages)))
        return "\n".join(f"{key}: {value}" for key, value in facts.items()) or "Nothing yet."

    model = Listener()
    middleware = SummarizationMiddleware(
        model, trigger=("tokens", TRIGGER), keep=("messages", KEPT), summarizer=RunnableLambda(summary)
    )
    agent = create_agent(model, tools=[], middleware=[middleware], system_prompt=INSTRUCTIONS)
    history: list[AnyMessage] = []
    for turn in script.turns:
        model.answer = turn["answer"]
        question = HumanMessage(turn["question"], id=f"q{turn['turn']}")
        history = agent.invoke({"messages": [*history, question]})["messages"]
        history[-1].id = f"a{turn['turn']}"
        sent.add(turn["turn"], "\n".join(f"{message.type}: {message.text}" for message in model.heard))
    sent.save()


async def time_it() -> None:
    for length in LENGTHS:
        history: list[AnyMessage] = [SystemMessage(INSTRUCTIONS)]
        for turn in range(1, length + 1):
            question, answer = chatter(turn)
            history += [HumanMessage(question), AIMessage(answer)]

        async def trim(history: list[AnyMessage] = history) -> object:
            return trim_messages(
                history, max_tokens=BUDGET, token_counter=count_tokens_approximately, strategy="last",
                start_on="human", include_system=True,
            )  # fmt: skip

        await timed("langchain trim_messages", length, trim)


if __name__ == "__main__":
    given = arguments("LangChain SummarizationMiddleware")
    if given.play:
        play(Script(given.play), Sent(given.sent))
    if given.time:
        asyncio.run(time_it())
