"""`lumina show --verify`: renders what the model saw again, and compares it with what was sent.

Nothing is decided anew: each receipt is read, the rows it names are rendered, and the result is compared with the hash
that was stored when the model was asked.
"""

import json

from lumina.cli.place import known_thread, settings, threads_at
from lumina.cli.screen import complain, say
from lumina.cli.working import Worker, complete
from lumina.memory.errors import LuminaError, NotFound
from lumina.memory.showing import Shown
from lumina.memory.thread import Thread
from lumina.memory.turns import Unreadable
from lumina.memory.window import ranges


def verify_turns(name: str, turn: int, *, as_json: bool) -> int:
    """Compares every call of one turn, or of all. Exit code 1 when one differs or cannot be read."""
    chosen = settings()

    async def verify(_: Worker) -> int:
        async with await threads_at(chosen) as threads:
            scope, info = await known_thread(threads.store, name)
            if turn > info.turns:
                raise NotFound(f"Conversation {scope.thread} has no turn {turn}; its last is {info.turns}.")
            thread = await threads.thread(scope)
            bad = calls = forgotten = 0
            seqs = [turn] if turn else range(1, info.turns + 1)
            for seq in seqs:
                rows, problem = await _verified(thread, seq)
                calls += len(rows)
                bad += bool(problem)
                forgotten += sum(row.forgotten for row in rows)
                if as_json:
                    say(json.dumps({"turn": seq, "calls": len(rows), "same": not problem, "problem": problem}))
                elif problem:
                    complain(f"turn {seq}: {problem}")
            if not as_json:
                _say_sum(len(seqs), calls, bad, forgotten)
            return 1 if bad else 0

    return complete(verify)


def _say_sum(turns: int, calls: int, bad: int, forgotten: int) -> None:
    counted = f"{turns} {'turn' if turns == 1 else 'turns'}, {calls} model {'call' if calls == 1 else 'calls'}"
    if bad:
        say(f"{counted}: {bad} {'turn differs' if bad == 1 else 'turns differ'} or cannot be read.", "red")
        return
    gone = f" {forgotten} {'part was' if forgotten == 1 else 'parts were'} forgotten since." if forgotten else ""
    say(f"{counted}: rendered again, all the same, byte for byte.{gone}", "green")


async def _verified(thread: Thread, seq: int) -> tuple[list[Shown], str]:
    """The calls of a turn, and what is wrong with them. A turn that asked no model has none, and nothing is wrong."""
    row = next(iter(await thread.store.page(thread.scope, first=seq, last=seq)), None)
    if row is None:
        return [], "it is not there"
    if isinstance(row, Unreadable):
        return [], f"it cannot be read ({row.reason}); it was left as it is"
    if not await thread.store.receipts(thread.scope, seq, row.attempt):
        return [], "" if row.forgotten or row.status in ("failed", "partial", "running") else "it has no receipt"
    try:
        rows = await thread.show(seq)
    except LuminaError as error:
        return [], str(error)
    differs = [row.call for row in rows if row.same is False]
    if not differs:
        return rows, ""
    which = f"call {differs[0]} renders" if len(differs) == 1 else f"calls {ranges(differs)} render"
    return rows, f"{which} differently from what was sent"
