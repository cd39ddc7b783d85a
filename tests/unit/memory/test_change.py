"""Change: built whole or not at all, stored as canonical JSON."""

import pytest

from lumina.memory.change import Change, Quote, dump_changes, load_changes
from lumina.memory.errors import StoreError, UsageError


@pytest.mark.parametrize("body", ["", "{}", "[{}]", "[" * 100_000, '[{"op":"set"}]', "[NaN]", "null"])
def test_stored_changes_that_cannot_be_read_are_a_store_error(body: str):
    with pytest.raises(StoreError):
        load_changes(body)


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": "Home"},
        {"key": "a..b"},
        {"value": ""},
        {"value": "x" * 501},
        {"value": "a\x00b"},
        {"quote": None},
        {"quote": Quote(seq=1, attempt=1, part="answer", start=0, end=1)},
        {"kind": "issue"},
        {"kind": "finding"},
        {"source": 3},
        {"correction": 1},
        {"by": "Ann"},
    ],
)
def test_a_change_that_breaks_a_rule_cannot_be_built(wrong: dict):
    good = {"op": "set", "kind": "fact", "key": "a", "value": "1", "said_by": "user", "seq": 1, "attempt": 1, "day": ""}
    quote = Quote(seq=1, attempt=1, part="question", start=0, end=1)
    Change(**(good | {"quote": quote}))  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        Change(**(good | {"quote": quote} | wrong))  # type: ignore[arg-type]


def test_stored_changes_are_canonical_and_come_back_whole():
    quote = Quote(seq=1, attempt=1, part="question", start=0, end=1)
    change = Change(op="set", kind="fact", key="a", value="é", said_by="user", seq=1, attempt=1, day="d", quote=quote)
    assert dump_changes([change]) == (
        '[{"attempt":1,"day":"d","key":"a","kind":"fact","op":"set","quote":{"attempt":1,"end":1,"part":"question",'
        '"seq":1,"start":0},"said_by":"user","seq":1,"value":"\\u00e9"}]'
    )
    assert load_changes(dump_changes([change, change])) == (change, change)
    assert load_changes(dump_changes([])) == ()
