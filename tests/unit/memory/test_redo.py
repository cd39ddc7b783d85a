"""A turn asked again or otherwise, as a library user sees it: the context, the state, and what comes late."""

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina import open_thread
from lumina.memory import noting, refolding
from lumina.memory.change import load_changes
from lumina.memory.delta import correct
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.state import fold
from lumina.memory.store import DROPPED, AppliedDelta, Snapshot
from lumina.memory.thread import Thread
from lumina.memory.turns import Turn
from lumina.stores.in_memory import InMemoryStore
from lumina.testing import FixedClock

FEW = settings(max_examples=40, deadline=None)


def set_(key: str, value: str, quote: str, about: str = "thread") -> str:
    return json.dumps({"ops": [{"op": "set", "key": key, "value": value, "quote": quote, "about": about}]})


async def asked(thread: Thread, question: str, answer: str = "Yes.", *, instead_of: int = 0) -> Turn:
    return await thread.record(await thread.context(question, instead_of=instead_of), answer)


async def city(thread: Thread, value: str, *, instead_of: int = 0, about: str = "thread") -> Turn:
    """A turn that says where somebody lives, and its delta."""
    turn = await asked(thread, f"I live in {value}.", instead_of=instead_of)
    await thread.apply(set_("home.city", value, f"I live in {value}", about), seq=turn.seq, attempt=turn.attempt)
    return turn


def value(state, key: str = "home.city") -> str:
    entry = state.get(key)
    return entry.value if entry else ""


async def corrected(thread: Thread, turn: Turn, new: str, correction: int = 1) -> None:
    """An operator's correction after `turn`."""
    change = correct("set", "home.city", new, turn=turn, correction=correction, by="Ann", day="2026-11-30")
    held = await noting.load_state(thread.store, thread.scope)
    state, _ = held.state.merge([change])
    delta = AppliedDelta(
        seq=turn.seq, attempt=turn.attempt, correction=correction, number=turn.number,
        changes=noting.dump_changes([change]),
    )  # fmt: skip
    assert await thread.store.apply_delta(thread.scope, delta, held.next(state), None)


async def test_the_context_is_built_as_if_the_turn_and_all_after_it_had_never_been():
    thread = await open_thread(deltas=True)
    await city(thread, "Paris")
    twin = [m.content for m in (await thread.context("And now?")).messages]
    await city(thread, "York")
    await city(thread, "Rome")
    context = await thread.context("And now?", instead_of=2)
    again = [m.content for m in context.messages]
    block = [line for line in again[-1].splitlines() if "memory" not in line]
    assert block == [line for line in twin[-1].splitlines() if "memory" not in line]
    assert again[:-1] == twin[:-1]
    assert value(await thread.state()) == "Rome", "nothing has changed before it is recorded"
    turn = await thread.record(context, "So it is.")
    assert (turn.seq, turn.attempt, turn.window_start) == (2, 2, 1)
    assert value(await thread.state()) == "Paris"
    shown = await thread.show(2)
    assert [one.same for one in shown] == [True]


async def test_a_regenerate_asks_the_question_once_only():
    """n8n #26430."""
    thread = await open_thread()
    for n in range(3):
        await asked(thread, f"question {n}")
    await asked(thread, "question 2", "Another answer.", instead_of=3)
    sent = [m.content for m in (await thread.context("next")).messages]
    assert sent == ["question 0", "Yes.", "question 1", "Yes.", "question 2", "Another answer.", "next"]


async def test_what_is_superseded_has_no_say_in_state_or_profile_and_a_correction_stays():
    thread = await open_thread(deltas=True)
    await city(thread, "Paris", about="subject")
    await city(thread, "York", about="subject")
    third = await city(thread, "Rome")
    await corrected(thread, third, "Oslo")
    assert (value(await thread.profile()), value(await thread.state())) == ("York", "Oslo")
    before = await thread.store.profile(thread.scope.of_subject)
    context = await thread.context("Never mind.", instead_of=2)
    assert "Oslo" in context.messages[-1].content
    assert "York" not in str(context.messages)
    await thread.record(context, "Fine.")
    assert (value(await thread.profile()), value(await thread.state())) == ("Paris", "Oslo")
    after = await thread.store.profile(thread.scope.of_subject)
    assert (after.version > before.version, after.body == DROPPED) == (True, False), "folded anew, and stored"
    assert (await thread.verify_state()) == refolding.Compared(state="same", profile="same")


