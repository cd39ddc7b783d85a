"""`lumina show` and `lumina threads`: what the model saw, and the list of conversations.

Nothing is decided anew here: the receipt is read, the rows are rendered again, and the result is compared with the
hash of what was sent.
"""

import asyncio
import json
import sys

from lumina.cli.place import ME, known_thread, place
from lumina.cli.screen import columns, complain, note, safe, say, styled
from lumina.memory.errors import LuminaError, NotFound
from lumina.memory.receipt import PART, Item, Receipt, as_text
from lumina.memory.showing import Shown
from lumina.memory.thread import Thread
from lumina.memory.turns import ThreadInfo, Unreadable
from lumina.wiring import open_threads

PARTS = ("instructions", "window", "noted", "recalled", "question", "tools")


def show_turn(name: str, turn: int, *, text: bool, as_json: bool) -> int:
    """Prints every model call of a turn. Returns the exit code: 1 when a call no longer renders as it was sent."""

    async def load() -> list[Shown]:
        where = place()
        async with await open_threads(where.database, zone=where.settings.zone) as threads:
            return await (await threads.thread(await known_thread(threads.store, name))).show(turn)

    calls = asyncio.run(load())
    if as_json:
        for call in calls:
            print(json.dumps(_as_json(call), ensure_ascii=True))
    elif text:
        for call in calls:
            if len(calls) > 1:
                note(f"call {call.call} of {len(calls)}: {call.receipt.purpose}")
            exact = as_text(call.messages)
            sys.stdout.write(safe(exact) if sys.stdout.isatty() else exact)
    else:
        say_show(calls)
    return 1 if any(call.same is False for call in calls) else 0


def say_show(calls: list[Shown]) -> None:
    for call in calls:
        _say_call(call, len(calls))


def _say_call(call: Shown, of: int) -> None:
    receipt = call.receipt
    purpose = "the answer" if receipt.purpose == "answer" else "what changed (the delta step)"
    say(
        f"Turn {call.seq}, call {call.call} of {of}: {purpose}" + (f", {receipt.model}" if receipt.model else ""),
        "bold",
    )
    whole = receipt.model_copy(update={"items": call.items})
    if receipt.purpose == "answer":
        say(bar(whole))
        say(f"window  {receipt.window_reason}; starts at turn {receipt.window_start}")
        say(f"recall  {'fired: ' if receipt.recall_fired else 'not: '}{receipt.recall_reason}")
        numbers = " ".join(f"[{n}]" for n in receipt.citable)
        say(f"citable {numbers or 'nothing yet'}")
        rows = [("part", "what", "tokens", "", "why"), *(_row(item) for item in call.items)]
        for at, line in enumerate(columns(rows, right=frozenset({2}))):
            say(line, "dim" if at == 0 else "")
    else:
        say(f"{sum(1 for item in call.items if item.kind == 'entry')} entries, the turn and the answer before it")
    say(_verdict(call), "red" if call.same is False else "dim")
    say()


def bar(receipt: Receipt) -> str:
    """Tokens by part, and what is free."""
    tokens = receipt.tokens
    parts = [f"{part} {tokens[part]:,}" for part in PARTS if part in tokens]
    used = sum(tokens.values())
    free = f"free {max(receipt.budget - used, 0):,} of {receipt.budget:,}"
    return f"tokens  {' · '.join([*parts, free])} (counted {receipt.counter})"


def _row(item: Item) -> tuple[str, str, str, str, str]:
    return (PART[item.kind], what(item), f"{item.tokens:,}", "in" if item.included else "out", item.reason)


def what(item: Item) -> str:
    """An item in a few words."""
    match item.kind:
        case "turn":
            return f"turn {item.seq}" + ("" if item.form == "whole" else f", {item.form}")
        case "entry":
            return f"{item.key} ({item.entry_kind}, turn {item.seq})"
        case "keys":
            return "names of entries left out: " + ", ".join(item.keys[:6]) + ("…" if len(item.keys) > 6 else "")
        case "not shown":
            return f"that turns 1-{item.end} are not shown"
        case "not noted":
            return f"that turns {item.text} were not noted"
        case "recalled":
            replaced = f", replaced at turn {item.replaced_at}" if item.replaced_at else ""
            return f"turn {item.seq}, {item.part} {item.start}-{item.end}{replaced}"
        case "source":
            return f"[{item.n}], may be cited again"
        case "tool call":
            return f"tool call {item.index + 1} and its result"
        case "turn noted":
            return f"turn {item.seq}"
        case "refused":
            return f"{item.key}: refused before"
        case _:
            return item.kind


