"""A receipt in words: one model call, part by part, as a person reads it.

The parts have the names and the order of the page: instructions, window, noted, recalled, question, tools; and what is
free.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lumina.cli.screen import can_show, cells, flat, say, say_line, styled, table, width
from lumina.memory.receipt import NOWHERE, PART, Item, Receipt
from lumina.memory.showing import Shown
from lumina.memory.visible_text import hidden_in

BAR = 60  # columns
FREE = ("·", ".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """How a part is drawn: a block, the letter that stands for it where blocks cannot be shown, its colour."""

    block: str
    letter: str
    colour: str


PARTS = {
    "instructions": Part(block="█", letter="i", colour=""),
    "window": Part(block="▓", letter="w", colour="blue"),
    "noted": Part(block="▒", letter="n", colour="green"),
    "recalled": Part(block="░", letter="r", colour="magenta"),
    "question": Part(block="▌", letter="q", colour="amber"),
    "tools": Part(block="▚", letter="t", colour="cyan"),
}
# Why an item is in, where the receipt needs no reason of its own.
WHY = {
    "instructions": "always sent",
    "question": "always sent",
    "turn": "one of the last turns",
    "entry": "noted and still true",
    "not shown": "so that nothing is left out unsaid",
    "not noted": "so that nothing is left out unsaid",
    "recalled": "the question points at it",
    "source": "a turn that is sent cites it",
    "tool call": "the model asked for it",
}
# The same in the step that notes what changed.
PLACES = {
    "system": "the instructions", "user": "questions and what is noted", "assistant": "answers", "tool": "tool results",
}  # fmt: skip
WHY_NOTING = {
    "entry": "so that known keys are used again",
    "turn": "the turn before it, which may be answered or confirmed",
    "turn noted": "the turn that this is about",
    "refused": "so that it is not tried again",
    "instructions": "always sent",
    "schema": "the keys that were declared",
}


def say_call(call: Shown, calls: Sequence[Shown]) -> None:
    """One call: what was sent, by part; what was left out, and why; whether it is still what was sent."""
    receipt = call.receipt
    purpose = "the answer" if receipt.purpose == "answer" else "to note what changed"
    model = f", by {flat(receipt.model)}" if receipt.model else ""
    say(f"Call {call.call} of {len(calls)}: {purpose}{model}", "bold")
    whole = receipt.model_copy(update={"items": call.items})
    for line in bar_lines(whole) if whole.tokens and any(whole.tokens.values()) else ():
        say_line(line)
    first = not receipt.base
    if receipt.purpose == "answer" and first:
        say(f"  window:   {receipt.window_reason}" + (f" (from turn {receipt.window_start})" if _window(whole) else ""))
        say(f"  recalled: {'yes' if receipt.recall_fired else 'nothing'}. {receipt.recall_reason}")
    if receipt.purpose == "answer":
        numbers = " ".join(f"[{n}]" for n in receipt.citable)
        say(f"  citable:  {numbers or 'no source yet'}")
    if not first:
        say(f"  All of call {receipt.base}, and:", "dim")
    items = call.items if first else receipt.items
    why = WHY if receipt.purpose == "answer" else WHY_NOTING
    rows = [("part", "what", "tokens", "sent", "why"), *(row(item, why) for item in ordered(items))]
    for at, lines in enumerate(table(rows, folds=1, right=frozenset({2}), limit=max(width() - 2, 0))):
        for line in lines:
            say("  " + line, "dim" if at == 0 else "")
    if hidden := hidden_by_place(call):
        places = ", ".join(f"{count} in {place}" for place, count in hidden.items())
        say(f"  hidden:   characters that nobody sees, sent as a count of them: {places}", "amber")
    say("  " + verdict(call), "red" if call.same is False else "dim")
    say()


def hidden_by_place(call: Shown) -> dict[str, int]:
    """How many invisible characters were sent as counts, by where they stood. A text can write such a count itself."""
    counts: dict[str, int] = {}
    for message in call.messages:
        if found := hidden_in(message.content):
            place = PLACES[message.role]
            counts[place] = counts.get(place, 0) + found
    return counts


def bar_lines(receipt: Receipt) -> list[str]:
    """A bar of characters, and what it means: tokens by part, and what is free of the budget."""
    tokens = {part: receipt.tokens[part] for part in PARTS if receipt.tokens.get(part)}
    used = sum(tokens.values())
    budget = receipt.budget or used
    blocks = can_show("█▓▒░▌▚·")
    pieces = [(PARTS[part].block if blocks else PARTS[part].letter, PARTS[part].colour) for part in tokens]
    lengths = shares([*tokens.values(), max(budget - used, 0)], min(BAR, width() - 2) if width() else BAR)
    bar = "".join(
        styled(mark * length, colour) for (mark, colour), length in zip(pieces, lengths, strict=False)
    ) + styled(FREE[0 if blocks else 1] * lengths[-1], "dim")
    free = f"{max(budget - used, 0):,} of {budget:,} tokens free" if receipt.budget else f"{used:,} tokens"
    named = zip(pieces, tokens.items(), strict=True)
    legend = [(mark, colour, f" {part} {count:,}") for (mark, colour), (part, count) in named]
    return [f"  {bar}", *_legend([*legend, (free, "dim", "")])]


def _legend(pieces: Sequence[tuple[str, str, str]]) -> list[str]:
    """Pieces (mark, its colour, what it means) in as many lines as the terminal needs; none is broken in two."""
    lines, column = [""], 0
    for mark, colour, meaning in pieces:
        need = cells(mark + meaning) + 2
        if column and width() and column + need > width():
            lines.append("")
            column = 0
        lines[-1] += "  " + styled(mark, colour) + meaning
        column += need
    return lines


def shares(amounts: Sequence[int], length: int) -> list[int]:
    """`length` cells shared by `amounts`: each amount that is not 0 has at least one, the largest gives way."""
    total = sum(amounts)
    if not total:
        return [0] * len(amounts)
    cells = [max(1, amount * length // total) if amount else 0 for amount in amounts]
    cells[cells.index(max(cells))] += length - sum(cells)
    return cells


def ordered(items: Sequence[Item]) -> list[Item]:
    """In the order of the parts; what was sent before what was left out."""
    places = list(PARTS)
    return sorted(items, key=lambda item: (not item.included, places.index(PART[item.kind])))


def row(item: Item, why: Mapping[str, str] = WHY) -> tuple[str, str, str, str, str]:
    reason = item.reason or (why.get(item.kind, "") if item.included else "")
    tokens = f"{item.tokens:,}" if item.tokens else ""
    return (PART[item.kind], what(item), tokens, "in" if item.included else "out", reason)


def what(item: Item) -> str:
    """An item in a few words."""
    match item.kind:
        case "turn":
            return f"turn {item.seq}" + ("" if item.form == "whole" else f", {item.form}")
        case "entry":
            # A person's own facts may come from another conversation, whose turns have numbers of their own.
            place = "about you" if item.about == "subject" else f"turn {item.seq}"
            return f"{item.key} ({item.entry_kind}, {place})"
        case "keys":
            return "names of entries left out: " + ", ".join(item.keys[:6]) + ("…" if len(item.keys) > 6 else "")
        case "not shown":
            return f"that turns 1-{item.end} are not shown"
        case "not noted":
            return f"that turns {item.text} were not noted"
        case "recalled":
            place = f", replaced at turn {item.replaced_at}" if item.replaced_at > 0 else ", replaced elsewhere"
            replaced = place if item.replaced_at else ""
            named = "another conversation" if item.thread == NOWHERE else f"conversation {item.thread}"
            other = f" of {named}" if item.thread else ""
            return f"turn {item.seq}{other}, {item.part}, characters {item.start}-{item.end}{replaced}"
        case "source":
            return f"[{item.n}] may be cited again"
        case "tool call":
            return f"lookup {item.index + 1} and its result"
        case "turn noted":
            return f"turn {item.seq}"
        case "refused":
            return f"{item.key}: refused before ({item.text})"
        case "schema":
            return "declared keys"
        case "instructions" | "question":
            return item.kind


def verdict(call: Shown) -> str:
    """Whether rendering again gave what was sent."""
    if call.receipt.skipped:
        return f"No model was asked: {call.receipt.skipped}."
    if call.same is None or call.forgotten:
        many = "part was" if call.forgotten == 1 else "parts were"
        return f"{call.forgotten} {many} forgotten since; the rest is as it was sent."
    if call.same:
        return f"Rendered again: the same, byte for byte (SHA-256 {call.receipt.sent[:12]}…)."
    return "Rendered again: NOT what was sent. A stored row was changed from outside."


def _window(receipt: Receipt) -> bool:
    return any(item.kind == "turn" and item.included for item in receipt.items)