async def test_a_reply_about_an_attempt_that_was_superseded_is_kept_without_effect():
    thread = await open_thread(deltas=True)
    await asked(thread, "I live in York.")
    request = await thread.delta_request()
    assert request is not None
    await asked(thread, "I live in York.", instead_of=1)
    late = await thread.apply(set_("home.city", "York", "I live in York"), seq=request.seq, attempt=request.attempt)
    assert (late.outcomes, late.attempt) == ((), 1)
    assert value(await thread.state()) == ""
    waiting = await thread.delta_request()
    assert waiting is not None
    assert (waiting.seq, waiting.attempt) == (1, 2)
    assert await thread.delta_request(1, attempt=1) is None


async def test_a_turn_that_is_superseded_while_its_delta_is_folded_changes_nothing():
    class Late(InMemoryStore):
        redo = True

        async def profile(self, scope):
            found = await super().profile(scope)
            if self.redo and await self.delta_jobs(here.scope, "answered"):
                self.redo = False
                await asked_at_once()
            return found

    store = Late()
    here = await a_thread(store)

    async def asked_at_once() -> None:
        await store.begin_turn(here.scope, here._new_turn("I live in York.", ""), instead_of=1)

    await asked(here, "I live in York.")
    done = await here.apply(set_("home.city", "York", "I live in York"))
    assert (done.outcomes, store.redo) == ((), False)
    assert await store.deltas(here.scope) == []
    assert value(await here.state()) == ""


async def test_the_turn_before_is_the_live_one_before_not_the_seq_before():
    thread = await open_thread(deltas=True)
    for n in range(3):
        await asked(thread, f"q{n}", "Shall I send it to York?")
    await asked(thread, "other", "Shall I send it to Oslo?", instead_of=2)
    turn = await asked(thread, "Yes, do that.")
    assert turn.seq == 4
    request = await thread.delta_request(4)
    assert request is not None
    assert request.previous_answer == "Shall I send it to Oslo?"


async def test_what_is_not_shown_ends_with_the_last_live_turn():
    thread = await open_thread()
    for n in range(6):
        await asked(thread, f"q{n} " + "word " * 60, "answer " * 60)
    await asked(thread, "q1 again", instead_of=2)
    await asked(thread, "short")
    context = await thread.context("next", budget=120)
    assert [item.end for item in context.receipt.items if item.kind == "not shown"] == [2]


async def test_superseded_turns_stay_to_be_shown_byte_for_byte():
    """An entry of an older attempt has the number of the newer one: the receipt tells them apart."""
    thread = await open_thread(deltas=True)
    await city(thread, "Paris")
    await asked(thread, "What do you know?")
    await city(thread, "York", instead_of=1)
    await asked(thread, "What do you know?")
    for seq, attempt, word in ((1, 1, "Paris"), (2, 1, "Paris"), (1, 2, "York"), (3, 1, "York")):
        shown = await thread.show(seq, attempt=attempt)
        assert all(one.same for one in shown), (seq, attempt)
        assert word in str(shown[0].messages)
    assert "York" not in str((await thread.show(2))[0].messages)


async def test_what_cannot_be_asked_again_is_not_found():
    thread = await open_thread()
    await asked(thread, "one")
    for seq in (2, 99):
        with pytest.raises(NotFound):
            await thread.context("again", instead_of=seq)
    for seq in (-1, "1"):
        with pytest.raises(UsageError):
            await thread.context("again", instead_of=seq)  # type: ignore[arg-type]


async def test_d10_a_truncated_or_empty_delta_changes_nothing_it_does_not_name():
    thread = await open_thread(deltas=True)
    await city(thread, "Paris")
    for reply in ("{}", '{"ops": []}', '{"ops": [{"op": "set", "key": "home.city"', '{"ops": null}'):
        turn = await asked(thread, "Anything else?")
        try:
            await thread.apply(reply, seq=turn.seq)
        except UsageError:
            assert reply.endswith('"home.city"')
        assert value(await thread.state()) == "Paris"
        assert (await thread.verify_state()).sound


async def test_d5_a_delta_that_always_crashes_is_set_aside_and_can_be_asked_again(monkeypatch):
    thread = await open_thread(deltas=True)
    await asked(thread, "I live in York.")
    check, crashes = noting.check, []

    def crashing(note, **known):
        if known["turn"].seq == 1:
            crashes.append(1)
            raise RecursionError("poison \x00 \ud800")
        return check(note, **known)

    monkeypatch.setattr(noting, "check", crashing)
    reply = set_("home.city", "York", "I live in York")
    for _ in range(noting.MAX_TRIES):
        await thread.store.answer_delta(thread.scope, 1, 1, reply)
        await thread.context("a restart applies what was answered")
    assert len(crashes) == noting.MAX_TRIES
    (job,) = await thread.store.delta_jobs(thread.scope, "set aside")
    assert "RecursionError" in job.reason
    await city(thread, "Rome")  # the thread goes on
    assert value(await thread.state()) == "Rome"
    monkeypatch.setattr(noting, "check", check)
    await thread.ask_again(1)
    assert [outcome.kind for outcome in (await thread.apply(reply)).outcomes] == ["late"]
    assert (await thread.store.delta_jobs(thread.scope, "set aside"), value(await thread.state())) == ([], "Rome")
    with pytest.raises(NotFound):
        await thread.ask_again(1)


