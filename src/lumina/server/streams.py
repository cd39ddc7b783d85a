"""A log as server-sent events.

Every event has its place in the log as its id, so a reader that comes back with `Last-Event-ID` (browsers send it by
themselves) goes on behind the last one it got: nothing twice, nothing left out, whichever process answers. An id that
is not of this log, or lies behind its end, is answered with `reset`, which is no event of the log and has no id: the
reader drops what it has, and the whole log follows.

Lines that begin with a colon keep idle connections open. A reader that goes away stops nothing: the answer is made by
a task of its own.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from starlette.responses import StreamingResponse

from lumina.agent.events import AnyEvent, to_json
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store

QUIET = 15.0  # seconds without an event after which a comment is sent
LAST = 1.0  # seconds in which a reader still gets what was written when the server ends
BEAT = b": still here\n\n"
HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


@dataclass(frozen=True, slots=True)
class LogName:
    """A turn's log, or a thread's own (0, 0)."""

    seq: int
    attempt: int

    def id(self, number: int) -> str:
        return f"{self.seq}.{self.attempt}.{number}"

    def number(self, id: str) -> int | None:
        """The event's number, if `id` is of this log."""
        seq, _, rest = id.partition(".")
        attempt, _, number = rest.partition(".")
        if (seq, attempt) != (str(self.seq), str(self.attempt)):
            return None
        return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else None


async def resumed(store: Store, scope: ThreadScope, log: LogName, last_id: str) -> tuple[int, bool]:
    """After which number to go on, and whether the reader has to drop what it has."""
    if not last_id:
        return 0, False
    number = log.number(last_id)
    if number is None:
        return 0, True
    if number and not await store.events(scope, log.seq, log.attempt, after=number - 1):
        return 0, True  # there is no such event
    return number, False


def event_stream(
    log: LogName, events: AsyncGenerator[AnyEvent, None], closing: asyncio.Event, *, reset: str = ""
) -> StreamingResponse:
    """The response that sends `events`, until they end or the server does. `reset`: the id of the conversation, if the
    reader has to begin anew."""
    return StreamingResponse(
        _lines(log, events, closing, reset), media_type="text/event-stream", headers=HEADERS
    )  # fmt: skip


async def _lines(
    log: LogName, events: AsyncGenerator[AnyEvent, None], closing: asyncio.Event, reset: str
) -> AsyncIterator[bytes]:
    if reset:
        body = json.dumps({"kind": "reset", "thread": reset, "turn": log.seq})
        yield f"data: {body}\n\n".encode()
    closed = asyncio.ensure_future(closing.wait())
    step: asyncio.Future[AnyEvent] = asyncio.ensure_future(anext(events))
    try:
        while True:
            await asyncio.wait({step, closed}, timeout=QUIET, return_when=asyncio.FIRST_COMPLETED)
            if closed.done():
                await asyncio.wait({step}, timeout=LAST)
            if not step.done():
                if closed.done():
                    return
                yield BEAT
                continue
            try:
                event = step.result()
            except StopAsyncIteration:
                return
            step = asyncio.ensure_future(anext(events))
            yield f"id: {log.id(event.seq)}\ndata: {to_json(event)}\n\n".encode()
    finally:
        closed.cancel()
        step.cancel()
        await asyncio.wait({step, closed})
        if not step.cancelled():
            step.exception()  # whoever read it has gone
        await events.aclose()
