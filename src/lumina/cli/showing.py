"""`lumina show`: what the model saw in a turn, and why.

Nothing is decided anew here: the receipt is read, the rows are rendered again, and the result is compared with the
hash of what was sent. `lumina.cli.receipts` has the words.
"""

import json
import sys
from dataclasses import dataclass

from lumina.cli.listing import minute
from lumina.cli.place import known_thread, settings, threads_at
from lumina.cli.receipts import hidden_by_place, say_call
from lumina.cli.screen import flat, note, safe, say
from lumina.cli.working import Worker, complete
from lumina.memory.errors import NotFound, StoreError
from lumina.memory.receipt import as_text
from lumina.memory.showing import Shown
from lumina.memory.showing import show_turn as shown_calls
from lumina.memory.thread import Thread
from lumina.memory.turns import TurnPage, Unreadable

SEARCHED = {
    "not needed": "nothing was searched",
    "found": "a search found something",
    "empty": "the search found nothing",
    "failed": "the search failed",
}
STATUS = {"complete": "complete", "partial": "stopped here", "failed": "no answer", "running": "being answered"}
QUESTION = 300  # characters of the question that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A turn as a person sees it, its model calls, and the turns of its thread that cannot be read."""

    thread: str
    turns: int
    attempts: int  # at this turn
    page: TurnPage
    calls: list[Shown]
    unreadable: list[Unreadable]


async def account_of(thread: Thread, turn: int, attempt: int = 0) -> Account:
    """The account of turn `turn` (0: the last one), attempt `attempt` (0: the newest). NotFound when there is none,
    StoreError when it cannot be read."""
    info = await thread.store.thread_info(thread.scope)
    name = thread.scope.thread
    if not info.turns:
        raise NotFound(f"Conversation {name} has no turn yet.")
    if turn > info.turns:
        raise NotFound(f"Conversation {name} has no turn {turn}; its last is {info.turns}.")
    rows = await thread.store.page(thread.scope, superseded=True)
    unreadable = [row for row in rows if isinstance(row, Unreadable)]
    live = [row.seq for row in rows if isinstance(row, Unreadable) or not row.superseded]
    seq = turn or max(live, default=info.turns)
    attempts = [row for row in rows if row.seq == seq]
    if attempt > len(attempts) > 0:
        raise NotFound(f"Turn {seq} of conversation {name} has no attempt {attempt}; it has {len(attempts)}.")
    page = next((row for row in reversed(attempts) if attempt in (0, getattr(row, "attempt", 0))), None)
    if not isinstance(page, TurnPage):
        reason = f" ({page.reason})" if page else ""
        raise StoreError(
            f"Turn {seq} of conversation {name} cannot be read{reason}. It was left as it is, and the other turns are "
            f"not affected: lumina show {name} --turn N shows them."
        )
    kept = await thread.store.receipts(thread.scope, seq, page.attempt)
    calls = await shown_calls(thread.store, thread.scope, seq, page.attempt) if kept else []
    return Account(
        thread=name, turns=info.turns, attempts=len(attempts), page=page, calls=calls, unreadable=unreadable
    )  # fmt: skip


def show_turn(name: str, turn: int, call: int, *, text: bool, as_json: bool, attempt: int = 0) -> int:
    """Prints the model calls of a turn, or one of them. Exit code 1 when one no longer renders as it was sent."""
    chosen = settings()

    async def load(_: Worker) -> Account:
        async with await threads_at(chosen) as threads:
            scope, _info = await known_thread(threads.store, name)
            return await account_of(await threads.thread(scope), turn, attempt)

    account = complete(load)
    calls = [shown for shown in account.calls if call in (0, shown.call)]
    if call and not calls:
        raise NotFound(f"Turn {account.page.seq} has no call {call}; it has {len(account.calls)}.")
    if as_json:
        for shown in calls:
            say(json.dumps(_as_json(shown, account)))
    elif text:
        _print_text(calls, account)
    else:
        say_account(account, calls)
    return 1 if any(shown.same is False for shown in calls) else 0


def _print_text(calls: list[Shown], account: Account) -> None:
    """Byte for byte in a pipe; made harmless on a terminal. What was not asked was not sent."""
    calls = [shown for shown in calls if not shown.receipt.skipped]
    for shown in calls:
        if len(calls) > 1:
            note(f"call {shown.call} of {len(account.calls)} ({shown.receipt.purpose}); alone: --call {shown.call}")
        exact = as_text(shown.messages)
        if sys.stdout.isatty():
            sys.stdout.write(safe(exact))
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(exact.encode())
            sys.stdout.buffer.flush()
    if not calls:
        note("Nothing was sent: no model was asked in this turn.")


def say_account(account: Account, calls: list[Shown]) -> None:
    """The turn in two lines, then each call."""
    page = account.page
    which = f", attempt {page.attempt} of {account.attempts}" if account.attempts > 1 else ""
    asked = f"asked {minute(page.asked_at)} UTC"
    say(f"Turn {page.seq} of {account.turns} in {flat(account.thread)}{which}, {asked}", "bold")
    if page.superseded:
        say("  superseded: a turn was asked again, and this one is sent to no model any more", "amber")
    question = flat(page.question) if not page.forgotten else f"[forgotten on {page.forgotten}]"
    say("  " + (question if len(question) <= QUESTION else question[: QUESTION - 1] + "…"))
    reason = f" ({flat(page.reason)})" if page.reason else ""
    say(f"  {STATUS[page.status]}{reason}; {SEARCHED[page.searched]}", "" if page.status == "complete" else "amber")
    say()
    for shown in calls:
        say_call(shown, account.calls)
    if not calls:
        say("No model was asked in this turn." if page.status != "running" else "No model has been asked yet.")
    if account.unreadable:
        rows = account.unreadable
        seqs = ", ".join(str(row.seq) for row in rows[:20]) + (" …" if len(rows) > 20 else "")
        say(f"Cannot be read, and left as it is: turn {seqs}" if len(rows) == 1 else
            f"Cannot be read, and left as they are: turns {seqs}", "amber")  # fmt: skip


def _as_json(call: Shown, account: Account) -> dict[str, object]:
    whole = call.receipt.model_copy(update={"items": call.items})
    page = account.page
    return {
        "thread": account.thread,
        "turn": call.seq,
        "attempt": call.attempt,
        "superseded": page.superseded,
        "status": page.status,
        "reason": page.reason,
        "searched": page.searched,
        "unreadable": [row.seq for row in account.unreadable],
        "call": call.call,
        "same": call.same,
        "forgotten": call.forgotten,
        "tokens": whole.tokens,
        "hidden": hidden_by_place(call),
        "receipt": whole.model_dump(mode="json", exclude_defaults=True),
        "messages": [
            {"role": m.role, "content": m.content, "tool_call_id": m.tool_call_id,
             "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in m.tool_calls]}
            for m in call.messages
        ],
    }  # fmt: skip
