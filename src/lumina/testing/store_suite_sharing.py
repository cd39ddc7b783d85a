"""The part of the store suite about several stores at one place, as several processes have them."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from lumina.memory.errors import StoreError, UsageError
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store, VersionConflict
from lumina.testing.capabilities import Capable, needs
from lumina.testing.store_examples import (
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
Another = Callable[[], Awaitable[Store]]


@needs("several processes")
class SharingSuite(Capable):
    """Any of them can go on where another has stopped; none undoes what another does."""

    async def test_what_one_store_has_committed_is_there_for_another(self, store: Store, another: Another) -> None:
        turn = await told(store, HERE, "cat", delta=True)
        other = await another()
        assert await other.secret() == await store.secret()
        assert (await other.recent_turns(HERE, limit=9)).turns == (turn,)
        after = await told(other, HERE, "dog")
        assert (await store.recent_turns(HERE, limit=9)).turns == (turn, after)

    async def test_a_turn_of_a_store_that_is_open_is_left_alone(self, store: Store, another: Another) -> None:
        await store.open_thread(HERE, deltas=False)
        await store.begin_turn(HERE, asked("1"))
        other = await another()
        for _ in range(2):
            assert (await other.open_thread(HERE, deltas=False)).running == 1
        for write in (
            other.finish_turn(HERE, ended(answer="Mine.", seq=1, attempt=1)),
            other.append_events(HERE, 1, 1, ["{}"]),
            other.add_tool_call(HERE, 1, 1, looked_up()),
            other.register_source(HERE, 1, 1, page_about("x")),
        ):
            with pytest.raises(StoreError, match="answered by another"):
                await write
        assert (await store.finish_turn(HERE, ended(answer="Yes.", seq=1, attempt=1))).answer == "Yes."

    async def test_a_turn_of_a_store_that_was_closed_is_ended_with_its_text(
        self, store: Store, another: Another
    ) -> None:
        first = await another()
        await first.open_thread(HERE, deltas=True)
        await first.begin_turn(HERE, asked("1", "cat"))
        await first.append_events(HERE, 1, 1, ['{"kind": "text", "text": "So far"}'])
        await first.close()
        assert (await store.open_thread(HERE, deltas=True)).running == 0
        (turn,) = (await store.recent_turns(HERE, limit=9)).turns
        assert (turn.status, turn.reason, turn.answer) == ("partial", "interrupted", "So far")
        assert [job.seq for job in await store.delta_jobs(HERE, "waiting")] == [1]

    async def test_c3_what_a_superseded_worker_writes_is_not_kept_and_it_is_told(
        self, store: Store, another: Another, cut_off: Callable[[], Awaitable[None]]
    ) -> None:
        await store.open_thread(HERE, deltas=False)
        turn, _ = await store.begin_turn(HERE, asked("1", "cat"))
        await store.append_events(HERE, 1, 1, ['{"kind": "text", "text": "So far"}'])
        await cut_off()
        other = await another()
        assert (await other.open_thread(HERE, deltas=False)).running == 0
        log = await other.events(HERE, 1, 1)
        after = await told(other, HERE, "dog")

        for write in (
            store.append_events(HERE, 1, 1, ['{"kind": "text", "text": " and more"}']),
            store.add_tool_call(HERE, 1, 1, looked_up()),
            store.register_source(HERE, 1, 1, page_about("x")),
        ):
            with pytest.raises(StoreError, match="interrupted by another process"):
                await write
        late = await store.finish_turn(HERE, ended(turn, "The whole answer.", delta=True, events=("{}",)))
        assert (late.status, late.reason, late.answer) == ("partial", "interrupted", "So far")

        assert await other.events(HERE, 1, 1) == log
        assert await other.tool_calls(HERE, 1, 1) == []
        assert await other.sources(HERE) == []
        assert (await other.recent_turns(HERE, limit=9)).turns == (late, after)
        assert (await told(store, HERE, "and on")).seq == 3, "it can begin again"

    async def test_c4_writers_at_once_leave_no_gap_and_lose_no_turn(self, store: Store, another: Another) -> None:
        stores = [store, *[await another() for _ in range(3)]]
        elsewhere = thread_of(thread="b")
        for scope in (HERE, elsewhere):
            await store.open_thread(scope, deltas=False)

        async def write(n: int) -> list[int]:
            scope = elsewhere if n % 2 else HERE
            return [
                (await stores[n].record_turn(scope, asked(f"{n}-{k}"), ended(), "{}")).number for k in range(8)
            ]  # fmt: skip

        numbers = await asyncio.gather(*map(write, range(4)))
        for scope in (HERE, elsewhere):
            assert [turn.seq for turn in await store.page(scope)] == list(range(1, 17))
        assert sorted(number for mine in numbers for number in mine) == list(range(1, 33))
        assert all(mine == sorted(mine) for mine in numbers), "each finds its turns in the order it committed them"

    async def test_one_question_sent_to_several_stores_is_one_turn(self, store: Store, another: Another) -> None:
        await store.open_thread(HERE, deltas=False)
        stores = [store, *[await another() for _ in range(3)]]
        begun = await asyncio.gather(*(one.begin_turn(HERE, asked("same")) for one in stores))
        assert {turn.seq for turn, _ in begun} == {1}
        assert sorted(new for _, new in begun) == [False, False, False, True]

    async def test_a_thread_opened_by_several_stores_at_once_is_one_thread(
        self, store: Store, another: Another
    ) -> None:
        stores = [store, *[await another() for _ in range(3)]]
        opened = await asyncio.gather(*(one.open_thread(HERE, deltas=True) for one in stores))
        assert len({info.thread for info in opened}) == len(await store.threads(subject_of())) == 1

    async def test_numbers_of_sources_are_given_once(self, store: Store, another: Another) -> None:
        await told(store, HERE, "cat")
        stores = [store, *[await another() for _ in range(3)]]

        async def read(n: int) -> list[int]:
            return [
                (await stores[n].register_source(HERE, 1, 1, page_about("x", f"https://e.example/{n % 2}/{k}"))).n
                for k in range(5)
            ]

        found = await asyncio.gather(*map(read, range(4)))
        assert (found[0], found[1]) == (found[2], found[3]), "one locator, one number"
        assert sorted(found[0] + found[1]) == list(range(1, 11))

    async def test_of_two_changes_to_one_profile_none_is_lost(self, store: Store, another: Another) -> None:
        stores = [store, *[await another() for _ in range(3)]]
        scopes = [thread_of(thread=f"t{n}") for n in range(4)]
        for scope in scopes:
            await told(store, scope, "I am Ada.", delta=True)

        async def note(one: Store, scope: ThreadScope) -> None:
            (turn,) = (await one.recent_turns(scope, limit=1)).turns
            while True:
                profile = await one.profile(scope.of_subject)
                try:
                    assert await one.apply_delta(scope, noted(turn), next_of(await one.state(scope)), next_of(profile))
                    return
                except VersionConflict:
                    continue

        await asyncio.gather(*map(note, stores, scopes))
        assert (await store.profile(subject_of())).version == 4
        assert len(await store.subject_deltas(subject_of())) == 4

    async def test_a_refusal_of_one_store_leaves_the_others_free(self, store: Store, another: Another) -> None:
        other = await another()
        await told(store, HERE, "cat")
        with pytest.raises(UsageError):
            await store.record_turn(HERE, asked("turn-1", "another question"), ended(), "{}")
        assert (await told(other, HERE, "dog")).seq == 2
