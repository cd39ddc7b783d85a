"""What was noted: read it, correct it, forget it; and the sources of a conversation."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, status

from lumina.memory.errors import NotFound
from lumina.memory.forgotten import forget_entry
from lumina.memory.scope import MAX_ID
from lumina.memory.telling import tell_entries
from lumina.server.requests import Correction
from lumina.server.views import (
    EntryView,
    HistoryView,
    NotNotedView,
    OutcomeView,
    SourceText,
    SourceView,
    StateView,
)
from lumina.server.whose import Agent, InThread

router = APIRouter(prefix="/threads/{thread}", tags=["memory"])
OPEN = ("waiting", "answered", "set aside")
Key = Annotated[str, Path(max_length=MAX_ID, description="such as home.city")]
AsOf = Annotated[int, Query(ge=0, le=10**9, description="as it stood after this turn; 0: now")]


@router.get("/state")
async def show_state(agent: Agent, scope: InThread, as_of: AsOf = 0) -> StateView:
    """Facts, open issues, decisions and findings of the conversation, and what is known of the person in every one."""
    info = await agent.store.thread_info(scope)
    if as_of > info.turns:
        raise NotFound(f"The conversation has no turn {as_of}; its last is {info.turns}.")
    thread = await agent.thread(scope)
    states = [await thread.profile(as_of=as_of), await thread.state(as_of=as_of)]
    jobs = await agent.store.delta_jobs(scope, *OPEN)
    return StateView(
        as_of=as_of or None,
        entries=[EntryView.of(entry) for entry in await tell_entries(agent.store, scope, states)],
        not_noted=[NotNotedView.of(job) for job in jobs if not as_of or job.seq <= as_of],
    )


@router.get("/state/{key}")
async def show_history(agent: Agent, scope: InThread, key: Key) -> list[HistoryView]:
    """Every value that a key ever had, and what became of it."""
    await agent.store.thread_info(scope)
    thread = await agent.thread(scope)
    rows = [*await thread.history(key, about="subject"), *await thread.history(key)]
    if not rows:
        raise NotFound("Nothing was ever noted under that key.")
    return [HistoryView.of(row) for row in rows]


@router.post("/state", status_code=status.HTTP_201_CREATED)
async def correct(agent: Agent, scope: InThread, correction: Correction) -> list[OutcomeView]:
    """A person's correction. It stands right after the last turn, and the old value stays readable as history."""
    await agent.store.thread_info(scope)
    thread = await agent.thread(scope)
    outcomes = await thread.correct(
        correction.op, correction.key, correction.value, by="me", why=correction.why, about=correction.about or ""
    )
    return [OutcomeView.of(outcome) for outcome in outcomes]


@router.delete("/state/{key}", status_code=status.HTTP_204_NO_CONTENT)
async def forget(
    agent: Agent, scope: InThread, key: Key, about: Annotated[str, Query(pattern="^(thread|subject)$")] = "thread"
) -> None:
    """Forgets all that was ever said under a key, with its history and the quoted words in their turns."""
    await agent.store.thread_info(scope)
    thread = await agent.thread(scope)
    await forget_entry(
        agent.store, scope, key, about="subject" if about == "subject" else "thread", by="api", now=thread.now()
    )


@router.get("/sources")
async def list_sources(agent: Agent, scope: InThread) -> list[SourceView]:
    """Everything that was read in the conversation, by number."""
    await agent.store.thread_info(scope)
    return [SourceView.of(source) for source in await agent.store.sources(scope)]


@router.get("/sources/{n}")
async def show_source(
    agent: Agent, scope: InThread, n: Annotated[int, Path(ge=1, le=10**9)],
    digest: Annotated[str, Query(max_length=64, description="an earlier text, as a citation names it")] = "",
) -> SourceText:  # fmt: skip
    """A source with the text that was stored, whatever has become of the page since."""
    await agent.store.thread_info(scope)
    found = await agent.store.sources(scope, [n])
    if not found:
        raise NotFound(f"The conversation has no source {n}.")
    named = digest or found[0].digest
    return SourceText(
        source=SourceView.of(found[0]), digest=named, text=await agent.store.text(scope.of_subject, named)
    )
