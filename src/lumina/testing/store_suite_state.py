"""The part of the store suite about deltas, snapshots and receipts."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.removal import NewAudit
from lumina.memory.store import AppliedDelta, Snapshot, Store, StoredReceipt, VersionConflict
from lumina.testing.store_examples import next_of, noted, subject_of, thread_of, told

HERE = thread_of()
NEW = Snapshot(version=1, body="{}")


def where(deltas: list[AppliedDelta]) -> list[tuple[str, int, int, int]]:
    return [(delta.thread, delta.seq, delta.attempt, delta.correction) for delta in deltas]


class StateSuite:
    """Delta jobs, the fold and its snapshots, receipts."""

    async def test_a_job_goes_from_waiting_to_applied(self, store: Store) -> None:
        turn = await told(store, HERE, "Why?", delta=True)
        (job,) = await store.delta_jobs(HERE, "waiting", "answered")
        assert (job.seq, job.attempt, job.status, job.tries, job.answer) == (1, 1, "waiting", 0, "")
        await store.answer_delta(HERE, 1, 1, '{"changes": []} 天')
        await store.answer_delta(HERE, 1, 1, "too late")
        (job,) = await store.delta_jobs(HERE, "answered")
        assert job.answer == '{"changes": []} 天'
        assert await store.apply_delta(HERE, noted(turn, '[{"op": "set"}]'), next_of(Snapshot(), '{"a": 1}'), None)
        (turn,) = (await store.recent_turns(HERE, limit=1)).turns
        assert turn.delta == "applied"
        assert turn.settled
        assert await store.delta_jobs(HERE, "waiting", "answered", "set aside") == []
        assert await store.state(HERE) == Snapshot(version=1, body='{"a": 1}')
        assert await store.profile(subject_of()) == Snapshot()

    async def test_a_failed_try_waits_again_until_it_is_set_aside(self, store: Store) -> None:
        await told(store, HERE, "Why?", delta=True)
        await store.answer_delta(HERE, 1, 1, "nonsense")
        assert await store.fail_delta(HERE, 1, 1, "not JSON", set_aside=False) == 1
        (job,) = await store.delta_jobs(HERE, "waiting")
        assert (job.tries, job.reason) == (1, "not JSON")
        assert await store.fail_delta(HERE, 1, 1, "still not", set_aside=True) == 2
        (job,) = await store.delta_jobs(HERE, "set aside")
        assert (job.tries, job.reason) == (2, "still not")
        assert (await store.recent_turns(HERE, limit=1)).turns[0].settled
        assert await store.fail_delta(HERE, 1, 1, "late", set_aside=False) == 2
        await store.answer_delta(HERE, 1, 1, "late")
        assert (await store.delta_jobs(HERE, "set aside"))[0].reason == "still not"

    async def test_a_turn_without_a_job_has_none_to_answer(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        with pytest.raises(NotFound):
            await store.answer_delta(HERE, 1, 1, "x")
        with pytest.raises(NotFound):
            await store.fail_delta(HERE, 1, 1, "x", set_aside=False)

    async def test_applying_twice_changes_nothing(self, store: Store) -> None:
        turn = await told(store, HERE, "Why?", delta=True)
        assert await store.apply_delta(HERE, noted(turn), next_of(Snapshot(), '{"a": 1}'), NEW)
        state, profile = await store.state(HERE), await store.profile(subject_of())
        assert not await store.apply_delta(HERE, noted(turn, '["other"]'), next_of(state, '{"a": 2}'), next_of(profile))
        assert await store.state(HERE) == state
        assert await store.profile(subject_of()) == profile
        assert [delta.changes for delta in await store.deltas(HERE)] == ["[]"]

    async def test_an_older_version_is_a_conflict_and_writes_nothing(self, store: Store) -> None:
        one = await told(store, HERE, "one", delta=True)
        two = await told(store, HERE, "two", delta=True)
        assert await store.apply_delta(HERE, noted(one), NEW, NEW)
        at_two = Snapshot(version=2, body='{"b": 2}')
        for state, profile in ((NEW, None), (Snapshot(version=3, body="{}"), None), (at_two, NEW)):
            with pytest.raises(VersionConflict):
                await store.apply_delta(HERE, noted(two), state, profile)
        assert (await store.state(HERE)).version == 1
        assert (await store.profile(subject_of())).version == 1
        assert where(await store.deltas(HERE)) == [("main", 1, 1, 0)]
        assert [job.seq for job in await store.delta_jobs(HERE, "waiting")] == [2]
        assert await store.apply_delta(HERE, noted(two), at_two, at_two)

    async def test_of_writers_at_once_one_wins_each_version(self, store: Store) -> None:
        turns = [await told(store, HERE, f"q{n}", delta=True) for n in range(8)]

        async def apply(turn: object) -> int:
            tries = 0
            while True:
                tries += 1
                state = await store.state(HERE)
                await asyncio.sleep(0)
                try:
                    assert await store.apply_delta(HERE, noted(turn), next_of(state), None)  # type: ignore[arg-type]
                    return tries
                except VersionConflict:
                    continue

        await asyncio.gather(*(apply(turn) for turn in turns))
        assert (await store.state(HERE)).version == 8
        assert [delta.seq for delta in await store.deltas(HERE)] == list(range(1, 9))

    async def test_deltas_come_in_the_order_of_turns_not_of_arrival(self, store: Store) -> None:
        turns = [await told(store, HERE, f"q{n}", delta=True) for n in range(3)]
        for delta in (
            noted(turns[2]), noted(turns[0], correction=2), noted(turns[0]), noted(turns[1]),
            noted(turns[0], correction=1),
        ):  # fmt: skip
            assert await store.apply_delta(HERE, delta, next_of(await store.state(HERE)), None)
        order = [("main", 1, 1, 0), ("main", 1, 1, 1), ("main", 1, 1, 2), ("main", 2, 1, 0), ("main", 3, 1, 0)]
        assert where(await store.deltas(HERE)) == order
        assert where(await store.deltas(HERE, [3, 1, 7])) == [order[0], order[1], order[2], order[4]]
        assert await store.deltas(HERE, []) == []
        assert await store.deltas(HERE, newest=2) == [], "none of them changed anything"

    async def test_the_newest_deltas_are_those_that_changed_something(self, store: Store) -> None:
        for changes in ("[]", '[{"a":1}]', "[]", '[{"b":2}]', '[{"c":3}]', "[]"):
            turn = await told(store, HERE, changes, delta=True)
            delta = replace(noted(turn), changes=changes)
            assert await store.apply_delta(HERE, delta, next_of(await store.state(HERE)), None)
        assert [one.seq for one in await store.deltas(HERE, newest=2)] == [4, 5]
        assert [one.seq for one in await store.deltas(HERE, newest=9)] == [2, 4, 5]

    async def test_a_correction_leaves_the_job_as_it_is(self, store: Store) -> None:
        turn = await told(store, HERE, "Why?", delta=True)
        assert await store.apply_delta(HERE, noted(turn, correction=1), NEW, None)
        assert [job.seq for job in await store.delta_jobs(HERE, "waiting")] == [1]

    async def test_the_profiles_deltas_come_in_the_subjects_own_count(self, store: Store) -> None:
        a, b = thread_of(thread="a"), thread_of(thread="b")
        turns = [(a, await told(store, a, "1")), (b, await told(store, b, "2")), (a, await told(store, a, "3"))]
        for scope, turn in reversed(turns):
            assert await store.apply_delta(scope, noted(turn), next_of(await store.state(scope)), None)
        assert where(await store.subject_deltas(subject_of())) == [("a", 1, 1, 0), ("b", 1, 1, 0), ("a", 2, 1, 0)]
        assert where(await store.subject_deltas(subject_of(), [3, 1, 9])) == [("a", 1, 1, 0), ("a", 2, 1, 0)]

    async def test_a_delta_that_could_not_be_folded_is_refused(self, store: Store) -> None:
        turn = await told(store, HERE, "Why?", delta=True)
        wrong_number = AppliedDelta(seq=1, attempt=1, correction=0, number=7, changes="[]")
        for delta in (noted(turn, "{"), noted(turn, "{}"), noted(turn, '["\0"]'), wrong_number):
            with pytest.raises(UsageError):
                await store.apply_delta(HERE, delta, NEW, None)
        with pytest.raises(UsageError):
            await store.apply_delta(HERE, noted(turn), Snapshot(version=0, body="{}"), None)
        missing = AppliedDelta(seq=9, attempt=1, correction=0, number=9, changes="[]")
        with pytest.raises(NotFound):
            await store.apply_delta(HERE, missing, NEW, None)
        assert await store.deltas(HERE) == []

    async def test_turns_that_were_not_noted_are_the_newest_of_them_ascending(self, store: Store) -> None:
        turns = [await told(store, HERE, f"q{n}", delta=True) for n in range(6)]
        await store.apply_delta(HERE, noted(turns[1]), NEW, None)
        await store.fail_delta(HERE, 3, 1, "x", set_aside=True)
        await store.answer_delta(HERE, 4, 1, "{}")
        assert await store.unnoted(HERE, before=6) == [1, 3, 4, 5]
        assert await store.unnoted(HERE, before=5, limit=2) == [3, 4]
        assert await store.unnoted(HERE, before=1) == []

    # Receipts

    async def test_a_receipt_is_replaced_by_its_call(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        for call, body in ((2, '{"n": 1}'), (1, '{"n": 2}'), (2, '{"n": "天"}')):
            purpose = "delta" if call == 2 else "answer"
            receipt = StoredReceipt(seq=1, attempt=1, call=call, purpose=purpose, body=body)
            await store.put_receipt(HERE, receipt)
        kept = await store.receipts(HERE, 1, 1)
        assert [(one.call, one.purpose, one.body) for one in kept] == [
            (1, "answer", '{"n": 2}'),
            (2, "delta", '{"n": "天"}'),
        ]
        assert await store.receipts(HERE, 2, 1) == []
        with pytest.raises(NotFound):
            await store.put_receipt(HERE, StoredReceipt(seq=2, attempt=1, call=1, purpose="answer", body="{}"))
        with pytest.raises(UsageError):
            await store.put_receipt(HERE, StoredReceipt(seq=1, attempt=1, call=3, purpose="answer", body="no"))

    async def test_a_correction_comes_with_its_row_in_the_audit_and_its_event_or_not_at_all(self, store: Store) -> None:
        turn = await told(store, HERE, "Why?", delta=True)
        audit = NewAudit(action="correct", by="Ann", at="2026-11-30T12:00:00+00:00", thread="main", detail='{"turn":1}')
        row: dict[str, Any] = {"audit": audit, "events": ['{"kind":"state.changed"}']}
        correction = noted(turn, correction=1)
        assert await store.apply_delta(HERE, correction, next_of(Snapshot()), None, **row)
        assert not await store.apply_delta(HERE, correction, next_of(await store.state(HERE)), None, **row)
        with pytest.raises(VersionConflict):
            await store.apply_delta(HERE, noted(turn, correction=2), next_of(Snapshot()), None, **row)
        bad: dict[str, Any]
        for bad in ({"audit": replace(audit, detail="no")}, {"audit": replace(audit, by="\0")}, {"events": ["no"]}):
            with pytest.raises(UsageError):
                await store.apply_delta(
                    HERE, noted(turn, correction=2), next_of(await store.state(HERE)), None, **row | bad
                )
        (kept,) = await store.audit(subject_of())
        assert (kept.number, kept.action, kept.by, kept.thread, kept.detail) == (
            1, "correct", "Ann", "main", '{"turn":1}'
        )  # fmt: skip
        assert await store.events(HERE, 0, 0) == [(1, '{"kind":"state.changed"}')]

    async def test_corrections_of_two_threads_at_once_get_two_numbers_in_the_audit(self, store: Store) -> None:
        scopes = [thread_of(thread=name) for name in "abcd"]
        turns = [await told(store, scope, "Why?", delta=True) for scope in scopes]
        audit = NewAudit(action="correct", by="Ann", at="2026-11-30T12:00:00+00:00")
        await asyncio.gather(*(
            store.apply_delta(scope, noted(turn, correction=1), next_of(Snapshot()), None, audit=audit)
            for scope, turn in zip(scopes, turns, strict=True)
        ))  # fmt: skip
        assert [row.number for row in await store.audit(subject_of())] == [1, 2, 3, 4]
