"""Case D8 through a whole conversation: one damaged row costs that row, never the thread, and stays as it was found."""

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lumina import open_thread
from lumina.memory.change import load_changes
from lumina.memory.errors import StoreError
from lumina.memory.scope import SubjectScope
from lumina.memory.state import fold
from lumina.memory.thread import Thread
from lumina.stores.sqlite import SQLiteStore
from lumina.testing.document_suite import about as document
from lumina.testing.store_examples import cited, ended, next_of, noted, page_about

ME = SubjectScope(tenant="local", subject="me")
DAMAGES = ("CAST(x'7b22ff' AS TEXT)", "'{\"version\": '", "'[]'", "17", "9223372036854775807")


def by_hand(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        with connection:
            return connection.execute(statement).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lumina.db"


@pytest.fixture
async def thread(path: Path) -> AsyncIterator[Thread]:
    async with await open_thread(path, subject="me", thread="main", deltas=True) as thread:
        for city in ("York", "Leeds"):
            await say(thread, city)
        yield thread


async def say(thread: Thread, city: str, about: str = "thread") -> None:
    await thread.record(await thread.context(f"I live in {city} now."), "Noted.")
    assert await thread.delta_request() is not None
    op = {"op": "set", "key": "home.city", "value": city, "quote": f"I live in {city}", "about": about}
    await thread.apply(json.dumps({"ops": [op]}))


async def folded(thread: Thread) -> str:
    return fold([load_changes(delta.changes) for delta in await thread.store.deltas(thread.scope)]).to_json()


@pytest.mark.parametrize("column", ["body", "version"])
@pytest.mark.parametrize("damage", DAMAGES)
async def test_d8_a_damaged_state_is_folded_anew_and_the_thread_goes_on(
    thread: Thread, path: Path, column: str, damage: str
) -> None:
    for table in ("states", "profiles"):
        await say(thread, "Bath", about="subject" if table == "profiles" else "thread")
        by_hand(path, f"UPDATE {table} SET {column} = {damage}")
        found = by_hand(path, f"SELECT {column} FROM {table}")
        context = await thread.context("Where do I live?")
        assert "home.city: Bath" in context.messages[-1].content
        await say(thread, "Hull", about="subject" if table == "profiles" else "thread")
        assert "home.city: Hull" in (await thread.context("Where do I live?")).messages[-1].content
        if column == "body":
            assert by_hand(path, f"SELECT {column} FROM {table}") == found
    assert (await thread.state()).to_json() == await folded(thread)


async def test_d8_two_writers_over_a_damaged_state_still_notice_each_other(thread: Thread, path: Path) -> None:
    by_hand(path, "UPDATE states SET body = 'x'")
    store, scope = thread.store, thread.scope
    for city in ("Bath", "Hull"):
        await thread.record(await thread.context(f"I live in {city} now."), "Noted.")
    first, second = [(await store.turns(scope, [(seq, 1)]))[seq, 1] for seq in (3, 4)]
    both_read = await store.state(scope)
    assert await store.apply_delta(scope, noted(first), next_of(both_read), None)
    with pytest.raises(StoreError, match="fold again"):
        await store.apply_delta(scope, noted(second), next_of(both_read), None)
    assert await store.apply_delta(scope, noted(second), next_of(await store.state(scope)), None)


@pytest.mark.parametrize("column", ["title", "asked_at", "turns", "running", "number", "handle", "sources", "deltas"])
async def test_d8_a_damaged_row_of_a_thread_hides_neither_it_nor_the_others(
    thread: Thread, path: Path, column: str
) -> None:
    async with await open_thread(path, subject="me", thread="other") as other:
        await other.record(await other.context("Anything?"), "Nothing.")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE threads SET {column} = x'ff00' WHERE thread = 'main'")
    infos = await thread.store.threads(ME)
    assert {info.thread: info.turns for info in infos} == {"main": 2, "other": 1}
    assert (await thread.store.thread_info(thread.scope)).turns == 2
    assert [shown.same for shown in await thread.show(2)] == [True, True]
    if column in ("title", "asked_at"):
        await say(thread, "Bath")
        assert (await thread.store.thread_info(thread.scope)).turns == 3
    else:
        with pytest.raises(StoreError, match=column):
            await open_thread(path, subject="me", thread="main")
    assert by_hand(path, f"SELECT {column} FROM threads WHERE thread = 'main'") == [(b"\xff\x00",)] or (
        column == "asked_at"  # it says when the last turn was asked: a new one has another
    )


async def test_d8_a_damaged_delta_job_holds_no_other_turn_up(thread: Thread, path: Path) -> None:
    for city in ("Bath", "Hull", "Bonn"):
        await thread.record(await thread.context(f"I live in {city} now."), "Noted.")
    by_hand(path, "UPDATE delta_jobs SET status = 'answered', answer = x'ff' WHERE seq = 3")
    by_hand(path, "UPDATE delta_jobs SET tries = 'many' WHERE seq = 4")
    request = await thread.delta_request()
    assert request is not None
    assert "Bonn" in request.messages[-1].content
    assert "I live in Bath" in str((await thread.context("Where?")).openai())


async def test_d8_a_damaged_turn_that_waits_for_its_delta_holds_no_other_turn_up(thread: Thread, path: Path) -> None:
    for city in ("Bath", "Hull"):
        await thread.record(await thread.context(f"I live in {city} now."), "Noted.")
    by_hand(path, "UPDATE turns SET question = x'ff' WHERE seq = 3")
    request = await thread.delta_request()
    assert request is not None
    assert "Hull" in request.messages[-1].content
    op = {"op": "set", "key": "home.city", "value": "Hull", "quote": "I live in Hull"}
    assert (await thread.apply(json.dumps({"ops": [op]}))).seq == 4


async def test_d8_a_log_goes_on_after_a_number_that_is_none(thread: Thread, path: Path) -> None:
    store, scope = thread.store, thread.scope
    for damage in ("'soon'", "9223372036854775807", "x'00'"):
        first = await store.append_events(scope, 0, 0, ['{"kind": "title"}'] * 2)
        by_hand(path, f"UPDATE events SET number = {damage} WHERE seq = 0 AND number = {first}")
        assert await store.append_events(scope, 0, 0, ['{"kind": "title"}']) == first + 2


async def test_d8_a_source_whose_name_is_damaged_is_not_offered_and_the_thread_goes_on(
    thread: Thread, path: Path
) -> None:
    store, scope = thread.store, thread.scope
    turn, _ = await thread.begin("What is said?")
    for name in ("one", "two"):
        await store.register_source(scope, turn.seq, 1, page_about(name, f"doc:{name}"))
    await store.finish_turn(scope, ended(turn, "It is [1] and [2].", cited=(1, 2), citations=(cited(), cited(2))))
    by_hand(path, "UPDATE sources SET title = x'ff' WHERE n = 1")
    assert (await thread.context("And then?")).receipt.citable == (2,)


async def test_d8_a_damaged_count_of_a_persons_turns_makes_no_turn_that_cannot_be_read(
    thread: Thread, path: Path
) -> None:
    by_hand(path, "UPDATE subjects SET number = 9223372036854775807")
    with pytest.raises(StoreError, match="damaged"):
        await thread.begin("Still there?")
    assert (await thread.store.thread_info(thread.scope)).turns == 2
    by_hand(path, "UPDATE subjects SET number = 2")
    assert (await thread.begin("Still there?"))[0].seq == 3


async def test_d8_a_receipt_whose_first_call_is_gone_is_told_as_such(thread: Thread, path: Path) -> None:
    body = by_hand(path, "SELECT body FROM receipts WHERE seq = 2 AND call = 1")[0][0]
    assert isinstance(body, bytes)
    later = json.dumps({**json.loads(body), "call": 2, "base": 1})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE receipts SET body = ? WHERE seq = 2 AND call = 2", [later])
        connection.execute("DELETE FROM receipts WHERE seq = 2 AND call = 1")
    with pytest.raises(StoreError, match="goes on from call 1"):
        await thread.show(2)


@pytest.mark.parametrize("column", ["locator", "url", "title", "digest", "passages", "words", "added_at"])
async def test_d8_a_damaged_document_is_listed_and_can_be_removed(path: Path, column: str) -> None:
    store = await SQLiteStore.open(path)
    await store.put_documents(ME, [document("doc:/a.md", "a cat"), document("doc:/b.md", "a black cat")])
    ids = [info.id for info in await store.documents(ME)]
    by_hand(path, f"UPDATE documents SET {column} = x'ff' WHERE id = {ids[0]}")
    assert {info.id for info in await store.documents(ME)} == set(ids)
    found = await store.find_passages(ME, ["cat"], limit=5)
    assert ids[1] in {hit.document for hit in found.hits}
    assert await store.remove_documents(ME, [ids[0]]) == 1
    assert [info.id for info in await store.documents(ME)] == [ids[1]]
    await store.close()
