"""`lumina show --verify`: renders what the model saw again, and compares it with what was sent.

Nothing is decided anew: each receipt is read, the rows it names are rendered, and the result is compared with the hash
that was stored when the model was asked.
"""

import json

from lumina.cli.place import known_thread, settings, threads_at
from lumina.cli.screen import complain, say
from lumina.cli.working import Worker, complete
from lumina.memory.errors import LuminaError, NotFound, StoreError
from lumina.memory.showing import Shown
from lumina.memory.thread import Thread
from lumina.memory.turns import TurnPage, Unreadable
from lumina.memory.window import ranges


def verify_turns(name: str, turn: int, *, as_json: bool, rebuild: bool = False) -> int:
    """Compares every call of one turn, or of all, superseded ones too; then what was noted with the fold of its deltas.
    Exit code 1 when something differs or cannot be read, and was not rebuilt."""
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
                calls += sum(not row.receipt.skipped for row in rows)
                bad += bool(problem)
                forgotten += sum(row.forgotten for row in rows)
                if as_json:
                    say(json.dumps({"turn": seq, "calls": len(rows), "same": not problem, "problem": problem}))
                elif problem:
                    complain(f"turn {seq}: {problem}")
            if not as_json:
                _say_sum(len(seqs), calls, bad, forgotten)
            sound = await _verify_noted(thread, as_json=as_json, rebuild=rebuild)
            return 1 if bad or not sound else 0

    return complete(verify)


def _say_sum(turns: int, calls: int, bad: int, forgotten: int) -> None:
    counted = f"{turns} {'turn' if turns == 1 else 'turns'}, {calls} model {'call' if calls == 1 else 'calls'}"
    if bad:
        say(f"{counted}: {bad} {'turn differs' if bad == 1 else 'turns differ'} or cannot be read.", "red")
        return
    gone = f" {forgotten} {'part was' if forgotten == 1 else 'parts were'} forgotten since." if forgotten else ""
    say(f"{counted}: rendered again, all the same, byte for byte.{gone}", "green")


async def _verify_noted(thread: Thread, *, as_json: bool, rebuild: bool) -> bool:
    """Whether state and profile are what their deltas fold to, by now."""
    try:
        found = await (thread.rebuild_state() if rebuild else thread.verify_state())
    except StoreError as error:
        complain(f"what was noted: {error}")
        return False
    if as_json:
        say(json.dumps({"state": found.state, "profile": found.profile, "rebuilt": rebuild and not found.sound}))
    for what, how in (("state", found.state), ("profile", found.profile)):
        if how in ("differs", "damaged"):
            told = "is not what its deltas fold to" if how == "differs" else "cannot be read"
            mended = "it was folded anew and stored" if rebuild else "--rebuild folds it anew"
            complain(f"the stored {what} {told}; {mended}.")
    if found.sound and not as_json:
        say("What was noted is the fold of its deltas, byte for byte.", "green")
    return found.sound or rebuild


async def _verified(thread: Thread, seq: int) -> tuple[list[Shown], str]:
    """The calls of all attempts at a turn, and what is wrong with them."""
    attempts = await thread.store.page(thread.scope, first=seq, last=seq, superseded=True)
    if not attempts:
        return [], "it is not there"
    found: list[Shown] = []
    for row in attempts:
        rows, problem = await _verified_attempt(thread, seq, row)
        found += rows
        if problem:
            return found, problem if len(attempts) == 1 else f"attempt {getattr(row, 'attempt', '?')}: {problem}"
    return found, ""


async def _verified_attempt(thread: Thread, seq: int, row: TurnPage | Unreadable) -> tuple[list[Shown], str]:
    """The calls of one attempt. One that asked no model has none, and nothing is wrong."""
    if isinstance(row, Unreadable):
        return [], f"it cannot be read ({row.reason}); it was left as it is"
    if not await thread.store.receipts(thread.scope, seq, row.attempt):
        return [], "" if row.forgotten or row.status in ("failed", "partial", "running") else "it has no receipt"
    try:
        rows = await thread.show(seq, attempt=row.attempt)
    except LuminaError as error:
        return [], str(error)
    differs = [row.call for row in rows if row.same is False]
    if not differs:
        return rows, ""
    which = f"call {differs[0]} renders" if len(differs) == 1 else f"calls {ranges(differs)} render"
    return rows, f"{which} differently from what was sent"
