"""`lumina usage`: what the models took and what it cost, by day, turn, purpose or model.

Counts are kept with each turn, as the providers reported them. Prices are looked up when they are shown, in a list
that comes with the program; nobody is asked. A price that is not known is said to be so and is in no sum.
"""

import json
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lumina.memory.spent import Spent
    from lumina.memory.store import ModelUse

HEADS = ("calls", "input", "of it cached", "output", "price")


class By(StrEnum):
    """What is summed up in a row."""

    day = "day"
    turn = "turn"
    purpose = "purpose"
    model = "model"


def usage(
    by: Annotated[By, typer.Option(help="What to sum up in a row.")] = By.day,
    thread: Annotated[
        str, typer.Option("--thread", "-t", metavar="NAME", help="Only this conversation; all if left out.")
    ] = "",
    since: Annotated[str, typer.Option(metavar="DAY", help="From this day on, such as 2026-11-30 (UTC).")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")] = False,
) -> None:
    """What the models took, in tokens, and what it cost.

    Every call of a model counts: answers, and the step that notes what changed, tried again or not. Prices are the
    vendors' public ones of that day, in US dollars, from a list that comes with Lumina; a model on this machine costs
    nothing. What was forgotten is not counted any more.
    """
    raise typer.Exit(_usage(by, thread, since, as_json=as_json))


def _usage(by: By, name: str, since: str, *, as_json: bool) -> int:
    from lumina.cli.place import ME, known_thread, settings, threads_at
    from lumina.cli.screen import columns, note, say
    from lumina.cli.working import Worker, complete
    from lumina.memory.spent import check_day, summed, total
    from lumina.wiring import price_of

    check_day("--since", since)
    chosen = settings()

    async def read(_: Worker) -> "list[ModelUse]":
        async with await threads_at(chosen) as threads:
            scope = (await known_thread(threads.store, name))[0] if name else ME
            return await threads.store.usage(scope, since=since)

    uses = complete(read)
    rows = summed(uses, by.value, price_of)
    if as_json:
        for row in rows:
            usd = None if row.known_price is None else str(row.known_price)
            say(json.dumps({**row.what, "calls": row.calls, **row.tokens, "usd": usd,
                            "calls_without_price": row.unpriced}))  # fmt: skip
        return 0
    if not rows:
        say("No model was asked" + (f" since {since}." if since else " yet."))
        return 0
    told = [_cells(_name(row, one_thread=bool(name)), row) for row in rows]
    told += [_cells("total", total(rows))] if len(rows) > 1 else []
    lines = columns([(by.value, *HEADS), *told], right=frozenset({1, 2, 3, 4}))
    for at, line in enumerate(lines):
        say(line, "dim" if at == 0 else "bold" if at > len(rows) else "")
    if any(row.unpriced for row in rows):
        note("A price that is not known is in no sum: the model is not on the list that comes with Lumina.")
    return 0


def _name(row: "Spent", *, one_thread: bool) -> str:
    return " ".join(str(value) for key, value in row.what.items() if not (one_thread and key == "thread"))


def _cells(name: str, row: "Spent") -> tuple[str, ...]:
    counts = (row.calls, row.tokens["input"], row.tokens["cached"], row.tokens["output"])
    return (name, *(f"{count:,}" for count in counts), priced(row))


def priced(row: "Spent") -> str:
    """The price in words: what is known of it, and of how many calls it is not."""
    price = row.known_price
    if price is None:
        return "price unknown"
    known = "nothing" if not price else f"${price:,.4f}" if price >= Decimal("0.0001") else "under $0.0001"
    if not row.unpriced:
        return known
    return f"{known}, and {row.unpriced} {'call' if row.unpriced == 1 else 'calls'} of unknown price"
