"""`lumina threads`: the conversations, the one that was asked last first."""

import json

from lumina.cli.place import ME, settings, settled, threads_at
from lumina.cli.screen import columns, note, say
from lumina.cli.working import Worker, complete
from lumina.memory.turns import ThreadInfo


def list_threads(limit: int, *, as_json: bool) -> int:
    """Prints a line for each. Returns the exit code."""
    chosen = settings()

    async def load(_: Worker) -> list[ThreadInfo]:
        async with await threads_at(chosen) as threads:
            found = await threads.threads(ME, limit=limit)
            return [await settled(threads.store, info) for info in found if info.turns]

    found = complete(load)
    if as_json:
        for info in found:
            row = {"thread": info.thread, "title": info.title, "turns": info.turns, "running": info.running,
                   "asked_at": info.asked_at, "expires_at": info.expires_at}  # fmt: skip
            say(json.dumps(row))
        return 0
    if not found:
        note('No conversation yet. Begin one: lumina ask "..."')
        return 0
    rows = [(info.thread, f"{info.turns}", minute(info.asked_at), _title(info)) for info in found]
    head = ("conversation", "turns", "asked (UTC)", "title")
    for at, line in enumerate(columns([head, *rows], right=frozenset({1}))):
        say(line, "dim" if at == 0 else "")
    return 0


def _title(info: ThreadInfo) -> str:
    running = f"(turn {info.running} is being answered) " if info.running else ""
    until = f"(temporary, until {minute(info.expires_at)}) " if info.temporary else ""
    return until + running + (info.title or "(no title yet)")


def minute(when: str) -> str:
    """An ISO 8601 time to the minute, for people."""
    return when[:16].replace("T", " ")
