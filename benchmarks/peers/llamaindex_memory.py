"""LlamaIndex: Memory with a FactExtractionMemoryBlock whose extractor misses nothing.

Needs llama-index-core. The block keeps facts it was given and asks its model to condense them when they are too many;
both replies are the script's.
"""

import asyncio
import re
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms import MockLLM
from llama_index.core.memory import FactExtractionMemoryBlock, Memory
from script import BUDGET, INSTRUCTIONS, Script, Sent, arguments

NUMBERED = re.compile(r"^#(\d+) ", re.MULTILINE)  # the turn, put before each question so that the extractor knows it


class Extractor(MockLLM):
    """Replies with what a perfect note taker noted of the turns it is shown; asked to condense, with all that holds."""

    script: Any = None
    last: int = 0

    async def achat(self, messages: Any, **_: Any) -> ChatResponse:
        seen = [int(found) for message in messages for found in NUMBERED.findall(message.content or "")]
        condense = "condense" in (messages[-1].content or "").lower()
        if condense:
            facts = [f"{key}: {value}" for key, value in self.script.facts_after(max(seen, default=self.last)).items()]
        else:
            facts = [fact for turn in seen for fact in self.script.noted(turn)]
        self.last = max(seen, default=self.last)
        reply = "<facts>" + "".join(f"<fact>{fact}</fact>" for fact in facts) + "</facts>"
        return ChatResponse(message=ChatMessage(role="assistant", content=reply))


async def play(script: Script, sent: Sent) -> None:
    extractor = Extractor()
    extractor.script = script
    facts = FactExtractionMemoryBlock(name="facts", llm=extractor, max_facts=60)
    memory = Memory.from_defaults(session_id="script", token_limit=BUDGET, memory_blocks=[facts])
    for turn in script.turns:
        question = ChatMessage(role="user", content=f"#{turn['turn']} {turn['question']}")
        shown = await memory.aget(input=turn["question"])
        rows = [ChatMessage(role="system", content=INSTRUCTIONS), *shown, question]
        sent.add(turn["turn"], "\n".join(f"{row.role.value}: {row.content}" for row in rows))
        await memory.aput_messages([question, ChatMessage(role="assistant", content=turn["answer"])])
    sent.save()


if __name__ == "__main__":
    given = arguments("LlamaIndex Memory")
    if given.play:
        asyncio.run(play(Script(given.play), Sent(given.sent)))
