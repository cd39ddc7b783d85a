"""/api/threads/{thread}/turns: questions, answers, and the events in between.

A question that was posted is kept when the answer to the post arrives, and is answered by a task of its own: whoever
posted it may go away. The events are followed elsewhere, by anybody who may read the conversation, from the beginning
or from where they were.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, status
from starlette.responses import StreamingResponse

from lumina.agent.run import Run
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.forgotten import forget_turn
from lumina.memory.scope import ThreadScope
from lumina.memory.turns import TurnPage, Unreadable
from lumina.server.ids import thread_id
from lumina.server.requests import Again, Ask
from lumina.server.streams import LogName, event_stream, resumed
from lumina.server.views import Asked, CallView, TurnView, UnreadableView, turn_views
from lumina.server.whose import Agent, InThread, Seq

router = APIRouter(prefix="/threads/{thread}/turns", tags=["turns"])
PAGE = 200  # turns in one answer
Attempt = Annotated[int, Query(ge=0, le=10**6, description="0: the newest")]


@router.get("")
async def list_turns(
    agent: Agent, scope: InThread,
    before: Annotated[int, Query(ge=0, le=10**9, description="only turns before this one; 0: the newest")] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 50,
) -> list[TurnView | UnreadableView]:  # fmt: skip
    """Live turns, oldest first: the last `limit` of them before `before`."""
    info = await agent.store.thread_info(scope)
    last = min(before - 1, info.turns) if before else info.turns
    if last < 1:
        return []
    return turn_views((await agent.store.page(scope, first=max(1, last - limit + 1), last=last))[-limit:])


@router.post("", status_code=status.HTTP_202_ACCEPTED)
async def ask(agent: Agent, scope: InThread, asked: Ask, response: Response) -> Asked:
    """Keeps a question and begins to answer it. When this returns, the question is stored."""
    await agent.store.thread_info(scope)  # a conversation is begun on purpose, not by asking under a wrong id
    run = await agent.ask(
        scope, asked.question, client_id=asked.client_id, budget=asked.budget, instead_of=asked.instead_of
    )  # fmt: skip
    return _asked(run, response)


@router.post("/{seq}/regenerate", status_code=status.HTTP_202_ACCEPTED)
async def regenerate(agent: Agent, scope: InThread, seq: Seq, again: Again, response: Response) -> Asked:
    """Answers the question of a turn again, in its place; what came after is superseded."""
    await agent.store.thread_info(scope)
    return _asked(await agent.regenerate(scope, seq, client_id=again.client_id, budget=again.budget), response)


@router.post("/{seq}/stop", status_code=status.HTTP_202_ACCEPTED)
async def stop(agent: Agent, scope: InThread, seq: Seq) -> TurnView:
    """Ends the answer where it is; the text so far is kept. Its terminal event follows. Stopping twice is no error."""
    page = await _page(agent, scope, seq, 0)
    if not agent.stop(scope, seq, page.attempt) and page.status == "running":
        raise UsageError(f"Turn {seq} is answered by another process. It goes on; stop it there.")
    return TurnView.of(page)


@router.get("/{seq}")
async def show_turn(agent: Agent, scope: InThread, seq: Seq, attempt: Attempt = 0) -> TurnView:
    """One turn, superseded attempts too."""
    return TurnView.of(await _page(agent, scope, seq, attempt))


@router.delete("/{seq}", status_code=status.HTTP_204_NO_CONTENT)
async def forget(agent: Agent, scope: InThread, seq: Seq) -> None:
    """Forgets the turn's words and what was noted from them. Its number and the day stay."""
    await _page(agent, scope, seq, 0)
    thread = await agent.thread(scope)
    await forget_turn(agent.store, scope, seq, by="api", now=thread.now())


@router.get("/{seq}/events", response_class=StreamingResponse)
async def follow_turn(
    agent: Agent, scope: InThread, seq: Seq, request: Request, attempt: Attempt = 0
) -> StreamingResponse:
    """The turn's log as server-sent events, to `turn.finished`. Goes on behind `Last-Event-ID`."""
    page = await _page(agent, scope, seq, attempt)
    log = LogName(seq, page.attempt)
    after, reset = await resumed(agent.store, scope, log, request.headers.get("last-event-id", ""))
    events = agent.follow(scope, seq, page.attempt, after=after)
    return event_stream(log, events, request.app.state.closing, reset=thread_id(scope.thread) if reset else "")


@router.get("/{seq}/calls")
async def show_calls(agent: Agent, scope: InThread, seq: Seq, attempt: Attempt = 0) -> list[CallView]:
    """What the model saw: every model call of the turn, rendered again from its receipt."""
    page = await _page(agent, scope, seq, attempt)
    thread = await agent.thread(scope)
    calls = await thread.show(seq, attempt=page.attempt)
    return [
        CallView(
            call=shown.call, purpose=shown.receipt.purpose, same=shown.same, forgotten=shown.forgotten,
            tokens=shown.receipt.tokens,
            receipt=shown.receipt.model_copy(update={"items": shown.items}).model_dump(
                mode="json", exclude_defaults=True
            ),
            messages=[
                {"role": m.role, "content": m.content, "tool_call_id": m.tool_call_id,
                 "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in m.tool_calls]}
                for m in shown.messages
            ],
        )
        for shown in calls
    ]  # fmt: skip


def _asked(run: Run, response: Response) -> Asked:
    name = thread_id(run.scope.thread)
    events = f"/api/threads/{name}/turns/{run.seq}/events?attempt={run.attempt}"
    response.headers["location"] = f"/api/threads/{name}/turns/{run.seq}?attempt={run.attempt}"
    return Asked(thread=name, seq=run.seq, attempt=run.attempt, new=run.new, events=events)


async def _page(agent: Agent, scope: ThreadScope, seq: int, attempt: int) -> TurnPage:
    """The turn as a person sees it. NotFound when there is none."""
    rows = await agent.store.page(scope, first=seq, last=seq, superseded=True)
    found = [row for row in rows if isinstance(row, Unreadable) or attempt in (0, row.attempt)]
    if not found or not isinstance(found[-1], TurnPage):
        raise NotFound("There is no such turn in this conversation, or it cannot be read.")
    return found[-1]
