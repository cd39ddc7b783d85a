"""State: one register per kind, lane and key; the order of turns decides, never the order of arrival."""

import pytest

from lumina.memory.change import Change, Quote, dump_changes, load_changes
from lumina.memory.errors import StoreError
from lumina.memory.state import State, fold, history

FIELDS = {"set": "fact", "retract": "fact", "open": "issue", "resolve": "issue", "decide": "decision"}


def said(op: str, key: str, value: str = "", *, seq: int, by: str = "user", **more) -> Change:
    """A change by a user (default), an assistant, a source or an operator."""
    part = "question" if by == "user" else "answer"
    given = {
        "kind": "finding" if by == "source" else FIELDS[op],
        "attempt": 1,
        "number": seq,
        "day": f"2026-11-{seq % 28 + 1:02}",
        "quote": None if by == "operator" else Quote(seq=seq, attempt=1, part=part, start=0, end=9),
    }
    if by == "source":
        given["source"] = 3
    if by == "operator":
        given |= {"correction": 1, "by": "Ann"}
    return Change(op=op, key=key, value=value, said_by=by, seq=seq, **(given | more))  # type: ignore[arg-type]


def values(state: State) -> dict[tuple[str, str], str]:
    return {(entry.kind, entry.key): entry.value for entry in state.current()}


def test_a_new_value_replaces_the_old_one_and_the_old_one_stays_in_history():
    """DEMAND Memory 1 and 2: A then B is B, never both, never neither."""
    deltas = [[said("set", "diet", "vegetarian", seq=1)], [said("set", "diet", "eats steak", seq=2)]]
    assert values(fold(deltas)) == {("fact", "diet"): "eats steak"}
    rows = history(deltas, "diet")
    assert [(row.value, row.seq, row.until, row.current) for row in rows] == [
        ("vegetarian", 1, 2, False),
        ("eats steak", 2, 0, True),
    ]


def test_unrelated_writes_supersede_nothing():
    """DEMAND Memory 3."""
    state = State()
    for seq in range(1, 201):
        state, outcomes = state.merge([said("set", f"topic.k{seq}", f"v{seq}", seq=seq)])
        assert [outcome.kind for outcome in outcomes] == ["new"]
    assert len(state.current()) == 200


def test_open_closed_open_is_three_rows_and_stands_open():
    """DEMAND Memory 5."""
    deltas = [
        [said("open", "printer", "is offline", seq=1)],
        [said("resolve", "printer", seq=3)],
        [said("open", "printer", "is offline", seq=5)],
    ]
    rows = history(deltas, "printer")
    assert [(row.began.op, row.seq, row.until, row.current) for row in rows] == [
        ("open", 1, 3, False),
        ("resolve", 3, 5, False),
        ("open", 5, 0, True),
    ]
    assert values(fold(deltas)) == {("issue", "printer"): "is offline"}


def test_a_value_said_k_times_stands_once_with_k_pieces_of_evidence():
    """DEMAND Memory 11."""
    deltas = [[said("set", "name", "Ann" if seq % 2 else "ann", seq=seq)] for seq in range(1, 31)]
    state, outcomes = State().merge(change for delta in deltas for change in delta)
    assert [outcome.kind for outcome in outcomes] == ["new"] + ["repeats"] * 29
    assert len(state.current()) == 1
    (row,) = history(deltas, "name")
    assert len(row.evidence) == 30
    assert len(state.to_json()) < 400


