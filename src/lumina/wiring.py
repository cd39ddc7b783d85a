"""Settings in, a ready agent out: the only place that picks adapters.

    async with await open_agent(database="lumina.db") as agent:            # extractive model, local documents
        scope = ThreadScope(tenant="local", subject="me", thread="main")
        run = await agent.ask(scope, "What does functools.lru_cache keep?")
        async for event in run.events():                                   # to turn.finished
            print(event.kind)
        await run.notes()                                                  # waits up to 2 s for the after-turn notes

What can be done with it (`lumina.agent.search_agent.SearchAgent`, `lumina.agent.run.Run`):

    run = await agent.ask(scope, question, client_id="", budget=8000)      # the question is stored when this returns
    run.seq, run.attempt, run.new                                          # new is False for a known client id
    run.events(after=0)          async iterator; stored events, then live ones, to the terminal event
    run.stop()                   not async; the turn ends as partial ("stopped") and keeps its text
    await run.ended()            the stored Turn, when its end is committed
    await run.notes(wait=2.0)    memory.noting.Noting | None
    agent.follow(scope, seq, attempt, after=0)                             # any turn, running or ended
    agent.thread_events(scope, after=0)                                    # the thread's own log; never ends
    await agent.thread(scope)    memory.thread.Thread on the agent's store: show(), state(), profile() ...
    await agent.threads(scope.of_subject)                                  # list[ThreadInfo], the one asked last first
    agent.model_name; agent.store; await agent.close()

A command that answers nothing needs no agent and no model library: `open_threads(...)` gives `thread` and `threads`
on a store alone. Heavy modules are imported inside the functions.
"""

import os
from typing import TYPE_CHECKING

from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Clock, Thread, utc_now
from lumina.memory.turns import ThreadInfo

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from lumina.agent.desk import Limits
    from lumina.agent.ports import NoteTaker, SearchProvider
    from lumina.agent.search_agent import SearchAgent

DEFAULT_MODEL = "extractive"
NO_MODEL = "Quoted from your documents; no model is set"


async def open_agent(
    *,
    database: str | os.PathLike[str] | None = None,
    model: "str | Model" = DEFAULT_MODEL,
    search: "SearchProvider | None" = None,
    notes: "NoteTaker | None" = None,
    memory: bool = True,
    zone: str = "UTC",
    clock: Clock = utc_now,
    limits: "Limits | None" = None,
) -> "SearchAgent":
    """An agent on the database (a SQLite file; None keeps everything in memory).

    `model`: `extractive`, a name such as `openai:gpt-5` (UsageError when unknown, or when its extra or key is
    missing), or a pydantic-ai Model. `search`: local documents by default. `notes`: who answers the delta step; by
    default the extractive one for the extractive model, else the model. `memory=False`: nothing is noted.
    """
    raise NotImplementedError
