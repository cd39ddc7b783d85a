"""Promise 5. State is the fold of its deltas, in the order of (seq, attempt), never of arrival.

A late delta is inserted at its turn, so an older turn never replaces a newer one. Applying twice changes nothing; the
old value stays readable as history and is never shown as current. Absence is never deletion.
"""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.change import Change, Quote, dump_changes, load_changes
from lumina.memory.noting import load_state
from lumina.memory.refolding import compare
from lumina.memory.state import State, fold, history
from lumina.testing.store_examples import asked, ended, noted, thread_of, told

KEYS = ("home.city", "printer", "db")
VALUES = ("a", "b", "B", "天気")
FEW = settings(max_examples=100, deadline=None)


@st.composite
def changes(draw: st.DrawFn, about: str = "thread") -> Change:
    voices = ("user", "operator", "assistant", "source") if about == "thread" else ("user", "operator")
    voice = draw(st.sampled_from(voices))
    seq, attempt = draw(st.integers(1, 6)), draw(st.integers(1, 2))
    op = draw(
        st.sampled_from(
            {"assistant": ("open", "decide"), "source": ("set",)}.get(
                voice, ("set", "retract", "open", "resolve", "decide")
            )
        )
    )
    kind = {"open": "issue", "resolve": "issue", "decide": "decision"}.get(
        op, "finding" if voice == "source" else "fact"
    )
    part = "question" if voice == "user" else "answer"
    return Change(
        op=op,  # type: ignore[arg-type]
        kind=kind,  # type: ignore[arg-type]
        key=draw(st.sampled_from(KEYS)),
        value="" if op in ("retract", "resolve") else draw(st.sampled_from(VALUES)),
        about=about,  # type: ignore[arg-type]
        said_by=voice,
        seq=seq,
        attempt=attempt,
        number=draw(st.integers(1, 9)) if about == "subject" else seq,
        correction=draw(st.integers(1, 3)) if voice == "operator" else 0,
        position=draw(st.integers(0, 2)),
        day="2026-11-30",
        thread=draw(st.sampled_from(("one", "two"))) if about == "subject" else "",
        quote=None if voice == "operator" else Quote(seq=seq, attempt=attempt, part=part, start=0, end=1),
        source=draw(st.integers(1, 3)) if voice == "source" else 0,
        by="Ann" if voice == "operator" else "",
    )


deltas = st.sampled_from(("thread", "subject")).flatmap(
    lambda about: st.lists(st.lists(changes(about), max_size=3), max_size=12)
)


def applied(order: list[list[Change]], about: str) -> State:
    state = State(about=about)  # type: ignore[arg-type]
    for delta in order:
        state = State.from_json(state.to_json(), about).merge(load_changes(dump_changes(delta)))[0]  # type: ignore[arg-type]
    return state


def about_of(log: list[list[Change]]) -> str:
    return next((change.about for delta in log for change in delta), "thread")


@FEW
@given(log=deltas, data=st.data())
def test_any_order_and_any_repetition_of_the_deltas_gives_the_fold(log: list[list[Change]], data: st.DataObject):
    about = about_of(log)
    order = data.draw(st.permutations(log + data.draw(st.lists(st.sampled_from(log), max_size=4)) if log else log))
    whole = fold(log, about=about)  # type: ignore[arg-type]
    assert applied(order, about) == whole
    assert applied(order, about).to_json() == whole.to_json()


@FEW
@given(log=deltas, more=deltas)
def test_merging_is_associative_and_applying_twice_changes_nothing(log: list[list[Change]], more: list[list[Change]]):
    whole = [change for delta in log + more for change in delta if change.about == about_of(log)]
    state = fold([whole], about=about_of(log))  # type: ignore[arg-type]
    half = len(whole) // 2
    assert fold([whole[:half]], about=about_of(log)).merge(whole[half:])[0] == state  # type: ignore[arg-type]
    again, outcomes = state.merge(whole)
    assert again == state
    assert {outcome.kind for outcome in outcomes} <= {"repeats", "late", "hidden", "nothing to retract"}


@FEW
@given(log=deltas)
def test_an_older_turn_never_replaces_a_newer_one(log: list[list[Change]]):
    """Whatever stands was said last among all that a person said under its kind and key."""
    about = about_of(log)
    flat = [change for delta in log for change in delta]
    for entry in fold(log, about=about).current():  # type: ignore[arg-type]
        rivals = [
            c for c in flat if c.key == entry.key and entry.said_by in ("user", "operator") and c.lane == "person"
        ]
        rivals = [c for c in rivals if c.kind == entry.kind or (c.op == "retract" and entry.kind != "issue")]
        place = entry.seq if about == "thread" else entry.number
        assert all((c.seq if about == "thread" else c.number) <= place for c in rivals)