@pytest.mark.parametrize(
    ("before", "change", "kind", "old"),
    [
        ([], said("set", "a", "1", seq=1), "new", ""),
        ([said("set", "a", "1", seq=1)], said("set", "a", "2", seq=2), "replaces", "1"),
        ([said("set", "a", "one", seq=1)], said("set", "a", "One", seq=2), "repeats", "one"),
        ([said("set", "a", "1", seq=2)], said("set", "a", "0", seq=1), "late", "1"),
        ([said("set", "a", "1", seq=1)], said("set", "a", "1", seq=1), "repeats", "1"),
        ([said("set", "a", "1", seq=1)], said("retract", "a", seq=2), "closes", "1"),
        ([said("decide", "a", "1", seq=1)], said("retract", "a", seq=2), "closes", "1"),
        ([said("set", "a", "1", seq=1, by="source")], said("retract", "a", seq=2), "closes", "1"),
        ([said("open", "a", "1", seq=1)], said("resolve", "a", seq=2), "closes", "1"),
        ([said("open", "a", "1", seq=1, by="assistant")], said("resolve", "a", seq=2), "closes", "1"),
        ([said("open", "a", "1", seq=1)], said("retract", "a", seq=2), "nothing to retract", ""),
        ([said("set", "a", "1", seq=1)], said("resolve", "a", seq=2), "nothing to retract", ""),
        ([said("set", "a", "1", seq=3)], said("retract", "a", seq=2), "nothing to retract", ""),
        ([said("retract", "a", seq=3)], said("set", "a", "1", seq=2), "late", ""),
        ([said("decide", "a", "1", seq=1)], said("decide", "a", "2", seq=2, by="assistant"), "hidden", "1"),
        ([said("resolve", "a", seq=1)], said("open", "a", "2", seq=2, by="assistant"), "hidden", ""),
        ([said("retract", "a", seq=3)], said("set", "a", "1", seq=2, by="source"), "late", ""),
        ([said("set", "a", "1", seq=1)], said("decide", "a", "2", seq=2), "new", ""),
    ],
)
def test_code_says_what_a_change_did(before: list[Change], change: Change, kind: str, old: str):
    state, _ = State().merge(before)
    _, (outcome,) = state.merge([change])
    assert (outcome.kind, outcome.old) == (kind, old)


def test_what_has_one_key_but_several_kinds_does_not_collide():
    changes = [
        said("set", "db", "Postgres 15", seq=1),
        said("open", "db", "is slow", seq=2),
        said("decide", "db", "move to 18", seq=3),
        said("set", "db", "18 is out", seq=4, by="source"),
    ]
    state, _ = State().merge(changes)
    assert [(entry.kind, entry.value) for entry in state.current()] == [
        ("fact", "Postgres 15"),
        ("issue", "is slow"),
        ("decision", "move to 18"),
        ("finding", "18 is out"),
    ]
    closed, _ = state.merge([said("resolve", "db", seq=5)])
    assert [entry.kind for entry in closed.current()] == ["fact", "decision", "finding"]
    retracted, _ = state.merge([said("retract", "db", seq=5)])
    assert [entry.kind for entry in retracted.current()] == ["issue"]


def test_a_retraction_that_comes_before_what_it_takes_back_still_takes_it_back():
    late = [said("decide", "db", "MySQL", seq=3)]
    state, _ = State().merge([said("retract", "db", seq=5)])
    state, (outcome,) = state.merge(late)
    assert outcome.kind == "late"
    assert state.current() == ()


def test_a_finding_read_after_a_retraction_is_shown():
    retraction = said("retract", "price", seq=5)
    again = said("set", "price", "20 euro", seq=9, by="source")
    assert values(fold([[again], [retraction]])) == {("finding", "price"): "20 euro"}


def test_a_correction_stands_right_after_its_turn_whatever_the_attempt():
    correction = said("set", "plan", "Pro", seq=4, by="operator", attempt=1, correction=1)
    regenerated = said("set", "plan", "Basic", seq=4, attempt=7)
    second = said("set", "plan", "Team", seq=4, by="operator", attempt=1, correction=2)
    later = said("set", "plan", "Free", seq=5)
    assert fold([[correction], [regenerated]]).get("plan").value == "Pro"  # type: ignore[union-attr]
    assert fold([[second], [correction], [regenerated]]).get("plan").value == "Team"  # type: ignore[union-attr]
    assert fold([[later], [second], [correction]]).get("plan").value == "Free"  # type: ignore[union-attr]


