"""Plays a conversation that has happened into a thread of the library, turn by turn, on its own days.

The turns are recorded as any caller records them. What is spared is building a context that nobody looks at: the window
of each turn is chosen by the library's own rule from the stored turns, and kept with the turn as `Thread.context` would
have it; everything else of a context leaves no trace in a thread.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from lumina.evals.talks import Line
from lumina.evals.tokens import token_counter
from lumina.memory.context import Context
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.turns import Turn
from lumina.memory.window import READ, choose_window
from lumina.stores.opening import open_store

Where = Literal["memory", "sqlite"]
LOCAL = ThreadScope(tenant="local", subject="me", thread="main")
FIRST_DAY = "2026-01-01"


class Days:
    """A clock that stands at noon (UTC) of the day it was set to."""

    def __init__(self, day: str = FIRST_DAY) -> None:
        self.day = day

    def __call__(self) -> datetime:
        return datetime.fromisoformat(self.day).replace(hour=12, tzinfo=UTC)


@asynccontextmanager
async def opened(where: Where) -> AsyncIterator[Store]:
    """An empty store: in memory, or a SQLite file that is gone afterwards."""
    if where == "memory":
        store = await open_store(None)
        try:
            yield store
        finally:
            await store.close()
        return
    with TemporaryDirectory(prefix="lumina-eval-") as folder:
        store = await open_store(Path(folder) / "eval.db")
        try:
            yield store
        finally:
            await store.close()


class Replay:
    """A thread under replay. Contexts that are looked at come from `thread` itself."""

    def __init__(self, thread: Thread, days: Days) -> None:
        self.thread = thread
        self.days = days
        self._any: Context | None = None

    @classmethod
    async def open(cls, store: Store, scope: ThreadScope = LOCAL, *, deltas: bool = False) -> "Replay":
        """The thread of `scope` on `store`, counting tokens as evaluations do."""
        days = Days()
        info = await store.open_thread(scope, deltas=deltas)
        return cls(Thread(store=store, scope=scope, info=info, clock=days, counter=token_counter()), days)

    async def record(self, question: str, answer: str, *, window_start: int = 0) -> Turn:
        """The next turn. `window_start` puts the window where an evaluation wants it; 0: where the library does."""
        thread = self.thread
        if self._any is None:
            self._any = await thread.context("")
        if not window_start:
            recent = await thread.store.recent_turns(thread.scope, limit=READ)
            window_start = choose_window(recent.turns).start
        return await thread.record(replace(self._any, question=question, window_start=window_start), answer)

    async def play(self, lines: Iterable[Line]) -> None:
        """Records the turns that `lines` make."""
        for turn in turns_of(lines):
            self.days.day = turn[0].day
            parts = {line.part: line.text for line in turn}
            await self.record(parts.get("question", ""), parts.get("answer", ""))


def turns_of(lines: Iterable[Line]) -> list[Sequence[Line]]:
    """The lines of each turn, in order."""
    turns: dict[int, list[Line]] = {}
    for line in lines:
        turns.setdefault(line.seq, []).append(line)
    return [turns[seq] for seq in sorted(turns)]


def text_of(context: Context) -> str:
    """All that is sent, as one text in order: what prefixes and presence are measured on."""
    return "\n".join(f"{message.role}: {message.content}" for message in context.messages)


def tokens_of(context: Context) -> int:
    """Tokens of all that is sent, counted on the rendered messages."""
    count = token_counter().count
    return sum(count(message.content) for message in context.messages)


def memory_block_of(context: Context) -> str:
    """The fenced block before the question, without its fence; "" when there is none."""
    name = context.receipt.memory_id
    last = next(message.content for message in reversed(context.messages) if message.role == "user")
    if not last.startswith(f"<memory {name}>"):
        return ""
    return last.removeprefix(f"<memory {name}>\n").partition(f"\n</memory {name}>")[0]
