"""What every store must do: subclass `StoreSuite`, give it a fixture `store`, and run it with pytest.

    class TestMyStore(StoreSuite):
        capabilities = frozenset({"documents"})  # see lumina.testing.capabilities

        @pytest.fixture
        async def store(self):
            store = await MyStore.open(...)
            yield store
            await store.close()

        @pytest.fixture
        async def library(self, store):
            return store

The tests are coroutines; they run under anyio's pytest plugin with `anyio_mode = "auto"` and a fixture
`anyio_backend` that gives "asyncio". The store starts empty for each of them.

What needs a real place (damaged rows, a process that is killed) is not here: it belongs to the store that has one.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from lumina.memory.errors import NotFound, TurnConflict, UsageError
from lumina.memory.store import Store
from lumina.memory.turns import Message, ToolCall, TurnEnd, TurnPage
from lumina.testing.capabilities import Capable
from lumina.testing.document_suite import DocumentSuite
from lumina.testing.store_examples import (
    ODD,
    asked,
    cited,
    ended,
    looked_up,
    page_about,
    subject_of,
    thread_of,
    told,
)
from lumina.testing.store_suite_forget import ForgetSuite
from lumina.testing.store_suite_recall import RecallSuite
from lumina.testing.store_suite_redo import RedoSuite
from lumina.testing.store_suite_scope import ScopeSuite
from lumina.testing.store_suite_sharing import SharingSuite
from lumina.testing.store_suite_state import StateSuite
from lumina.testing.store_suite_transfer import TransferSuite
from lumina.testing.store_suite_usage import UsageSuite
from lumina.testing.store_suite_vectors import VectorSuite

HERE = thread_of()


class TurnSuite:
    """Threads, turns, events, sources, texts."""

    async def test_the_secret_is_32_bytes_and_stays(self, store: Store) -> None:
        first = await store.secret()
        assert len(first) == 32
        assert await store.secret() == first

    async def test_a_closed_store_says_so(self, store: Store) -> None:
        await store.close()
        await store.close()
        with pytest.raises(UsageError, match="closed"):
            await store.threads(subject_of())

    # Threads

    async def test_an_existing_thread_keeps_its_own_deltas(self, store: Store) -> None:
        assert (await store.open_thread(HERE, deltas=True)).deltas is True
        assert (await store.open_thread(HERE, deltas=False)).deltas is True
        assert (await store.thread_info(HERE)).deltas is True

    async def test_a_thread_that_is_not_there_is_not_found_and_is_not_made(self, store: Store) -> None:
        await store.open_thread(thread_of(thread="other"), deltas=False)
        for call in (
            store.thread_info(HERE),
            store.set_title(HERE, "x"),
            store.begin_turn(HERE, asked("1")),
            store.record_turn(HERE, asked("1"), ended(), "{}"),
            store.finish_turn(HERE, ended(seq=1, attempt=1)),
            store.append_events(HERE, 0, 0, ["{}"]),
            store.append_events(HERE, 1, 1, ["{}"]),
            store.register_source(HERE, 1, 1, page_about("x")),
            store.add_tool_call(HERE, 1, 1, looked_up()),
            store.set_followups(HERE, 1, 1, ["x"]),
        ):
            with pytest.raises(NotFound):
                await call
        assert [info.thread for info in await store.threads(subject_of())] == ["other"]

    async def test_reading_a_thread_that_is_not_there_finds_nothing(self, store: Store) -> None:
        assert (await store.recent_turns(HERE, limit=5)).turns == ()
        assert await store.turns(HERE, [(1, 1)]) == {}
        assert await store.page(HERE) == []
        assert await store.tool_calls(HERE, 1, 1) == []
        assert await store.events(HERE, 0, 0) == []
        assert await store.sources(HERE) == []
        assert (await store.state(HERE)).version == 0
        assert (await store.matches(HERE, ["x"], before=9, cap=9)).turns == 0

    async def test_threads_are_listed_by_the_subjects_own_count(self, store: Store) -> None:
        for name in ("b", "a", "c"):
            await told(store, thread_of(thread=name), "one")
        await told(store, thread_of(thread="b"), "two")
        await store.open_thread(thread_of(thread="unasked"), deltas=False)
        listed = await store.threads(subject_of())
        assert [info.thread for info in listed] == ["b", "c", "a", "unasked"]
        assert (listed[0].turns, listed[0].running, listed[0].asked_at[:10]) == (2, 0, "2026-11-30")
        assert listed[3].asked_at == ""
        assert [info.thread for info in await store.threads(subject_of(), limit=1)] == ["b"]

    async def test_a_title_is_kept(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        await store.set_title(HERE, "Résumé 天気")
        assert (await store.thread_info(HERE)).title == "Résumé 天気"

    # Turns

    async def test_a_turn_runs_until_it_is_finished(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=True)
        turn, new = await store.begin_turn(HERE, asked("1", "Why?"))
        assert (turn.seq, turn.attempt, turn.number, turn.status, new) == (1, 1, 1, "running", True)
        assert (await store.thread_info(HERE)).running == 1
        assert (await store.recent_turns(HERE, limit=9)).turns == ()
        (shown,) = await store.page(HERE)
        assert isinstance(shown, TurnPage)
        assert (shown.status, shown.question, shown.answer) == ("running", "Why?", "")
        done = await store.finish_turn(HERE, ended(turn, "Because.", delta=True))
        assert (done.status, done.answer, done.delta) == ("complete", "Because.", "waiting")
        assert (await store.thread_info(HERE)).running == 0
        assert (await store.recent_turns(HERE, limit=9)).turns == (done,)
        assert await store.turns(HERE, [(1, 1), (2, 1)]) == {(1, 1): done}

    async def test_all_of_an_end_is_kept(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        turn, _ = await store.begin_turn(HERE, asked("1", "Why?"))
        call = ToolCall(id="c", name="look", arguments='{"a": 1}')
        exchanges = (
            Message(role="assistant", content="", tool_calls=(call,)),
            Message(role="tool", content="seen \ud7ff", tool_call_id="c"),
        )
        end = ended(
            turn, "It is [1].", status="partial", reason="stopped", searched="found", cited=(1, 7), window_start=1,
            citations=(cited(), cited(7)), exchanges=exchanges, usage='{"input": 3}',
            events=('{"kind":"text"}', '{"kind":"turn.finished"}'),
        )  # fmt: skip
        done = await store.finish_turn(HERE, end)
        assert (done.exchanges, done.cited, done.reason) == (exchanges, (1, 7), "stopped")
        (again,) = (await store.recent_turns(HERE, limit=1)).turns
        assert again == done
        (shown,) = await store.page(HERE)
        assert isinstance(shown, TurnPage)
        assert shown.citations == end.citations
        assert (shown.searched, shown.usage, shown.client_id, shown.zone) == (
            "found",
            '{"input": 3}',
            "1",
            "Europe/Berlin",
        )
        assert shown.asked_at == "2026-11-30T12:00:00+00:00"
        assert await store.events(HERE, 1, 1) == [(1, '{"kind":"text"}'), (2, '{"kind":"turn.finished"}')]

    async def test_the_same_client_id_is_the_same_turn(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        first, _ = await store.begin_turn(HERE, asked("x", "Why?"))
        assert await store.begin_turn(HERE, asked("x", "Why?")) == (first, False)
        done = await store.finish_turn(HERE, ended(first))
        assert await store.begin_turn(HERE, asked("x", "Why?")) == (done, False)
        assert await store.record_turn(HERE, asked("x", "Why?"), ended(answer="Other."), "{}") == done
        with pytest.raises(UsageError, match="client_id"):
            await store.begin_turn(HERE, asked("x", "Why not?"))
        assert len(await store.page(HERE)) == 1
        second, new = await store.begin_turn(HERE, asked("X", "Why?"))
        assert (second.seq, new) == (2, True)

    async def test_finishing_twice_changes_nothing(self, store: Store) -> None:
        done = await told(store, HERE, "Why?", "Because.")
        again = await store.finish_turn(HERE, ended(done, "Something else.", delta=True, events=("{}",)))
        assert again == done
        assert (await store.recent_turns(HERE, limit=1)).turns == (done,)
        assert await store.events(HERE, 1, 1) == []
        assert await store.delta_jobs(HERE, "waiting") == []

    async def test_a_second_question_is_a_conflict_that_names_the_running_turn(self, store: Store) -> None:
        await told(store, HERE, "one")
        running, _ = await store.begin_turn(HERE, asked("a"))
        for call in (store.begin_turn(HERE, asked("b")), store.record_turn(HERE, asked("b"), ended(), "{}")):
            with pytest.raises(TurnConflict) as conflict:
                await call
            assert conflict.value.running == running.seq == 2
        assert len(await store.page(HERE)) == 2

    async def test_a_recorded_turn_is_whole_at_once(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=True)
        end = ended(answer="It is [1].", delta=True, citations=(cited(),), events=("{}",))
        turn = await store.record_turn(HERE, asked("1", "Why?"), end, '{"a": 1}')
        assert (turn.seq, turn.attempt, turn.status, turn.delta) == (1, 1, "complete", "waiting")
        (receipt,) = await store.receipts(HERE, 1, 1)
        assert (receipt.call, receipt.purpose, receipt.body) == (1, "answer", '{"a": 1}')
        assert [job.seq for job in await store.delta_jobs(HERE, "waiting")] == [1]
        assert (await store.thread_info(HERE)).running == 0
        assert (await store.recent_turns(HERE, limit=1)).turns == (turn,)

    async def test_recent_turns_are_the_newest_in_order(self, store: Store) -> None:
        turns = [await told(store, HERE, f"question {n}") for n in range(1, 8)]
        assert (await store.recent_turns(HERE, limit=3)).turns == tuple(turns[4:])
        assert (await store.recent_turns(HERE, limit=2, before=4)).turns == tuple(turns[1:3])
        assert (await store.recent_turns(HERE, limit=99)).turns == tuple(turns)
        assert (await store.recent_turns(HERE, limit=0)).turns == ()
        assert [shown.seq for shown in await store.page(HERE, first=2, last=4)] == [2, 3, 4]

    async def test_a_subject_counts_its_turns_across_threads(self, store: Store) -> None:
        one = await told(store, thread_of(thread="a"), "x")
        two = await told(store, thread_of(thread="b"), "x")
        other = await told(store, thread_of(subject="you"), "x")
        three = await told(store, thread_of(thread="a"), "y")
        assert [turn.number for turn in (one, two, three, other)] == [1, 2, 3, 1]

    async def test_questions_at_once_are_kept_apart(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)

        async def ask(n: int) -> int:
            return (await store.record_turn(HERE, asked(str(n), f"question {n}"), ended(), "{}")).seq

        seqs = await asyncio.gather(*(ask(n) for n in range(20)))
        assert sorted(seqs) == list(range(1, 21))

    # Odd text

    async def test_text_comes_back_to_the_code_point(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        for n, text in enumerate((*ODD, "x" * 1_000_000, "天👩" * 500_000), 1):
            turn, _ = await store.begin_turn(HERE, asked(str(n), text))
            await store.finish_turn(HERE, ended(turn, text, passages=()))
            (kept,) = (await store.recent_turns(HERE, limit=1)).turns
            assert kept.question == text
            assert kept.answer == text

    @pytest.mark.parametrize("bad", ["a\ud800", "\udfff", "a\0b"])
    async def test_text_that_no_database_keeps_is_refused_by_name(self, store: Store, bad: str) -> None:
        turn = await told(store, HERE, "Why?")
        for field, call in {
            "question": store.begin_turn(HERE, asked("q", bad)),
            "answer": store.record_turn(HERE, asked("a"), ended(answer=bad), "{}"),
            "title": store.set_title(HERE, bad),
            "text": store.put_text(subject_of(), bad),
            "source text": store.register_source(HERE, 1, 1, page_about(bad)),
            "tool call result": store.add_tool_call(HERE, 1, 1, looked_up(result=bad)),
            "followups": store.set_followups(HERE, 1, 1, [bad]),
            "event": store.append_events(HERE, 1, 1, [bad]),
            "reason": store.finish_turn(HERE, ended(turn, reason=bad)),
        }.items():
            with pytest.raises(UsageError, match=field):
                await call
        assert [shown.seq for shown in await store.page(HERE)] == [1]

    async def test_an_end_that_could_not_be_read_again_is_refused(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        turn, _ = await store.begin_turn(HERE, asked("1"))
        bad: list[TurnEnd] = [
            ended(turn, status="running"), ended(turn, status="done"), ended(turn, searched="maybe"),
            ended(turn, window_start=0), ended(turn, cited=(0,)), ended(turn, usage="{"), ended(turn, usage="[]"),
            ended(turn, events=("no",)), ended(turn, cited=(10**30,)), replace(ended(turn), delta="soon"),  # type: ignore
        ]  # fmt: skip
        for end in bad:
            with pytest.raises(UsageError):
                await store.finish_turn(HERE, end)
        assert (await store.thread_info(HERE)).running == 1

    # Tool calls, follow-ups, events

    async def test_tool_calls_come_back_by_index(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        calls = [looked_up(n, result=text, said=text) for n, text in enumerate(ODD)]
        for call in reversed(calls):
            await store.add_tool_call(HERE, 1, 1, call)
        await store.add_tool_call(HERE, 1, 1, calls[0])
        assert await store.tool_calls(HERE, 1, 1) == calls
        with pytest.raises(UsageError, match="index"):
            await store.add_tool_call(HERE, 1, 1, looked_up(0, result="another"))

    async def test_followups_are_the_pages(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        await store.set_followups(HERE, 1, 1, ["And then?", "天気は？"])
        (shown,) = await store.page(HERE)
        assert isinstance(shown, TurnPage)
        assert shown.followups == ("And then?", "天気は？")

    async def test_logs_count_from_one_each_for_itself(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        assert await store.append_events(HERE, 1, 1, ['{"a":1}', '{"a":2}']) == 1
        assert await store.append_events(HERE, 0, 0, ['{"t":1}']) == 1
        assert await store.append_events(HERE, 1, 1, ['{"a":"\\ud800"}']) == 3
        assert await store.append_events(HERE, 1, 1, []) == 4
        assert await store.events(HERE, 1, 1, after=1) == [(2, '{"a":2}'), (3, '{"a":"\\ud800"}')]
        assert await store.events(HERE, 0, 0) == [(1, '{"t":1}')]

    # Sources and texts

    async def test_a_locator_keeps_its_number(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        await told(store, HERE, "And?")
        first = await store.register_source(HERE, 1, 1, page_about("old", "https://a.example/"))
        second = await store.register_source(HERE, 1, 1, page_about("other", "https://b.example/"))
        again = await store.register_source(HERE, 2, 1, page_about("new", "https://a.example/"))
        assert (first.n, second.n, again.n) == (1, 2, 1)
        assert await store.text(subject_of(), first.digest) == "old"
        assert await store.text(subject_of(), again.digest) == "new"
        assert [source.n for source in await store.sources(HERE)] == [1, 2]
        assert (await store.sources(HERE, [1, 9]))[0].digest == again.digest
        assert [(name.n, name.title, name.host) for name in await store.source_names(HERE, [2, 1, 2])] == [
            (1, "A page", "example.org"),
            (2, "A page", "example.org"),
        ]

    async def test_a_page_that_was_read_never_shrinks_to_a_snippet(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        await told(store, HERE, "And?")
        snippet = replace(page_about("an excerpt"), depth="snippet", title="As the search has it")
        first = await store.register_source(HERE, 1, 1, snippet)
        assert (first.n, first.depth) == (1, "snippet")
        read = await store.register_source(HERE, 1, 1, replace(page_about("the whole page"), host="elsewhere.example"))
        assert (read.n, read.depth, read.host) == (1, "page", "elsewhere.example")
        again = await store.register_source(HERE, 2, 1, snippet)
        assert again == read
        assert await store.sources(HERE) == [read]
        assert await store.text(subject_of(), read.digest) == "the whole page"
        assert await store.text(subject_of(), first.digest) == "an excerpt"  # what was cited then is still readable
        later = await store.register_source(HERE, 2, 1, page_about("the page as it is now"))
        assert (later.n, later.depth) == (1, "page")
        assert await store.text(subject_of(), later.digest) == "the page as it is now"
        read_by = [shown.read for shown in await store.page(HERE) if isinstance(shown, TurnPage)]
        assert read_by == [(1,), (1,)]

    async def test_what_a_turn_has_read_is_kept_in_order(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        await told(store, HERE, "And?")
        for locator in ("doc:3", "doc:1", "doc:3", "doc:2"):
            await store.register_source(HERE, 1, 1, page_about("x", locator))
        await store.register_source(HERE, 2, 1, page_about("x", "doc:1"))
        read = [shown.read for shown in await store.page(HERE) if isinstance(shown, TurnPage)]
        assert read == [(1, 2, 3), (2,)]
        found = await store.turns(HERE, [(1, 1), (2, 1)])
        assert all(turn.read_sources for turn in found.values())

    async def test_a_turn_that_has_read_nothing_says_so(self, store: Store) -> None:
        assert (await told(store, HERE, "Why?")).read_sources is False
        assert (await store.recent_turns(HERE, limit=1)).turns[0].read_sources is False

    async def test_a_text_is_kept_once_by_what_it_is(self, store: Store) -> None:
        for text in ODD:
            digest = await store.put_text(subject_of(), text)
            assert await store.put_text(subject_of(), text) == digest
            assert await store.text(subject_of(), digest) == text
        with pytest.raises(NotFound):
            await store.text(subject_of(), "0" * 64)

    async def test_a_number_too_large_for_a_database_is_no_crash(self, store: Store) -> None:
        await told(store, HERE, "Why?")
        huge = 10**30
        for call in (
            store.turns(HERE, [(huge, 1)]),
            store.events(HERE, huge, 1),
            store.passages(HERE, [huge]),
            store.sources(HERE, [huge]),
        ):
            with suppress(UsageError):  # refused or not found, as the store can tell
                assert not await call


class StoreSuite(
    TurnSuite, StateSuite, UsageSuite, RecallSuite, ScopeSuite, RedoSuite, VectorSuite, TransferSuite, ForgetSuite,
    SharingSuite, DocumentSuite, Capable,
):  # fmt: skip
    """All of it; what is about a capability that the subclass does not name is skipped, with the name."""
