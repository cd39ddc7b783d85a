"""Which conversation a request belongs to that names none.

A client that speaks as OpenAI's does sends all that was said before with each question. The conversation is found again
only when that is word for word what is stored, of the same person; anything else is a conversation of its own, which
begins with what was sent.
"""

from lumina.agent.search_agent import SearchAgent
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.turns import ThreadInfo, TurnPage
from lumina.server.openai_answers import shown

LOOKED_AT = 200  # conversations, the one asked last first
Pairs = list[tuple[str, str]]


async def find_thread(agent: SearchAgent, subject: SubjectScope, earlier: Pairs) -> ThreadScope | None:
    """The conversation whose live turns are exactly `earlier`; of several equal ones the one that was asked last."""
    if not earlier:
        return None
    said = [(question.strip(), answer.strip()) for question, answer in earlier]
    for info in await agent.threads(subject, limit=LOOKED_AT):
        if info.running or info.expires_at or info.turns < len(said):
            continue
        if await _turns(agent, subject, info, len(said)) == said:
            return subject.thread(info.thread)
    return None


async def _turns(agent: SearchAgent, subject: SubjectScope, info: ThreadInfo, at_most: int) -> Pairs | None:
    rows = await agent.store.page(subject.thread(info.thread), first=1, last=info.turns)
    if len(rows) != at_most:
        return None
    return [(row.question.strip(), shown(row).strip()) for row in rows if isinstance(row, TurnPage)]


async def begin_with(agent: SearchAgent, scope: ThreadScope, earlier: Pairs) -> None:
    """Makes the conversation, with what was said before it as its first turns."""
    thread = await agent.thread(scope)
    for question, answer in earlier:
        await thread.record(await thread.context(question), answer)