async def test_d4_d8_a_stored_state_that_is_not_the_fold_is_found_and_rebuilt():
    thread = await open_thread(deltas=True)
    await city(thread, "Paris", about="subject")
    await city(thread, "Rome")
    assert (await thread.verify_state()).sound
    good, known = (await thread.store.state(thread.scope)).body, await thread.store.state(thread.scope)
    await thread.store.put_state(thread.scope, Snapshot(version=known.version + 1, body=good.replace("Rome", "Oslo")))
    assert value(await thread.state()) == "Oslo"
    assert await thread.verify_state() == refolding.Compared(state="differs", profile="same")
    assert (await thread.rebuild_state()).state == "differs"
    assert (await thread.store.state(thread.scope)).body == good
    assert (await thread.verify_state()).sound


async def test_a_temporary_thread_reads_and_writes_no_profile():
    clock, store = FixedClock(), InMemoryStore()
    lasting = await a_thread(store, name="lasting")
    await city(lasting, "Paris", about="subject")
    info = await store.open_thread(
        lasting.scope.of_subject.thread("short"), deltas=True, expires_at=clock() + timedelta(days=1), now=clock()
    )
    short = Thread(store=store, scope=lasting.scope.of_subject.thread("short"), info=info, clock=clock)
    context = await short.context("Where do I live?")
    assert "Paris" not in str(context.messages)
    await city(short, "York", about="subject")
    assert (value(await short.state()), value(await short.profile())) == ("York", "")
    assert value(await lasting.profile()) == "Paris"
    assert [one.thread for one in await store.subject_deltas(lasting.scope.of_subject)] == ["lasting", "short"]
    request = await asked(short, "And?") and await short.delta_request()
    assert request is not None
    assert request.keys == {"home.city": "York"}
    context = await short.context("Again?", instead_of=1)
    assert "Paris" not in str(context.messages)


async def test_a_correction_in_a_temporary_thread_neither_reads_nor_writes_the_profile():
    clock, store = FixedClock(), InMemoryStore()
    lasting = await a_thread(store, name="lasting")
    await city(lasting, "Paris", about="subject")
    before = await store.profile(lasting.scope.of_subject)
    scope = lasting.scope.of_subject.thread("short")
    info = await store.open_thread(scope, deltas=True, expires_at=clock() + timedelta(days=1), now=clock())
    short = Thread(store=store, scope=scope, info=info, clock=clock)
    await asked(short, "Hello")
    for op in ("set", "retract"):
        with pytest.raises(UsageError, match="a temporary thread keeps nothing there"):
            await short.correct(op, "home.city", "York" if op == "set" else "", by="ann", about="subject")
    [outcome] = await short.correct("set", "home.city", "York", by="ann")
    assert (outcome.kind, outcome.change.about, outcome.old) == ("new", "thread", "")
    assert await store.profile(lasting.scope.of_subject) == before
    assert value(await lasting.profile()) == "Paris"
    assert await short.history("home.city", about="subject") == []


async def test_a_temporary_thread_is_gone_after_a_day(tmp_path):
    clock = FixedClock()
    short = await open_thread(tmp_path / "a.db", thread="short", temporary=True, clock=clock)
    assert short.temporary
    await asked(short, "a secret")
    await short.close()
    clock.move(timedelta(hours=23))
    async with await open_thread(tmp_path / "a.db", thread="short", clock=clock) as kept:
        assert kept.temporary
        assert len((await kept.store.recent_turns(kept.scope, limit=9)).turns) == 1
    clock.move(timedelta(hours=1))
    async with await open_thread(tmp_path / "a.db", thread="other", clock=clock) as other:
        assert [info.thread for info in await other.store.threads(other.scope.of_subject)] == ["other"]


async def test_with_memory_off_nothing_is_noted():
    store = InMemoryStore()
    thread = await a_thread(store)
    await city(thread, "Paris", about="subject")
    state, profile = await store.state(thread.scope), await store.profile(thread.scope.of_subject)
    off = Thread(store=store, scope=thread.scope, info=await store.thread_info(thread.scope), remembers=False)
    turn = await asked(off, "I live in York.")
    assert (turn.delta, await off.delta_request()) == ("none", None)
    with pytest.raises(NotFound):
        await off.apply(set_("home.city", "York", "I live in York"))
    assert (await off.state()).current() == (await off.profile()).current() == ()
    await asked(off, "I live in York!", instead_of=turn.seq)
    assert (await store.state(thread.scope)).version >= state.version
    assert await store.profile(thread.scope.of_subject) == profile
    assert [one.seq for one in await store.deltas(thread.scope)] == [1]
    assert value(await thread.profile()) == "Paris"


