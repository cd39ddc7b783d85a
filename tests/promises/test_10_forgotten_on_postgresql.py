"""Promise 10 on PostgreSQL: after a forget the words are in no file of the database's tables, indexes and statistics
(DEMAND 25), or it is told that they may be.

The server's own files are read, after a checkpoint has written them. Its write-ahead log is not among them: that keeps
what was written for as long as the server keeps it (docs/how-to/forget.md).
"""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from lumina.agent.ports import NewDocument, PassageSpan
from lumina.memory.embedding import unit
from lumina.memory.forgotten import finish, forget_entry, forget_subject, forget_thread, forget_turn
from lumina.memory.store import Store
from lumina.stores import postgresql_scrub
from lumina.stores.opening import open_store
from lumina.testing.store_examples import asked, cited, ended, looked_up, page_about, thread_of
from lumina.testing.store_suite_forget import tell

HERE = thread_of()
ELSEWHERE = thread_of(subject="somebody")
CANARY = "Zanzibar"


@pytest.fixture
async def store(postgresql_url: str) -> AsyncIterator[Store]:
    store = await open_store(postgresql_url)
    yield store
    await store.close()


def files_with(url: str, words: str = CANARY) -> list[str]:
    """The files of the database that hold `words` in any case, by the name of the table or index."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        folder = connection.execute(
            "SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database "
            "WHERE datname = current_database()"
        ).fetchone()
        named = dict(
            connection.execute("SELECT pg_relation_filenode(oid)::text, relname FROM pg_class").fetchall()
        )  # fmt: skip
    assert folder is not None
    found = [file for file in Path(folder[0]).iterdir() if words.lower().encode() in file.read_bytes().lower()]
    return sorted({named.get(file.name.partition(".")[0], file.name) for file in found})


def by_hand(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)  # type: ignore[arg-type]


async def plant(store: Store) -> None:
    """The canary in everything that a person, a page or a model can fill, as the last thing in each table: nothing
    comes after it that could be written over it. Somebody else's turns stand before."""
    for n in range(8):
        await tell(store, ELSEWHERE, "city", f"Town{n}", about="subject")
    await tell(store, HERE, "city", CANARY, about="subject")
    turn, _ = await store.begin_turn(HERE, asked("2", f"Where is {CANARY}?"))
    page = page_about(f"All about {CANARY}. " * 200, f"https://example.org/{CANARY}")
    await store.register_source(HERE, 2, 1, page)
    await store.add_tool_call(HERE, 2, 1, looked_up(0, arguments=f'{{"query": "{CANARY}"}}', result=CANARY))
    await store.append_events(HERE, 2, 1, [f'{{"kind": "text", "text": "{CANARY}"}}'])
    await store.finish_turn(HERE, ended(turn, f"{CANARY} is [1].", delta=True, citations=(cited(),)))
    await store.answer_delta(HERE, 2, 1, f'"{CANARY}"')
    await store.set_followups(HERE, 2, 1, [f"Why {CANARY}?"])
    await store.set_title(HERE, f"Going to {CANARY}")
    for one in await store.without_vectors(HERE):
        await store.put_vectors(HERE, "two/2", {one.id: unit([1.0, float(one.id % 7)])})
    own = NewDocument(
        locator=f"doc:{CANARY}", url="", title=CANARY, text=f"Of {CANARY}.", digest="d",
        passages=(PassageSpan(start=0, end=12, heading=CANARY, words=("of", CANARY.lower())),),
    )  # fmt: skip
    await store.put_documents(HERE.of_subject, [own], own=True)  # type: ignore[attr-defined]


async def test_demand_25_everything_of_a_person_is_in_no_file_of_the_database(store, postgresql_url: str) -> None:
    await plant(store)
    by_hand(postgresql_url, "ANALYZE")
    before = files_with(postgresql_url)
    assert {"turns", "turn_words", "pk_turn_words", "documents", "document_words", "events"} <= set(before)
    assert not {"pg_statistic"} & set(before), "the planner keeps no samples of texts"
    done = await forget_subject(store, HERE.of_subject)
    assert done.bytes_gone
    assert files_with(postgresql_url) == []
    assert len((await store.recent_turns(ELSEWHERE, limit=99)).turns) == 8


async def test_demand_25_a_turn_an_entry_and_a_thread_leave_no_byte(store, postgresql_url: str) -> None:
    await tell(store, HERE, "pet", "Rex")
    await tell(store, HERE, "city", CANARY)
    assert (await forget_turn(store, HERE, 2)).bytes_gone
    assert files_with(postgresql_url) == []
    await tell(store, HERE, "city", CANARY)
    assert "turns" in files_with(postgresql_url, f"My city is {CANARY}")
    assert (await forget_entry(store, HERE, "city")).bytes_gone
    assert files_with(postgresql_url, f"My city is {CANARY}") == []
    assert "turns" in files_with(postgresql_url), "the answer said it, too, for a reason of its own"
    await forget_turn(store, HERE, 3)
    await tell(store, thread_of(thread="side"), "city", CANARY)
    assert (await forget_thread(store, thread_of(thread="side"))).bytes_gone
    assert files_with(postgresql_url) == []
    assert [turn.question for turn in (await store.recent_turns(HERE, limit=9)).turns] == ["My pet is Rex.", "", ""]


async def test_a_transaction_that_still_sees_it_is_told_of_and_can_be_waited_out(
    store, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_scrub, "WAIT_SECONDS", 0.1)
    await tell(store, HERE, "city", CANARY)
    with psycopg.connect(postgresql_url) as reading:
        reading.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reading.execute("SELECT count(*) FROM lumina.meta")
        done = await forget_turn(store, HERE, 1)
        assert (done.turns, done.bytes_gone) == (1, False)
        assert "turns" in files_with(postgresql_url), "it sees the turn to its end"
    assert await finish(store)
    assert files_with(postgresql_url) == []


async def test_a_table_that_cannot_be_written_anew_is_told_of(
    store, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(store, HERE, "city", CANARY)
    monkeypatch.setattr(postgresql_scrub, "LOCK_WAIT_SECONDS", 1)
    with psycopg.connect(postgresql_url) as using:
        using.execute("LOCK TABLE lumina.meta, lumina.states IN ACCESS SHARE MODE")
        assert not await finish(store), "in use"
    monkeypatch.setattr(postgresql_scrub, "LARGEST", 1 << 13)
    assert not await finish(store), "too large to keep everybody from"
    monkeypatch.undo()
    by_hand(postgresql_url, "ALTER TABLE lumina.texts OWNER TO restricted")
    restricted = postgresql_url.replace("postgres:@", "restricted:@")
    by_hand(postgresql_url, "GRANT ALL ON SCHEMA lumina TO restricted")
    by_hand(postgresql_url, "GRANT ALL ON ALL TABLES IN SCHEMA lumina TO restricted")
    theirs = await open_store(restricted)
    assert not await finish(theirs), "not their tables"
    await theirs.close()
    assert await finish(store)
