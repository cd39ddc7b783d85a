"""Corrections by a person, and the history of a key as people read it."""

import asyncio

import pytest

from lumina import open_thread
from lumina.agent.events import StateChanged, from_json
from lumina.memory.delta import dump_changes
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.store import AppliedDelta


@pytest.fixture
async def thread():
    async with await open_thread(None, subject="s", thread="t", deltas=True) as opened:
        yield opened


async def told(thread, question, *ops, answer="ok"):
    await thread.record(await thread.context(question), answer)
    return await thread.apply({"ops": list(ops)})


def said(key, value, quote, **more):
    return {"op": "set", "key": key, "value": value, "quote": quote, **more}


async def test_a_correction_replaces_and_says_by_whom_and_why_and_another_one_undoes_it(thread):
    """DEMAND Memory 26 and 2: the slot is never empty in between."""
    await told(thread, "I live in Paris", said("home.city", "Paris", "I live in Paris"))
    [outcome] = await thread.correct("set", "home.city", "York", by="Ann", why="a slip")
    assert (outcome.kind, outcome.old) == ("replaces", "Paris")
    assert " home.city (corrected): York" in (await thread.context("where?")).openai()[-1]["content"]
    entry = (await thread.state()).get("home.city")
    assert (entry.by, entry.why, entry.said_by) == ("Ann", "a slip", "operator")
    [outcome] = await thread.correct("retract", "home.city", by="Ann")
    assert (outcome.kind, outcome.old) == ("closes", "York")
    assert (await thread.state()).get("home.city") is None
    [outcome] = await thread.correct("set", "home.city", "Paris", by="Bob", why="it was right")
    assert (await thread.state()).get("home.city").value == "Paris"
    assert [str(row) for row in await thread.history("home.city")] == [
        f'Paris (said on {thread.today()}, turn 1: "I live in Paris"), replaced at turn 1 by York, corrected by Ann, '
        f"on {thread.today()} (a slip).",
        f"York (corrected by Ann on {thread.today()}, after turn 1; a slip), taken back at turn 1 by Ann on "
        f"{thread.today()}.",
        f"Paris (corrected by Bob on {thread.today()}, after turn 1; it was right), which stands.",
    ]


async def test_what_a_later_question_says_replaces_a_correction_and_an_earlier_turns_late_delta_does_not(thread):
    await thread.record(await thread.context("I live in Paris"), "ok")
    await thread.correct("set", "home.city", "York", by="Ann")
    noting = await thread.apply({"ops": [said("home.city", "Paris", "I live in Paris")]})
    assert [outcome.kind for outcome in noting.outcomes] == ["late"]
    assert (await thread.state()).get("home.city").value == "York"
    await told(thread, "I live in Rome now", said("home.city", "Rome", "I live in Rome now"))
    assert (await thread.state()).get("home.city").value == "Rome"
    await thread.correct("set", "home.city", "Oslo", by="Ann", after=1)
    assert (await thread.state()).get("home.city").value == "Rome", "a correction stands right after its turn"


async def test_corrections_at_once_are_all_kept_each_with_a_number_of_its_own(thread):
    """DEMAND Memory 28. The number of one that comes second is taken, or the state has changed: it goes again."""
    await told(thread, "hello")
    await asyncio.gather(*(thread.correct("set", f"k{n}", f"v{n}", by="Ann") for n in range(8)))
    deltas = await thread.store.deltas(thread.scope)
    assert [delta.correction for delta in deltas] == list(range(9))
    assert len((await thread.state()).current()) == 8


async def test_a_correction_whose_number_is_taken_behind_its_back_takes_the_next(thread, monkeypatch):
    await told(thread, "hello")
    store, apply = thread.store, thread.store.apply_delta
    taken = []

    async def beaten(scope, delta, state, profile, **beside):
        if not taken:
            taken.append(delta)
            other = AppliedDelta(seq=1, attempt=1, correction=delta.correction, number=1, changes=dump_changes([]))
            await apply(scope, other, state, None)
            return await apply(scope, delta, state, profile, **beside)
        return await apply(scope, delta, state, profile, **beside)

    monkeypatch.setattr(store, "apply_delta", beaten)
    [outcome] = await thread.correct("set", "a", "b", by="Ann")
    assert (taken[0].correction, outcome.change.correction) == (1, 2)
    assert (await thread.state()).get("a").value == "b"