async def test_c7_a_clock_that_goes_back_changes_no_order():
    """An hour back, a day back: order, window, the latest fact and the profile are those of the turns."""
    there, back = FixedClock(), FixedClock()
    told = []
    for clock in (there, back):
        thread = await open_thread(deltas=True, zone="Europe/Berlin", clock=clock)
        for n, name in enumerate(["Paris", "York", "Rome", "Oslo"] * 4):
            await city(thread, name, about="subject" if n % 2 else "thread")
            clock.move(timedelta(hours=-1 if clock is back else 1) if n % 3 else timedelta())
        context = await thread.context("Where do I live?")
        turns = (await thread.store.recent_turns(thread.scope, limit=99)).turns
        told.append((
            [turn.seq for turn in turns], context.window_start, value(await thread.state()),
            value(await thread.profile()), [turn.window_start for turn in turns],
        ))  # fmt: skip
    assert told[0] == told[1]
    assert told[0][2:4] == ("Rome", "Oslo")


async def test_demand_33_the_same_conversation_on_the_same_clock_gives_the_same_state():
    """Days are the asker's: 23:30 in UTC is tomorrow in Berlin."""
    bodies = []
    for _ in range(2):
        clock = FixedClock()
        clock.move(timedelta(hours=11, minutes=30))
        thread = await open_thread(deltas=True, zone="Europe/Berlin", clock=clock)
        await city(thread, "Paris")
        bodies.append((await thread.store.state(thread.scope)).body)
        entry = (await thread.state()).get("home.city")
        assert entry is not None
        assert entry.day == "2026-12-01"
    assert bodies[0] == bodies[1]


async def a_thread(store: InMemoryStore, name: str = "main") -> Thread:
    from lumina.memory.scope import ThreadScope

    scope = ThreadScope(tenant="local", subject="me", thread=name)
    return Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(("Paris", "York", "Rome")), st.sampled_from(("thread", "subject"))),
        st.tuples(st.just("redo"), st.integers(1, 5), st.sampled_from(("Oslo", "Bonn"))),
        st.tuples(st.just("note"), st.integers(0, 5), st.booleans()),
        st.tuples(st.just("correct"), st.integers(1, 5), st.sampled_from(("Kiel", "Linz"))),
    ),
    max_size=14,
)


@FEW
@given(steps=STEPS)
async def test_d4_any_order_of_late_deltas_and_redone_turns_gives_the_fold_of_the_live_turns(steps):
    """Whatever is asked again, and however late a reply comes: state and profile are what the live turns say, in the
    order of turns, with a person's corrections after them."""
    thread = await a_thread(InMemoryStore())
    requests, said, corrections = [], {}, {}
    for step, first, second in steps:
        live = [turn.seq for turn in (await thread.store.recent_turns(thread.scope, limit=99)).turns]
        if step in ("ask", "redo") and (step == "ask" or first in live):
            name, about = (first, second) if step == "ask" else (second, "subject")
            turn = await asked(thread, f"I live in {name}.", instead_of=0 if step == "ask" else first)
            said[turn.seq, turn.attempt] = set_("home.city", name, f"I live in {name}", about)
            requests.append((turn.seq, turn.attempt))
        elif step == "note" and requests:
            seq, attempt = requests.pop(first % len(requests))
            await thread.apply(said[seq, attempt], seq=seq, attempt=attempt)
        elif step == "correct" and first in live:
            turn = (await thread.store.recent_turns(thread.scope, limit=1, before=first + 1)).turns[-1]
            corrections[first] = corrections.get(first, 0) + 1
            await corrected(thread, turn, second, corrections[first])
        # No snapshot is trusted: the live turns, one after the other, and what was corrected after them.
        rows = await thread.store.turns(thread.scope, list(said))
        lived = {(row.seq, row.attempt) for row in (await thread.store.recent_turns(thread.scope, limit=99)).turns}
        stored = await thread.store.deltas(thread.scope, sorted({seq for seq, _ in rows}))
        kept = [one for one in stored if one.correction or (one.seq, one.attempt) in lived]
        changes = [load_changes(one.changes) for one in kept]
        assert (await thread.state()).to_json() == fold(changes).to_json()
        assert (await thread.profile()).to_json() == fold(changes, about="subject").to_json()
        assert (await thread.verify_state()).sound
