"""`lumina ask`: one question, one streamed answer.

Ctrl-C stops the answer, not the program: the turn ends as partial with what has arrived, and the exit code is 130. A
second Ctrl-C leaves at once (`lumina.cli.working`).
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lumina.agent.events import to_json
from lumina.agent.run import Run
from lumina.cli.place import agent_at, check_name, check_temporary, chosen_thread, known_thread, settings
from lumina.cli.screen import note
from lumina.cli.telling import Teller, tell_noting
from lumina.cli.working import STOPPED, Worker, complete
from lumina.memory.errors import UsageError
from lumina.memory.noting import Noting
from lumina.memory.scope import ThreadScope
from lumina.memory.window import ranges

if TYPE_CHECKING:
    from lumina.agent.search_agent import SearchAgent
    from lumina.settings import Settings

NOTES_WAIT = 2.0  # seconds that the notes of a turn are waited for


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """A turn is to be answered again: which (0: the last one), and whether another question takes its place."""

    turn: int = 0
    question: bool = False


def ask_once(
    question: str, *, thread: str, go_on: bool, model: str, budget: int, as_json: bool, redo: Redo | None = None,
    temporary: bool = False, research: bool = False,
) -> int:  # fmt: skip
    """Asks, prints, returns the exit code."""
    check_name(thread, go_on)
    check_temporary(temporary, go_on)
    chosen = settings()

    async def asked(worker: Worker) -> int:
        async with await agent_at(chosen, model) as agent:
            if redo is not None:
                scope, _ = await known_thread(agent.store, thread)
                run = await ask_instead(
                    agent, scope, redo.turn, question if redo.question else None, budget, research=research
                )
            else:
                scope = await chosen_thread(agent.store, thread, go_on=go_on, today=agent.today())
                run = await agent.ask(scope, question, budget=budget, temporary=temporary, research=research)
            if as_json:
                return await print_events(run, worker)
            code = await answer(run, worker)
            _hint(scope, chosen)
            return code

    return complete(asked)


async def ask_instead(
    agent: "SearchAgent", scope: ThreadScope, turn: int, question: str | None, budget: int, *, research: bool = False
) -> Run:
    """Answers turn `turn` (0: the last one) again; with a question, that one in its place. Says what is superseded."""
    rows = await agent.store.page(scope)
    seq = turn or max((row.seq for row in rows), default=0)
    later = [row.seq for row in rows if row.seq > seq]
    if question is None:
        run = await agent.regenerate(scope, seq, budget=budget, research=research)
    else:
        run = await agent.ask(scope, question, budget=budget, instead_of=seq or 1, research=research)
    note(f"Turn {run.seq} again, attempt {run.attempt}.")
    if later:
        many = f"Turns {ranges(later)} are" if len(later) > 1 else f"Turn {later[0]} is"
        note(f"{many} superseded: no longer sent, still shown by lumina show.", "amber")
    return run


def piped_question() -> str:
    """The question on standard input. UsageError when it is not UTF-8."""
    if sys.stdin.isatty():
        note("Type the question; Ctrl-D ends it.")
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"Standard input is not UTF-8 text (byte {error.start} is 0x{error.object[error.start]:02x}). "
            "Nothing was asked. Convert it first, for example with iconv."
        ) from None


def _hint(scope: ThreadScope, chosen: "Settings") -> None:
    if sys.stdout.isatty() and sys.stderr.isatty():
        again = "Memory is off: each question stands alone." if chosen.memory == "off" else "Go on: lumina ask -c ..."
        note(f"{again}  What the model saw: lumina show {scope.thread}")


async def answer(run: Run, worker: Worker) -> int:
    """Follows the turn to its end on the screen. Returns the exit code."""
    teller = Teller()
    with worker.stopping(run.stop):
        async for event in run.events():
            teller.tell(event)
        await run.ended()
    stopped = bool(worker.interrupts)
    teller.tell_sources()
    tell_noting(await notes(run, worker))
    sys.stdout.flush()
    return exit_code(teller.end.status if teller.end else "failed", stopped=stopped)


async def notes(run: Run, worker: Worker) -> Noting | None:
    """What was noted, if it is there within two seconds. Ctrl-C ends the wait; the answer is complete all the same."""
    waiting = asyncio.ensure_future(run.notes(wait=NOTES_WAIT))
    with worker.stopping(waiting.cancel):
        await asyncio.wait({waiting})
    return None if waiting.cancelled() else waiting.result()


async def print_events(run: Run, worker: Worker) -> int:
    """Every event of the turn as a line of JSON, as it comes."""
    status = "failed"
    with worker.stopping(run.stop):
        async for event in run.events():
            sys.stdout.write(to_json(event) + "\n")
            sys.stdout.flush()
            if event.kind == "turn.finished":
                status = event.status
        await run.ended()
    stopped = bool(worker.interrupts)
    await notes(run, worker)
    return exit_code(status, stopped=stopped)


def exit_code(status: str, *, stopped: bool) -> int:
    if status == "complete":
        return 0
    return STOPPED if stopped else 1