def test_a_profile_follows_the_subjects_own_count_and_takes_only_what_is_about_the_subject():
    """The newer statement wins, whichever thread it came from, however its turn is numbered there."""
    early = said("set", "home.city", "Berlin", seq=90, number=1, about="subject", thread="long")
    newer = said("set", "home.city", "Rome", seq=1, number=2, about="subject", thread="short")
    local = said("set", "home.city", "Oslo", seq=99, number=3)
    deltas = [[newer], [early, local]]
    profile = fold(deltas, about="subject")
    assert [(entry.value, entry.thread) for entry in profile.current()] == [("Rome", "short")]
    assert values(fold(deltas)) == {("fact", "home.city"): "Oslo"}
    assert [row.value for row in history(deltas, "home.city", about="subject")] == ["Berlin", "Rome"]


def test_the_past_can_be_read_as_of_a_turn():
    deltas = [[said("set", "a", str(seq), seq=seq)] for seq in (1, 4, 9)]
    assert [values(fold(deltas, as_of=seq)).get(("fact", "a")) for seq in (0, 1, 3, 4, 100)] == [
        None,
        "1",
        "1",
        "4",
        "9",
    ]


def test_a_superseded_value_knows_what_took_its_place():
    old, repeat, new = (said("set", "a", value, seq=seq) for seq, value in ((1, "x"), (2, "X"), (5, "y")))
    found, gone = said("set", "b", "z", seq=1, by="source"), said("retract", "b", seq=2)
    state = fold([[old, repeat, new, found, gone]])
    assert state.replaced_by(old) == new
    assert state.replaced_by(new) is None
    assert state.replaced_by(found) == gone
    assert fold([[old, repeat]]).replaced_by(old) is None


def test_inputs_are_never_changed():
    state = State()
    state.merge([said("set", "a", "1", seq=1)])
    assert state.current() == ()


def test_equal_states_have_equal_bytes_and_come_back_whole():
    changes = [
        said("set", "name", "Zoë 天気 \U0001f600", seq=1),
        said("open", "printer", "is offline", seq=2),
        said("retract", "name", seq=3),
        said("set", "limit", "700", seq=4, by="source"),
        said("set", "plan", "Pro", seq=4, by="operator", why="asked on the phone"),
        said("decide", "db", "x", seq=5, offer=Quote(seq=4, attempt=2, part="answer", start=3, end=8)),
    ]
    state = fold([changes])
    body = state.to_json()
    assert body == fold([reversed(changes)]).to_json()
    assert body.isascii()
    assert State.from_json(body) == state
    assert State.from_json(body).to_json() == body
    assert State.from_json("") == State()
    assert load_changes(dump_changes(changes)) == tuple(changes)


GOOD = fold([[said("set", "a", "1", seq=1)]]).to_json()


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "nul",
        "[]",
        '"x"',
        "\ud800",
        "[" * 100_000,
        GOOD[:-5],
        GOOD.replace('"format":1', '"format":2'),
        GOOD.replace('"about":"thread"', '"about":"subject"'),
        GOOD.replace('"set"', '"drop"'),
        GOOD.replace('"seq":1', '"seq":"1"'),
        GOOD.replace('"seq":1', '"seq":1e400'),
        GOOD.replace('"key":"a"', '"key":"A B"'),
        GOOD.replace('"value":"1"', '"value":"\\ud800"'),
        GOOD.replace('"value":"1"', '"value":"1","extra":1'),
        GOOD.replace('"said_by":"user"', '"said_by":"assistant"'),
    ],
)
def test_a_stored_state_that_cannot_be_read_is_a_store_error(body: str):
    """CASES D8: whatever bytes are found."""
    with pytest.raises(StoreError):
        State.from_json(body)