def _verdict(call: Shown) -> str:
    if call.same is None or call.forgotten:
        many = "part was" if call.forgotten == 1 else "parts were"
        return f"{call.forgotten} {many} forgotten since; the rest is as it was sent."
    if call.same:
        return f"Rendered again: the same, byte for byte ({call.receipt.sent[:12]})."
    return "Rendered again: NOT what was sent. A stored row was changed from outside."


def _as_json(call: Shown) -> dict[str, object]:
    whole = call.receipt.model_copy(update={"items": call.items})
    return {
        "turn": call.seq,
        "attempt": call.attempt,
        "call": call.call,
        "same": call.same,
        "forgotten": call.forgotten,
        "tokens": whole.tokens,
        "receipt": whole.model_dump(mode="json", exclude_defaults=True),
        "messages": [
            {"role": m.role, "content": m.content, "tool_call_id": m.tool_call_id,
             "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in m.tool_calls]}
            for m in call.messages
        ],
    }  # fmt: skip


def verify_turns(name: str, turn: int, *, as_json: bool) -> int:
    """Renders every call again and compares. Exit code 1 when one differs or cannot be read."""

    async def verify() -> int:
        where = place()
        async with await open_threads(where.database, zone=where.settings.zone) as threads:
            scope = await known_thread(threads.store, name)
            thread = await threads.thread(scope)
            last = (await threads.store.thread_info(scope)).turns
            if turn > last:
                raise NotFound(f"Conversation {scope.thread} has no turn {turn}; its last is {last}.")
            bad = turns = calls = 0
            for seq in [turn] if turn else range(1, last + 1):
                turns += 1
                rows, problem = await _verified(thread, seq)
                calls += len(rows)
                bad += bool(problem)
                if as_json:
                    print(json.dumps({"turn": seq, "calls": len(rows), "same": not problem, "problem": problem}))
                elif problem:
                    complain(f"turn {seq}: {problem}")
            if not as_json:
                word = "all the same, byte for byte" if not bad else f"{bad} of them differ or cannot be read"
                say(
                    styled(
                        f"{turns} {'turn' if turns == 1 else 'turns'}, {calls} model calls: {word}.",
                        "red" if bad else "green",
                    )
                )
            return 1 if bad else 0

    return asyncio.run(verify())


async def _verified(thread: Thread, seq: int) -> tuple[list[Shown], str]:
    try:
        rows = await thread.show(seq)
    except NotFound:
        page = await thread.store.page(thread.scope, first=seq, last=seq)
        if page and not isinstance(page[0], Unreadable) and page[0].forgotten:
            return [], ""
        return [], "it has no receipt"
    except LuminaError as error:
        return [], str(error)
    differs = [row.call for row in rows if row.same is False]
    return rows, f"call {differs[0]} renders differently from what was sent" if differs else ""


def list_threads(limit: int, *, as_json: bool) -> int:
    """The conversations, the one asked last first."""

    async def load() -> list[ThreadInfo]:
        where = place()
        async with await open_threads(where.database, zone=where.settings.zone) as threads:
            return await threads.threads(ME, limit=limit)

    found = asyncio.run(load())
    if as_json:
        for info in found:
            row = {"thread": info.thread, "title": info.title, "turns": info.turns, "running": info.running,
                   "asked_at": info.asked_at}  # fmt: skip
            print(json.dumps(row))
        return 0
    if not found:
        note('No conversation yet. Begin one: lumina ask "..."')
        return 0
    rows = [
        (info.thread, f"{info.turns}", info.asked_at[:16].replace("T", " "), info.title or "(no title yet)")
        for info in found
    ]
    for at, line in enumerate(
        columns([("conversation", "turns", "asked (UTC)", "title"), *rows], right=frozenset({1}))
    ):
        say(line, "dim" if at == 0 else "")
    return 0
