"""The part of the store suite about turns that are asked again, and threads that are temporary."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from lumina.memory.errors import NotFound, TurnConflict, UsageError
from lumina.memory.scope import ThreadScope
from lumina.memory.store import DROPPED, Snapshot, Store, StoredReceipt, VersionConflict
from lumina.memory.turns import Turn, TurnPage
from lumina.testing.store_examples import (
    NOON,
    asked,
    ended,
    looked_up,
    next_of,
    noted,
    page_about,
    subject_of,
    thread_of,
    told,
)

HERE = thread_of()
DAY = timedelta(days=1)


async def again(
    store: Store, seq: int, question: str, answer: str = "Now it is.", *, delta: bool = False, scope: ThreadScope = HERE
) -> Turn:
    """The next attempt of turn `seq`, begun and finished."""
    turn, _ = await store.begin_turn(scope, asked(f"again-{seq}-{question}", question), instead_of=seq)
    return await store.finish_turn(scope, ended(turn, answer, delta=delta))


async def pages(store: Store, *, superseded: bool = True) -> list[tuple[int, int, bool]]:
    rows = await store.page(HERE, superseded=superseded)
    return [(row.seq, row.attempt, row.superseded) for row in rows if isinstance(row, TurnPage)]


class RedoSuite:
    """Regenerate, edit; temporary threads."""

    async def test_a_turn_asked_again_supersedes_its_older_attempt_and_all_after_it(self, store: Store) -> None:
        for n in range(1, 5):
            await told(store, HERE, f"q{n}")
        turn = await again(store, 2, "edited")
        assert (turn.seq, turn.attempt, turn.question) == (2, 2, "edited")
        assert await pages(store, superseded=False) == [(1, 1, False), (2, 2, False)]
        assert await pages(store) == [(1, 1, False), (2, 1, True), (2, 2, False), (3, 1, True), (4, 1, True)]
        assert [(t.seq, t.attempt) for t in (await store.recent_turns(HERE, limit=9)).turns] == [(1, 1), (2, 2)]
        assert [row.seq for row in await store.page(HERE, first=2, last=2, superseded=True)] == [2, 2]

    async def test_a_seq_names_one_turn_for_ever_and_no_number_of_the_profile_moves(self, store: Store) -> None:
        first = [await told(store, HERE, f"q{n}") for n in range(1, 4)]
        redone = await again(store, 2, "edited")
        assert redone.number == first[1].number
        assert (await store.thread_info(HERE)).turns == 3
        after = await told(store, HERE, "next")
        assert after.seq == 4
        assert after.number > first[2].number
        third = await again(store, 2, "and again")
        assert (third.attempt, third.number) == (3, first[1].number)
        assert (await told(store, HERE, "on")).seq == 5

    async def test_the_thread_that_was_asked_again_comes_first(self, store: Store) -> None:
        a, b = thread_of(thread="a"), thread_of(thread="b")
        await told(store, a, "in a")
        await told(store, b, "in b")
        await again(store, 1, "in a again", scope=a)
        assert [info.thread for info in await store.threads(subject_of())] == ["a", "b"]

    async def test_only_a_live_turn_can_be_asked_again(self, store: Store) -> None:
        for n in range(1, 4):
            await told(store, HERE, f"q{n}")
        await again(store, 1, "from the start")
        for seq in (2, 3, 4, 99):
            with pytest.raises(NotFound):
                await store.begin_turn(HERE, asked(f"x{seq}"), instead_of=seq)
        with pytest.raises(UsageError):
            await store.begin_turn(HERE, asked("x"), instead_of=-1)
        before = await pages(store)
        running, _ = await store.begin_turn(HERE, asked("running"))
        with pytest.raises(TurnConflict):
            await store.begin_turn(HERE, asked("x"), instead_of=1)
        assert (await pages(store))[:-1] == before
        await store.finish_turn(HERE, ended(running))

    async def test_the_same_client_id_never_asks_twice(self, store: Store) -> None:
        """n8n #26430: a regenerate must not leave the question twice."""
        await told(store, HERE, "why")
        await told(store, HERE, "and then")
        first, new = await store.begin_turn(HERE, asked("click", "why"), instead_of=1)
        again_, newer = await store.begin_turn(HERE, asked("click", "why"), instead_of=1)
        assert (new, newer, again_.attempt) == (True, False, first.attempt)
        await store.finish_turn(HERE, ended(first))
        recorded = await store.record_turn(HERE, asked("click", "why"), ended(), "{}", instead_of=1)
        assert (recorded.seq, recorded.attempt) == (1, 2)
        assert [turn.question for turn in (await store.recent_turns(HERE, limit=9)).turns] == ["why"]

    async def test_a_recorded_turn_can_take_the_place_of_another(self, store: Store) -> None:
        for n in range(1, 4):
            await told(store, HERE, f"q{n}")
        turn = await store.record_turn(HERE, asked("edit", "other"), ended(), '{"a": 1}', instead_of=2)
        assert (turn.seq, turn.attempt, turn.status) == (2, 2, "complete")
        assert [one.body for one in await store.receipts(HERE, 2, 2)] == ['{"a": 1}']
        assert await pages(store, superseded=False) == [(1, 1, False), (2, 2, False)]

    async def test_superseded_turns_are_not_recalled(self, store: Store) -> None:
        for n in range(1, 5):
            await told(store, HERE, f"cat number{n}", f"a cat{n} too")
        old = (await store.matches(HERE, ["cat"], before=9, cap=9)).ids["cat"]
        await again(store, 2, "dog", "a cat in the answer")
        found = (await store.matches(HERE, ["cat", "number3", "dog"], before=9, cap=2)).ids
        assert {word: len(ids) for word, ids in found.items()} == {"cat": 2, "number3": 0, "dog": 1}
        shown = await store.passages(HERE, [*found["cat"], *found["dog"]])
        assert [(one.seq, one.attempt, one.text) for one in shown] == [
            (1, 1, "cat number1"), (2, 2, "dog"), (2, 2, "a cat in the answer"),
        ]  # fmt: skip
        assert {(one.seq, one.attempt) for one in await store.passages(HERE, old, around=9)} == {(1, 1), (2, 2)}

    async def test_nothing_is_lost(self, store: Store) -> None:
        await told(store, HERE, "why", "because")
        await store.register_source(HERE, 1, 1, page_about("the page"))
        await store.add_tool_call(HERE, 1, 1, looked_up())
        await store.append_events(HERE, 1, 1, ['{"a":1}'])
        await store.put_receipt(HERE, StoredReceipt(seq=1, attempt=1, call=1, purpose="answer", body='{"r": 1}'))
        await again(store, 1, "why", "another reason")
        assert (await store.turns(HERE, [(1, 1)]))[1, 1].answer == "because"
        assert [body for _, body in await store.events(HERE, 1, 1)] == ['{"a":1}']
        assert [one.body for one in await store.receipts(HERE, 1, 1)] == ['{"r": 1}']
        assert await store.tool_calls(HERE, 1, 1) == [looked_up()]
        # A number is never given out again.
        assert (await store.register_source(HERE, 1, 2, page_about("other", "https://example.org/b"))).n == 2

    async def test_jobs_of_superseded_turns_are_neither_asked_nor_unnoted(self, store: Store) -> None:
        for n in range(1, 4):
            await told(store, HERE, f"q{n}", delta=True)
        await store.answer_delta(HERE, 3, 1, "{}")
        await again(store, 2, "edited", delta=True)
        jobs = await store.delta_jobs(HERE, "waiting", "answered", "set aside")
        assert [(job.seq, job.attempt) for job in jobs] == [(1, 1), (2, 2)]
        assert await store.unnoted(HERE, before=9) == [1, 2]

    async def test_a_late_delta_of_a_superseded_attempt_has_no_effect(self, store: Store) -> None:
        turn = await told(store, HERE, "q1", delta=True)
        await again(store, 1, "q1", delta=True)
        await store.answer_delta(HERE, 1, 1, "late")
        state = await store.state(HERE)
        assert not await store.apply_delta(HERE, noted(turn), next_of(state), None)
        assert (await store.state(HERE), await store.deltas(HERE)) == (state, [])
        assert [(job.seq, job.attempt) for job in await store.delta_jobs(HERE, "waiting")] == [(1, 2)]

    async def test_the_fold_leaves_out_what_is_superseded_and_keeps_corrections(self, store: Store) -> None:
        turns = [await told(store, HERE, f"q{n}", delta=True) for n in range(1, 4)]
        for delta in (*map(noted, turns), noted(turns[2], '["by Ann"]', correction=1)):
            state, profile = await store.state(HERE), await store.profile(subject_of())
            assert await store.apply_delta(HERE, delta, next_of(state), next_of(profile))
        await again(store, 2, "edited", delta=True)
        kept = [(1, 1, 0), (3, 1, 1)]
        assert [(one.seq, one.attempt, one.correction) for one in await store.deltas(HERE)] == kept
        assert [(one.seq, one.attempt, one.correction) for one in await store.subject_deltas(subject_of())] == kept
        # Asked for by seq they are there, so that what was shown can be shown again.
        assert [(one.seq, one.attempt) for one in await store.deltas(HERE, [2])] == [(2, 1)]

    async def test_what_was_folded_is_dropped_so_that_a_writer_of_before_learns_it(self, store: Store) -> None:
        one, two = [await told(store, HERE, f"q{n}", delta=True) for n in range(1, 3)]
        assert await store.apply_delta(HERE, noted(two), Snapshot(version=1, body="{}"), Snapshot(version=1, body="{}"))
        read = await store.state(HERE)
        await again(store, 2, "edited", delta=True)
        assert await store.state(HERE) == Snapshot(version=2, body=DROPPED)
        assert await store.profile(subject_of()) == Snapshot(version=2, body=DROPPED)
        with pytest.raises(VersionConflict):
            await store.apply_delta(HERE, noted(one), next_of(read), None)
        await store.put_state(HERE, Snapshot(version=3, body='{"anew": 1}'))
        await store.put_profile(subject_of(), Snapshot(version=3, body='{"anew": 2}'))
        for put in (
            store.put_state(HERE, Snapshot(version=3, body="{}")),
            store.put_profile(subject_of(), Snapshot(version=9, body="{}")),
        ):
            with pytest.raises(VersionConflict):
                await put
        assert (await store.state(HERE)).body == '{"anew": 1}'
        for missing in (thread_of(thread="none"), thread_of("nobody")):
            with pytest.raises(NotFound):
                await store.put_state(missing, Snapshot(version=1, body="{}"))
        with pytest.raises(NotFound):
            await store.put_profile(subject_of("nobody"), Snapshot(version=1, body="{}"))

    async def test_a_profile_that_superseded_turns_had_no_say_in_stays(self, store: Store) -> None:
        one, _ = [await told(store, HERE, f"q{n}", delta=True) for n in range(1, 3)]
        assert await store.apply_delta(HERE, noted(one), Snapshot(version=1, body="{}"), Snapshot(version=1, body="{}"))
        await again(store, 2, "edited")
        assert (await store.profile(subject_of())).version == 1
        assert (await store.state(HERE)).body == DROPPED

    async def test_a_delta_that_was_set_aside_can_wait_again(self, store: Store) -> None:
        """CASES D5."""
        await told(store, HERE, "q1", delta=True)
        assert not await store.retry_delta(HERE, 1, 1)
        await store.answer_delta(HERE, 1, 1, "poison")
        await store.fail_delta(HERE, 1, 1, "it crashed", set_aside=True)
        assert await store.retry_delta(HERE, 1, 1)
        (job,) = await store.delta_jobs(HERE, "waiting")
        assert (job.tries, job.answer) == (0, "")
        assert (await store.turns(HERE, [(1, 1)]))[1, 1].delta == "waiting"
        with pytest.raises(NotFound):
            await store.retry_delta(HERE, 7, 1)

    async def test_demand_28_two_commits_at_once_are_both_kept_in_order(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        commits = [store.record_turn(HERE, asked(f"c{n}", f"q{n}"), ended(), "{}") for n in range(8)]
        turns = await asyncio.gather(*commits)
        assert sorted(turn.seq for turn in turns) == list(range(1, 9))
        kept = (await store.recent_turns(HERE, limit=9)).turns
        assert [turn.seq for turn in kept] == list(range(1, 9))
        assert {turn.question for turn in kept} == {f"q{n}" for n in range(8)}

    # Temporary threads

    async def test_a_temporary_thread_goes_when_its_time_has_come(self, store: Store) -> None:
        info = await store.open_thread(HERE, deltas=True, expires_at=NOON + DAY, now=NOON)
        assert info.temporary
        other = thread_of(thread="other")
        await told(store, other, "stays")
        turn = await told(store, HERE, "secret word", "the answer")
        source = await store.register_source(HERE, 1, 1, page_about("only here"))
        await store.add_tool_call(HERE, 1, 1, looked_up())
        await store.append_events(HERE, 0, 0, ["{}"])
        await store.put_receipt(HERE, StoredReceipt(seq=1, attempt=1, call=1, purpose="answer", body="{}"))
        await store.apply_delta(HERE, noted(turn), Snapshot(version=1, body="{}"), None)
        assert len(await store.threads(subject_of(), now=NOON + DAY - timedelta(seconds=1))) == 2
        assert [one.thread for one in await store.threads(subject_of(), now=NOON + DAY)] == ["other"]
        with pytest.raises(NotFound):
            await store.thread_info(HERE)
        assert (await store.page(HERE, superseded=True), await store.deltas(HERE), await store.sources(HERE)) == (
            [], [], [],
        )  # fmt: skip
        assert (await store.events(HERE, 0, 0), await store.receipts(HERE, 1, 1)) == ([], [])
        assert await store.state(HERE) == Snapshot()
        assert await store.subject_deltas(subject_of()) == []
        with pytest.raises(NotFound):
            await store.text(subject_of(), source.digest)
        assert not (await store.open_thread(HERE, deltas=True, now=NOON + DAY)).temporary
        await told(store, HERE, "new")
        found = await store.matches(HERE, ["secret"], before=9, cap=9)
        assert (found.ids, found.turns) == ({"secret": ()}, 1)

    async def test_opening_any_of_the_subjects_threads_removes_what_expired_and_nobody_elses(
        self, store: Store
    ) -> None:
        theirs = replace(HERE, subject="somebody")
        for scope in (HERE, theirs):
            await store.open_thread(scope, deltas=False, expires_at=NOON + DAY)
        await store.open_thread(thread_of(thread="new"), deltas=False, now=NOON + 2 * DAY)
        assert [info.thread for info in await store.threads(subject_of())] == ["new"]
        assert (await store.thread_info(theirs)).temporary

    async def test_an_existing_thread_keeps_what_it_is(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        assert not (await store.open_thread(HERE, deltas=False, expires_at=NOON)).temporary
        short = thread_of(thread="short")
        await store.open_thread(short, deltas=False, expires_at=NOON + DAY)
        assert (await store.open_thread(short, deltas=False)).temporary
        with pytest.raises(UsageError):
            await store.open_thread(HERE, deltas=False, now=NOON.replace(tzinfo=None))

    async def test_a_source_text_that_another_thread_has_read_stays(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False, expires_at=NOON)
        other = thread_of(thread="other")
        await told(store, HERE, "a")
        await told(store, other, "b")
        for scope in (HERE, other):
            digest = (await store.register_source(scope, 1, 1, page_about("shared"))).digest
        await store.threads(subject_of(), now=NOON)
        assert await store.text(subject_of(), digest) == "shared"

    async def test_a_temporary_thread_that_is_being_answered_stays_until_it_ends(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False, expires_at=NOON)
        turn, _ = await store.begin_turn(HERE, asked("1"))
        assert len(await store.threads(subject_of(), now=NOON)) == 1
        await store.finish_turn(HERE, ended(turn))
        assert await store.threads(subject_of(), now=NOON) == []
