"""/api/threads: the conversations of whoever asks."""

import tempfile
from collections.abc import Iterator
from typing import IO, Annotated

from fastapi import APIRouter, Query, Request, status
from starlette.responses import StreamingResponse

from lumina.memory.forgotten import forget_thread
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store
from lumina.memory.transfer import export_to
from lumina.server.ids import thread_id
from lumina.server.requests import NewThread, NewTitle
from lumina.server.streams import LogName, event_stream, resumed
from lumina.server.views import ThreadView
from lumina.server.whose import Agent, InThread, Subject

router = APIRouter(tags=["conversations"])
THREAD_LOG = LogName(0, 0)
IN_MEMORY = 4_000_000  # bytes of an export that are held before it goes to a file
PIECE = 64_000


@router.get("/threads")
async def list_threads(
    agent: Agent, subject: Subject, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> list[ThreadView]:
    """The conversations, the one that was asked last first."""
    return [ThreadView.of(info) for info in await agent.threads(subject, limit=limit)]


@router.post("/threads", status_code=status.HTTP_201_CREATED)
async def begin_thread(agent: Agent, subject: Subject, new: NewThread) -> ThreadView:
    """Begins a conversation. Its id is made here."""
    scope = subject.new_thread(agent.today())
    await agent.thread(scope, temporary=new.temporary)
    return await _view(agent.store, scope)


@router.get("/threads/{thread}")
async def show_thread(agent: Agent, scope: InThread) -> ThreadView:
    """One conversation."""
    return await _view(agent.store, scope)


@router.patch("/threads/{thread}")
async def rename_thread(agent: Agent, scope: InThread, new: NewTitle) -> ThreadView:
    """Gives the conversation another title."""
    await agent.store.thread_info(scope)
    await agent.store.set_title(scope, new.title)
    return await _view(agent.store, scope)


@router.delete("/threads/{thread}", status_code=status.HTTP_204_NO_CONTENT)
async def forget(agent: Agent, scope: InThread) -> None:
    """Forgets the conversation for good, with what its turns put into the profile. There is no way back."""
    await agent.store.thread_info(scope)
    thread = await agent.thread(scope)
    await forget_thread(agent.store, scope, by="api", now=thread.now())


@router.get("/threads/{thread}/events", response_class=StreamingResponse)
async def follow_thread(agent: Agent, scope: InThread, request: Request) -> StreamingResponse:
    """The conversation's own log as server-sent events; it never ends. Goes on behind `Last-Event-ID`."""
    await agent.store.thread_info(scope)
    last = request.headers.get("last-event-id", "")
    after, reset = await resumed(agent.store, scope, THREAD_LOG, last)
    events = agent.follow(scope, 0, 0, after=after)
    return event_stream(THREAD_LOG, events, request.app.state.closing, reset=thread_id(scope.thread) if reset else "")


@router.get("/threads/{thread}/export", response_class=StreamingResponse)
async def export_thread(agent: Agent, scope: InThread) -> StreamingResponse:
    """The conversation as JSON Lines, as `lumina export` writes it. It is written whole before the first line is sent,
    so that an export that fails is an error and no short file."""
    await agent.store.thread_info(scope)
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  (closed when it was sent)
    try:
        await export_to(agent.store, scope, file.write, by="api")
    except BaseException:
        file.close()
        raise
    name = f'attachment; filename="{thread_id(scope.thread)[:80]}.jsonl"'
    return StreamingResponse(
        _pieces(file), media_type="application/jsonl", headers={"content-disposition": name}
    )  # fmt: skip


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece


async def _view(store: Store, scope: ThreadScope) -> ThreadView:
    return ThreadView.of(await store.thread_info(scope))
