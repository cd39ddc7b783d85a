"""Sums of what model calls took."""

from decimal import Decimal

import pytest

from lumina.memory.errors import UsageError
from lumina.memory.spent import check_day, summed, total
from lumina.memory.stored import ModelUse

USES = [
    ModelUse(thread="b", seq=1, attempt=1, purpose="answer", model="m:1", day="2026-12-01", input=10, output=3),
    ModelUse(thread="a", seq=2, attempt=1, purpose="note", model="m:2", day="2026-11-30", input=5, output=1, cached=4),
    ModelUse(thread="b", seq=1, attempt=1, purpose="note", model="m:1", day="2026-12-01", input=7, output=2),
]
PRICES = {"m:1": Decimal("0.5"), "m:2": None}


def price_of(use):
    return PRICES[use.model]


def test_rows_are_in_order_and_hold_every_call_once():
    days = summed(USES, "day", price_of)
    assert [(row.what, row.calls, row.tokens["input"]) for row in days] == [
        ({"day": "2026-11-30"}, 1, 5), ({"day": "2026-12-01"}, 2, 17),
    ]  # fmt: skip
    turns = summed(USES, "turn", price_of)
    assert [row.what for row in turns] == [{"thread": "a", "turn": 2}, {"thread": "b", "turn": 1}]
    for by in ("day", "turn", "purpose", "model"):
        assert total(summed(USES, by, price_of)).tokens == {
            "input": 22, "output": 6, "cached": 4, "cache_written": 0, "reasoning": 0,
        }  # fmt: skip


def test_a_price_that_is_not_known_is_in_no_sum_and_is_counted():
    unknown, known = summed(USES, "day", price_of)
    assert (unknown.known_price, unknown.unpriced) == (None, 1)
    assert (known.known_price, known.unpriced) == (Decimal("1.0"), 0)
    whole = total([unknown, known])
    assert (whole.known_price, whole.unpriced, whole.calls) == (Decimal("1.0"), 1, 3)


@pytest.mark.parametrize("text", ["2026-1-1", "20260101", "yesterday", "2026-02-30", "2026-01-01T00:00"])
def test_what_is_no_day_is_refused_by_its_name(text):
    check_day("since", "")
    check_day("since", "2026-01-01")
    with pytest.raises(UsageError, match="since is"):
        check_day("since", text)
