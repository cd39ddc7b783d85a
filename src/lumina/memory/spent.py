"""What model calls took, summed up in rows: by day, turn, purpose or model.

Prices are looked up by whoever asks (`price_of`), when the sums are made, and are never stored. A price that is not
known is in no sum, and the row says of how many calls that is so.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from lumina.memory.errors import UsageError
from lumina.memory.stored import ModelUse

By = Literal["day", "turn", "purpose", "model"]
COUNTS = ("input", "output", "cached", "cache_written", "reasoning")


@dataclass(slots=True, kw_only=True)
class Spent:
    """Calls that belong together: `what` names the day, purpose or model, or the thread and the turn. `tokens` by the
    names of COUNTS, `price` in US dollars; `unpriced` of the calls have no known price and are in no price."""

    what: dict[str, Any] = field(default_factory=dict)
    calls: int = 0
    unpriced: int = 0
    price: Decimal = Decimal(0)
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    @property
    def known_price(self) -> Decimal | None:
        """None when the price of no call is known."""
        return None if self.unpriced == self.calls else self.price

    def add(self, use: ModelUse, price: Decimal | None) -> None:
        self.calls += 1
        self.unpriced += price is None
        self.price += price or 0
        for name in COUNTS:
            self.tokens[name] += getattr(use, name)


def summed(uses: Iterable[ModelUse], by: By, price_of: Callable[[ModelUse], Decimal | None]) -> list[Spent]:
    """A row for each day, turn, purpose or model, in order."""
    found: dict[tuple[Any, ...], Spent] = {}
    for use in uses:
        what = {"thread": use.thread, "turn": use.seq} if by == "turn" else {by: getattr(use, by)}
        found.setdefault(tuple(what.values()), Spent(what=what)).add(use, price_of(use))
    return [found[key] for key in sorted(found)]


def total(rows: Iterable[Spent]) -> Spent:
    whole = Spent()
    for row in rows:
        whole.calls += row.calls
        whole.unpriced += row.unpriced
        whole.price += row.price
        for name, count in row.tokens.items():
            whole.tokens[name] += count
    return whole


def check_day(name: str, text: str) -> None:
    """UsageError unless `text` is "" or a day (ISO 8601). `name` is what the caller calls it."""
    try:
        right = not text or date.fromisoformat(text).isoformat() == text
    except ValueError:
        right = False
    if not right:
        raise UsageError(f"{name} is {text!r}; it is a day such as 2026-11-30.")