async def test_what_cannot_be_corrected_is_refused_with_the_reason(thread):
    with pytest.raises(UsageError, match="has none that has ended yet"):
        await thread.correct("set", "a", "b", by="Ann")
    await told(thread, "hello")
    for call, more, error in (
        (("set", "a", "b"), {"by": " "}, "by whom"), (("set", "No Key!", "b"), {"by": "Ann"}, "not a key"),
        (("erase", "a"), {"by": "Ann"}, "no operation"), (("set", "a", ""), {"by": "Ann"}, "value"),
        (("set", "a", "b"), {"by": "Ann", "about": "me"}, "thread or subject"),
        (("set", "a", "b"), {"by": "Ann", "after": -1}, "number of a turn"),
        (("set", "a", "b\x00"), {"by": "Ann"}, "NUL"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=error):
            await thread.correct(*call, **more)
    with pytest.raises(NotFound, match="no turn 7"):
        await thread.correct("set", "a", "b", by="Ann", after=7)
    assert (await thread.state()).current() == ()


async def test_a_correction_goes_where_the_key_stands(thread):
    await told(thread, "I live in Paris", said("home.city", "Paris", "I live in Paris", about="subject"))
    [outcome] = await thread.correct("set", "home.city", "York", by="Ann")
    assert outcome.change.about == "subject"
    [outcome] = await thread.correct("set", "home.city", "Leeds", by="Ann", about="thread")
    assert outcome.kind == "new"
    assert "York" in str((await thread.history("home.city", about="subject"))[-1])


async def test_open_closed_open_is_three_rows_and_the_last_stands(thread):
    """DEMAND Memory 5."""
    for n, status in enumerate(("open", "closed", "open")):
        await told(thread, f"it is {status} ({n})", said("account.status", status, f"it is {status}"))
    rows = await thread.history("account.status")
    assert [(row.value, row.seq, row.until, row.ended, row.current) for row in rows] == [
        ("open", 1, 2, "replaced", False), ("closed", 2, 3, "replaced", False), ("open", 3, 0, "", True),
    ]  # fmt: skip
    assert [(await thread.state(as_of=n)).get("account.status").value for n in (1, 2, 3, 9)] == [
        "open", "closed", "open", "open",
    ]  # fmt: skip


async def test_repeating_a_fact_leaves_one_value_with_a_growing_list_of_evidence(thread):
    """DEMAND Memory 11."""
    for n in range(6):
        await told(thread, f"I live in Paris ({n})", said("home.city", "Paris", "I live in Paris"))
    [row] = await thread.history("home.city")
    assert (row.times, row.turns) == (6, (1, 2, 3, 4, 5, 6))
    assert "again in turn 2, 3, 4, 5, 6" in str(row)
    assert len((await thread.state()).current()) == 1


async def test_the_state_as_of_a_turn_has_the_corrections_after_it(thread):
    await told(thread, "I live in Paris", said("home.city", "Paris", "I live in Paris", about="subject"))
    await thread.correct("set", "diet", "vegan", by="Ann")
    await told(thread, "I live in York", said("home.city", "York", "I live in York", about="subject"))
    assert [entry.value for entry in (await thread.state(as_of=1)).current()] == ["vegan"]
    assert [(await thread.profile(as_of=n)).get("home.city").value for n in (1, 2)] == ["Paris", "York"]
    with pytest.raises(UsageError, match="number of a turn"):
        await thread.state(as_of=-1)


async def test_an_offer_that_was_accepted_and_an_answers_decision_read_as_such(thread):
    await thread.record(await thread.context("how?"), "Shall I book the night train?")
    await thread.apply({"ops": []})
    await told(thread, "yes, do that", {"op": "decide", "key": "travel", "value": "the night train",
                                        "quote": "yes, do that", "offer": "book the night train"})  # fmt: skip
    await told(thread, "and?", {"op": "decide", "key": "seat", "value": "by the window", "quote": "by the window"},
               answer="Then by the window.")  # fmt: skip
    assert 'accepting "book the night train"' in str((await thread.history("travel"))[0])
    assert "(decision, from an answer on " in str((await thread.history("seat"))[0])


async def test_a_correction_is_told_in_the_threads_log_and_in_the_audit_which_holds_nothing_of_it(thread):
    """ARCHITECTURE: the audit says who corrected; it holds no content. Readers of the log hear what changed."""
    await told(thread, "I live in Paris", said("home.city", "Paris", "I live in Paris"))
    await thread.correct("set", "home.city", "York", by="Ann", why="a slip")
    await thread.correct("set", "home.city", "York", by="Ann")  # repeats: nothing changed, and it was asked for
    await thread.correct("retract", "home.city", by="Bob")
    rows = await thread.store.audit(thread.scope.of_subject)
    assert [(row.action, row.by, row.thread, row.detail) for row in rows] == [
        ("correct", "Ann", "t", '{"turn": 1}'), ("correct", "Ann", "t", '{"turn": 1}'),
        ("correct", "Bob", "t", '{"turn": 1}'),
    ]  # fmt: skip
    events = [from_json(body) for _, body in await thread.store.events(thread.scope, 0, 0)]
    assert all(isinstance(event, StateChanged) for event in events)
    assert [(event.turn, event.op, event.key, event.old, event.new, event.said_by) for event in events] == [
        (1, "set", "home.city", "Paris", "York", "operator"), (1, "retract", "home.city", "York", None, "operator")
    ]  # fmt: skip


async def test_the_event_of_a_correction_is_forgotten_with_its_entry(thread):
    await told(thread, "What now?")
    await thread.correct("set", "home.city", "Zyxtown", by="Ann")
    await thread.forget_entry("home.city")
    bodies = [body for _, body in await thread.store.events(thread.scope, 0, 0)]
    assert len(bodies) == 1
    assert "Zyxtown" not in bodies[0]
