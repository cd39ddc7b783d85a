"""`lumina ask`: one question, one streamed answer.

Ctrl-C stops the answer, not the program: the turn ends as partial with what has arrived, and the exit code is 130. A
second Ctrl-C leaves at once; the turn then ends as interrupted when its conversation is opened next.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator

from lumina.agent.events import to_json
from lumina.agent.run import Run
from lumina.agent.search_agent import SearchAgent
from lumina.cli.place import Place, chosen_thread, place
from lumina.cli.screen import note
from lumina.cli.telling import Teller, tell_noting
from lumina.memory.scope import ThreadScope
from lumina.wiring import open_agent

STOPPED = 130


def ask_once(question: str, *, thread: str, go_on: bool, model: str, budget: int, as_json: bool) -> int:
    """Asks, prints, returns the exit code."""
    where = place()

    async def asked() -> int:
        async with await agent_at(where, model) as agent:
            scope = await chosen_thread(agent.store, thread, go_on=go_on, today=_today(where))
            run = await agent.ask(scope, question, budget=budget)
            if as_json:
                return await print_events(run)
            code = await answer(run)
            _hint(scope, asked_by_name=bool(thread))
            return code

    return asyncio.run(asked())


async def agent_at(where: Place, model: str = "") -> SearchAgent:
    """The agent that the settings describe."""
    settings = where.settings
    return await open_agent(
        database=where.database, model=model or settings.model, memory=settings.memory == "on", zone=settings.zone
    )


def _today(where: Place) -> str:
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    return datetime.now(UTC).astimezone(ZoneInfo(where.settings.zone)).date().isoformat()


def _hint(scope: ThreadScope, *, asked_by_name: bool) -> None:
    if sys.stderr.isatty() and not asked_by_name:
        note(f"\nGo on: lumina ask -c ...   What the model saw: lumina show {scope.thread}")


async def answer(run: Run) -> int:
    """Follows the turn to its end on the screen. Returns the exit code."""
    teller = Teller()
    with stopping(run) as stopped:
        async for event in run.events():
            teller.tell(event)
        await run.ended()
    teller.tell_sources()
    tell_noting(await run.notes(wait=2.0))
    sys.stdout.flush()
    return exit_code(teller.end.status if teller.end else "failed", stopped=bool(stopped))


async def print_events(run: Run) -> int:
    """Every event of the turn as a line of JSON, as it comes."""
    status = "failed"
    with stopping(run) as stopped:
        async for event in run.events():
            sys.stdout.write(to_json(event) + "\n")
            sys.stdout.flush()
            if event.kind == "turn.finished":
                status = event.status
        await run.ended()
    await run.notes(wait=2.0)
    return exit_code(status, stopped=bool(stopped))


def exit_code(status: str, *, stopped: bool) -> int:
    if stopped:
        return STOPPED
    return 0 if status == "complete" else 1


@contextlib.contextmanager
def stopping(run: Run) -> Iterator[list[int]]:
    """While inside, the first Ctrl-C stops the run and is noted in the list; the second one raises."""
    seen: list[int] = []
    loop = asyncio.get_running_loop()

    def stop() -> None:
        seen.append(1)
        run.stop()
        # From here on Ctrl-C does what it always does.
        loop.remove_signal_handler(signal.SIGINT)

    try:
        loop.add_signal_handler(signal.SIGINT, stop)
    except (NotImplementedError, RuntimeError):  # Windows, or not the main thread: Ctrl-C raises there
        yield seen
        return
    try:
        yield seen
    finally:
        loop.remove_signal_handler(signal.SIGINT)
