"""`lumina usage`: what the models took and what it cost, by day, turn, purpose or model.

Counts are kept with each turn, as the providers reported them. Prices are looked up when they are shown, in a list
that comes with the program; nobody is asked. A price that is not known is said to be so and is in no sum.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lumina.memory.store import ModelUse

COUNTS = ("input", "output", "cached", "cache_written", "reasoning")
HEADS = ("calls", "input", "of it cached", "output", "price")


class By(StrEnum):
    """What is summed up in a row."""

    day = "day"
    turn = "turn"
    purpose = "purpose"
    model = "model"


@dataclass(slots=True, kw_only=True)
class Sum:
    """Calls that belong together, by `what`. `unpriced` of them have no known price and are in no price."""

    name: str
    what: dict[str, object]
    calls: int = 0
    unpriced: int = 0
    price: Decimal = Decimal(0)
    tokens: dict[str, int]

    def add(self, use: "ModelUse", price: Decimal | None) -> None:
        self.calls += 1
        self.unpriced += price is None
        self.price += price or 0
        for name in COUNTS:
            self.tokens[name] += getattr(use, name)


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
    from lumina.wiring import price_of

    check_day(since)
    chosen = settings()

    async def read(_: Worker) -> "list[ModelUse]":
        async with await threads_at(chosen) as threads:
            scope = (await known_thread(threads.store, name))[0] if name else ME
            return await threads.store.usage(scope, since=since)

    uses = complete(read)
    rows = summed(uses, by, price_of, one_thread=bool(name))
    if as_json:
        for row in rows:
            usd = None if row.unpriced == row.calls else str(row.price)
            say(json.dumps({**row.what, "calls": row.calls, **row.tokens, "usd": usd,
                            "calls_without_price": row.unpriced}))  # fmt: skip
        return 0
    if not rows:
        say("No model was asked" + (f" since {since}." if since else " yet."))
        return 0
    if len(rows) > 1:
        rows.append(total(rows))
    lines = columns([(by.value, *HEADS), *(_cells(row) for row in rows)], right=frozenset({1, 2, 3, 4}))
    for at, line in enumerate(lines):
        say(line, "dim" if at == 0 else "bold" if rows[-1].name == "total" and at == len(lines) - 1 else "")
    if any(row.unpriced for row in rows):
        note("A price that is not known is in no sum: the model is not on the list that comes with Lumina.")
    return 0


def check_day(text: str) -> None:
    from lumina.memory.errors import UsageError

    try:
        right = not text or date.fromisoformat(text).isoformat() == text
    except ValueError:
        right = False
    if not right:
        raise UsageError(f"--since is {text!r}; it is a day such as 2026-11-30.")


def summed(
    uses: "Iterable[ModelUse]", by: By, price_of: "Callable[[ModelUse], Decimal | None]", *, one_thread: bool
) -> list[Sum]:
    """A row for each day, turn, purpose or model, in order."""
    found: dict[tuple[Any, ...], Sum] = {}
    for use in uses:
        what: dict[str, object] = {by.value: getattr(use, by.value)} if by is not By.turn else {
            "thread": use.thread, "turn": use.seq,
        }  # fmt: skip
        name = " ".join(str(value) for key, value in what.items() if not (one_thread and key == "thread"))
        row = found.setdefault(tuple(what.values()), Sum(name=name, what=what, tokens=dict.fromkeys(COUNTS, 0)))
        row.add(use, price_of(use))
    return [found[key] for key in sorted(found)]


def total(rows: Iterable[Sum]) -> Sum:
    whole = Sum(name="total", what={}, tokens=dict.fromkeys(COUNTS, 0))
    for row in rows:
        whole.calls += row.calls
        whole.unpriced += row.unpriced
        whole.price += row.price
        for name, count in row.tokens.items():
            whole.tokens[name] += count
    return whole


def _cells(row: Sum) -> tuple[str, ...]:
    counts = (row.calls, row.tokens["input"], row.tokens["cached"], row.tokens["output"])
    return (row.name, *(f"{count:,}" for count in counts), priced(row))


def priced(row: Sum) -> str:
    """The price in words: what is known of it, and of how many calls it is not."""
    if row.unpriced == row.calls:
        return "price unknown"
    known = "nothing" if not row.price else f"${row.price:,.4f}" if row.price >= Decimal("0.0001") else "under $0.0001"
    if not row.unpriced:
        return known
    return f"{known}, and {row.unpriced} {'call' if row.unpriced == 1 else 'calls'} of unknown price"
