"""A run: the work of answering one turn, and the handle that whoever asked holds.

The work is a task of its own. Reading its events, or ceasing to, changes nothing about it; only `stop` does.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from lumina.agent.events import AnyEvent
from lumina.memory.errors import UsageError
from lumina.memory.noting import Noting
from lumina.memory.scope import ThreadScope
from lumina.memory.turns import Turn


class Work:
    """One turn's task. A stop reaches it only where it is `stoppable`: never while a turn begins or ends."""

    def __init__(self) -> None:
        self.noting: asyncio.Task[Noting | None] | None = None  # the delta step, once the turn has ended
        self._task: asyncio.Task[Turn] | None = None
        self._stop_wanted = False
        self._stoppable = False

    def start(self, answering: Coroutine[Any, Any, Turn]) -> asyncio.Task[Turn]:
        self._task = asyncio.create_task(answering)
        return self._task

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """What a stop interrupts, by CancelledError. One that was asked for before interrupts at once."""
        if self._stop_wanted:
            raise asyncio.CancelledError
        self._stoppable = True
        try:
            yield
        finally:
            self._stoppable = False

    def stop(self) -> None:
        if self._task is not None and self._stoppable and not self._stop_wanted:
            self._task.cancel()
        self._stop_wanted = True

    @property
    def task(self) -> asyncio.Task[Turn]:
        if self._task is None:
            raise RuntimeError("the work was not started")
        return self._task

    async def ended(self) -> Turn:
        return await asyncio.shield(self.task)


class Run:
    """The turn `seq` (attempt `attempt`) of a thread while it is answered, and after.

    `new` is False when the client id was known: then this is the turn that was made then, running or ended.
    """

    def __init__(
        self, *, scope: ThreadScope, turn: Turn, new: bool, work: Work | None,
        follow: Callable[..., AsyncGenerator[AnyEvent, None]], read: Callable[[], Coroutine[Any, Any, Turn]],
    ) -> None:  # fmt: skip
        self.scope = scope
        self.seq = turn.seq
        self.attempt = turn.attempt
        self.question = turn.question
        self.new = new
        self._elsewhere = work is None and turn.status == "running"
        self._work = work
        self._follow = follow
        self._read = read

    async def events(self, *, after: int = 0) -> AsyncIterator[AnyEvent]:
        """The turn's events in order, from the one after number `after`, to `turn.finished`. May be read several
        times and by several readers; each event was stored before any of them gets it. When the end of the turn could
        not be committed there is no last event to wait for: raises what `ended` raises."""
        following = self._follow(self.scope, self.seq, self.attempt, after=after)
        step: asyncio.Future[AnyEvent] | None = None
        try:
            while True:
                step = asyncio.ensure_future(anext(following))
                if self._work is not None:
                    await asyncio.wait({step, self._work.task}, return_when=asyncio.FIRST_COMPLETED)
                    if not step.done():
                        await self._work.ended()
                yield await step
        except StopAsyncIteration:
            return
        finally:
            if step is not None and not step.done():
                step.cancel()
                await asyncio.wait({step})
            await following.aclose()

    def stop(self) -> None:
        """Ends the turn as partial ("stopped"); the text so far is kept. Returns at once: `ended` waits for the end.
        Stopping twice, or after the end, changes nothing. UsageError when another process answers the turn."""
        if self._work is not None:
            self._work.stop()
        elif self._elsewhere:
            raise UsageError(f"Turn {self.seq} is answered by another process. It goes on; stop it there.")

    async def ended(self) -> Turn:
        """Waits until the end of the turn is committed, and returns the turn as it is stored. Raises what kept it
        from being committed (a full disk); the turn then ends as interrupted when the thread is opened next."""
        if self._work is not None:
            return await self._work.ended()
        async for _ in self.events():
            pass
        return await self._read()

    async def notes(self, *, wait: float = 2.0) -> Noting | None:
        """After the end, waits up to `wait` seconds for what was noted from this turn (changes, follow-ups, a title),
        which are also events of the thread's log. None when there is nothing to note, or not yet: the work goes on."""
        await self.ended()
        noting = self._work.noting if self._work is not None else None
        if noting is None:
            return None
        await asyncio.wait({noting}, timeout=wait)
        return noting.result() if noting.done() and not noting.cancelled() and noting.exception() is None else None