@FEW
@given(log=deltas, change=changes())
def test_absence_is_never_deletion(log: list[list[Change]], change: Change):
    """CASES D10: what a delta does not name is as it was, and a delta that names nothing changes nothing."""
    state = fold(log)
    assert state.merge([])[0] == state
    after = state.merge([change])[0]
    unnamed = {entry for entry in state.current() if entry.key != change.key}
    assert unnamed == {entry for entry in after.current() if entry.key != change.key}
    assert state.keys() <= after.keys()


@FEW
@given(log=deltas)
def test_history_keeps_every_value_and_shows_as_current_only_what_stands(log: list[list[Change]]):
    about = about_of(log)
    state = fold(log, about=about)  # type: ignore[arg-type]
    for key in KEYS:
        rows = history(log, key, about=about)  # type: ignore[arg-type]
        kept = {change.value for row in rows for change in row.evidence}
        assert kept >= {c.value for delta in log for c in delta if c.key == key and not c.ends}
        assert sorted(row.evidence[-1].value for row in rows if row.current) == sorted(
            entry.value for entry in state.current() if entry.key == key
        )
        assert all(row.ended is None for row in rows if row.current)


def test_a_late_delta_is_inserted_at_its_turn():
    """Turn 2 was answered by the model after turn 3 was applied."""
    quote = Quote(seq=1, attempt=1, part="question", start=0, end=1)
    said = [
        Change(op="set", kind="fact", key="a", value=v, said_by="user", seq=n, attempt=1, day="2026-11-30", quote=quote)
        for n, v in ((1, "first"), (2, "second"), (3, "third"))
    ]
    state = fold([[said[0]], [said[2]]])
    state, (outcome,) = state.merge([said[1]])
    assert (outcome.kind, outcome.old) == ("late", "third")
    assert [entry.value for entry in state.current()] == ["third"]
    assert [(row.value, row.until) for row in history([said], "a")] == [("first", 2), ("second", 3), ("third", 0)]


def test_a_snapshot_is_as_long_as_there_are_keys_not_turns():
    quote = Quote(seq=1, attempt=1, part="question", start=0, end=1)

    def body(turns: int) -> int:
        log = [
            Change(
                op="retract" if n % 7 == 0 else "set",
                kind="fact",
                key=f"k{n % 5}",
                value="" if n % 7 == 0 else f"v{n:06}",
                said_by="user",
                seq=10_000 + n,
                attempt=1,
                day="2026-11-30",
                quote=quote,
            )
            for n in range(turns)
        ]
        return len(fold([log]).to_json())

    assert body(5_000) <= body(100) * 1.1


def test_within_a_turn_the_later_attempt_stands_whatever_came_first():
    quote = Quote(seq=1, attempt=1, part="question", start=0, end=1)
    for about in ("thread", "subject"):
        tries = [
            Change(
                op="set", kind="fact", key="a", value=f"{value}", said_by="user", seq=1, attempt=attempt, number=4,
                day="2026-11-30", quote=quote, about=about, thread="t" if about == "subject" else "", position=place,
            )
            for attempt, value, place in ((2, "y", 3), (9, "z", 2), (10, "b", 1), (11, "a", 0))
        ]  # fmt: skip
        for order in itertools.permutations(tries):
            assert [entry.value for entry in fold([[one] for one in order], about=about).current()] == ["a"]


async def test_what_was_superseded_has_no_say_in_what_is_folded_on_any_store(store):
    """Regenerate and edit fold as if the superseded turns had never been; an operator's word after them stays."""
    scope = thread_of()
    quote = Quote(seq=1, attempt=1, part="question", start=0, end=1)
    turns = [await told(store, scope, f"q{n}", delta=True) for n in range(1, 4)]

    async def apply(turn, value, correction=0):
        change = Change(
            op="set", kind="fact", key="a", value=value, said_by="operator" if correction else "user", seq=turn.seq,
            attempt=turn.attempt, number=turn.number, correction=correction, day="2026-11-30",
            quote=None if correction else quote, by="Ann" if correction else "",
        )  # fmt: skip
        held = await load_state(store, scope)
        delta = noted(turn, dump_changes([change]), correction=correction)
        return await store.apply_delta(scope, delta, held.next(held.state.merge([change])[0]), None)

    async def value():
        return [entry.value for entry in (await load_state(store, scope)).state.current()]

    assert await apply(turns[2], "third")
    assert await apply(turns[0], "first")
    again, _ = await store.begin_turn(scope, asked("again"), instead_of=2)
    again = await store.finish_turn(scope, ended(again, delta=True))
    assert await value() == ["first"]
    assert not await apply(turns[1], "late, and of a turn that is superseded")
    assert await apply(turns[2], "corrected", 1)
    assert await apply(again, "second")
    assert await value() == ["corrected"]
    assert (await compare(store, scope)).sound
