"""The log of a turn: events are stored before anybody reads them, and every reader reads what is stored.

Text arrives in small pieces. But for the first words, which somebody waits for, they are gathered for at most `GATHER`
seconds or `GATHER_SIZE` characters and committed together; every other event is committed at once, after the text
before it. A reader never gets an event from the
writer: it reads the store, and a bell tells it that there is more. So a page that was closed and opened again, a
second reader and the first one see the same events with the same numbers.
"""

import asyncio
from collections.abc import AsyncGenerator, Hashable, Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from lumina.agent.events import AnyEvent, Event, Notice, Text, Thinking, from_json, to_json
from lumina.agent.unbroken import unbroken
from lumina.memory.errors import NotFound
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store

GATHER = 0.04  # seconds that text waits for more text, at most
GATHER_SIZE = 2000  # characters that are committed without waiting
POLL = 0.5  # seconds after which a reader looks again for events that another process has written


class Bell:
    """Wakes the readers of a log in this process. It carries no data: who hears it reads the store."""

    def __init__(self) -> None:
        self._ears: dict[Hashable, set[asyncio.Event]] = {}

    def ring(self, log: Hashable) -> None:
        for ear in self._ears.get(log, ()):
            ear.set()

    @contextmanager
    def listening(self, log: Hashable) -> Iterator[asyncio.Event]:
        """An event that every ring sets. The reader clears it before it reads, so that no ring is lost."""
        ear = asyncio.Event()
        self._ears.setdefault(log, set()).add(ear)
        try:
            yield ear
        finally:
            ears = self._ears[log]
            ears.discard(ear)
            if not ears:
                del self._ears[log]


class TurnLog:
    """Writes one turn's log, or a thread's own (seq 0, attempt 0). `turn` stands in every event."""

    def __init__(self, *, store: Store, bell: Bell, scope: ThreadScope, seq: int, attempt: int) -> None:
        self.scope = scope
        self.seq = seq
        self.attempt = attempt
        self._store = store
        self._bell = bell
        self._waiting: list[Event] = []
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._flush: asyncio.Task[None] | None = None
        self._begun = False  # whether any of the answer was committed: its first words wait for nothing
        self._one_commit = asyncio.Lock()

    def gather(self, event: Event) -> None:
        """Keeps `event` for the next commit, which is at most `GATHER` seconds away. Order is kept."""
        last = self._waiting[-1] if self._waiting else None
        if isinstance(event, Text | Thinking) and isinstance(last, Text | Thinking) and last.kind == event.kind:
            self._waiting[-1] = last.model_copy(update={"text": last.text + event.text})
        else:
            self._waiting.append(event)
        self._size += len(event.text) if isinstance(event, Text | Thinking) else 0
        loop = asyncio.get_running_loop()
        if isinstance(event, Text) and not self._begun:
            self._begun = True
            self._wait(loop, 0)
        elif self._size >= GATHER_SIZE:
            self._due()
        elif self._timer is None:
            self._wait(loop, GATHER)

    def _wait(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(seconds, self._due)

    async def write(self, *events: Event) -> None:
        """Commits what was gathered and `events`; they can be read when this returns."""
        self._waiting += events
        await self.flush()

    async def flush(self) -> None:
        """Commits what was gathered, and what is gathered while it commits: that has no timer any more. Raises what a
        commit in the background raised before."""
        async with self._one_commit:
            self._raise_failure()
            while bodies := [to_json(event) for event in self._take()]:
                await unbroken(self._store.append_events(self.scope, self.seq, self.attempt, bodies))
                self._bell.ring((self.scope, self.seq, self.attempt))

    async def last_bodies(self, *events: Event) -> tuple[str, ...]:
        """What was gathered and `events`, for the transaction that ends the turn. Nothing is left behind."""
        async with self._one_commit:
            self._waiting += events
            return tuple(to_json(event) for event in self._take())

    def ring(self) -> None:
        """Tells readers of events that were committed elsewhere: in the transaction that ends the turn."""
        self._bell.ring((self.scope, self.seq, self.attempt))

    def _take(self) -> list[Event]:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        events, self._waiting, self._size = self._waiting, [], 0
        return events

    def _due(self) -> None:
        self._timer = None
        if self._flush is None or self._flush.done():
            self._raise_failure()
            self._flush = asyncio.create_task(self.flush())

    def _raise_failure(self) -> None:
        if self._flush is not None and self._flush.done() and not self._flush.cancelled():
            flush, self._flush = self._flush, None
            flush.result()


def thread_log(store: Store, bell: Bell, scope: ThreadScope) -> TurnLog:
    """The thread's own log. Its events name the turn that they are about."""
    return TurnLog(store=store, bell=bell, scope=scope, seq=0, attempt=0)


async def follow(
    store: Store, bell: Bell, scope: ThreadScope, seq: int, attempt: int, *, after: int = 0
) -> AsyncGenerator[AnyEvent, None]:
    """The turn's events after number `after`, stored ones first, then as they come, to the terminal one.

    A thread's own log (seq 0, attempt 0) never ends: whoever follows it stops reading when it has enough.
    """
    ended, unsure = False, True  # whether the turn has ended; whether it may have, without a word in its log
    with bell.listening((scope, seq, attempt)) as rung:
        while True:
            rung.clear()
            fresh = await store.events(scope, seq, attempt, after=after)
            for number, body in fresh:
                after = number
                event = read_event(scope, seq, number, body)
                yield event
                if seq and event.kind == "turn.finished":
                    return
            if ended and not fresh:
                return
            if unsure and not fresh:
                unsure, ended = False, seq > 0 and await _has_ended(store, scope, seq, attempt)
                if ended:  # it is read once more: its last events may have come in between
                    continue
            try:
                async with asyncio.timeout(POLL):
                    await rung.wait()  # it has rung already if more was written since it was read
            except TimeoutError:
                unsure = True


def read_event(scope: ThreadScope, seq: int, number: int, body: str) -> AnyEvent:
    """The stored event with its number. One that cannot be read says so in its place, and hides no other."""
    try:
        return from_json(body).model_copy(update={"seq": number})
    except ValidationError:
        return Notice(seq=number, thread=scope.thread, turn=seq, text="An event of this log cannot be read.")


async def _has_ended(store: Store, scope: ThreadScope, seq: int, attempt: int) -> bool:
    turn = (await store.turns(scope, [(seq, attempt)])).get((seq, attempt))
    if turn is None:
        raise NotFound(f"Thread {scope.thread} has no turn {seq} (attempt {attempt}).")
    return turn.status != "running"
