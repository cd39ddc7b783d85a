"""Promise 10: after a forget, the forgotten entry or turn is in no table, index, snapshot, receipt, event or later
context, nor in the bytes of the SQLite file (DEMAND 25), and nothing that was pending brings it back (CASES D11).

Canaries are planted through the public API in everything that a person, a model or a page can fill; then something is
forgotten, and every row of every table and every byte of the files is searched.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumina.agent.events import from_json
from lumina.agent.ports import NewDocument, PassageSpan
from lumina.memory.delta import load_changes
from lumina.memory.errors import NotFound
from lumina.memory.forgotten import forget_entry, forget_subject, forget_thread, forget_turn
from lumina.memory.state import fold
from lumina.memory.words import forms
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.sqlite import SQLiteStore
from support.forgetting import (
    MAIN,
    ME,
    SIDE,
    bytes_of,
    fact,
    kept_in,
    next_contexts,
    play,
    rows_of,
    thread_at,
    verified,
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    store = await SQLiteStore.open(tmp_path / "lumina.db")
    yield store
    await store.close()


# The four widths


async def test_demand_25_a_turn_is_in_no_table_no_index_no_context_and_no_byte(
    store: SQLiteStore, tmp_path: Path
) -> None:
    thread = await thread_at(store, MAIN)
    quote = "My city is Zyxwvutown"
    await play(thread, "Hello there.", "Hello.", ops=[])
    ops = [fact("home.city", "Zyxwvutown", quote, "subject"), fact("trip.town", "Zyxwvutown", quote)]
    await play(thread, f"{quote} zyxqueries.", "So it is zyxanswering.", ops=ops, extra="zyxextra", title="Zyxwvutown")
    await play(thread, "And my car?", "No word of it.", ops=[])
    side = await thread_at(store, SIDE)
    await play(side, "Where do I live?", "I know.", ops=[])
    assert b"zyx" in bytes_of(tmp_path)
    done = await forget_turn(store, MAIN, 2)
    assert (done.turns, done.changes, done.sources, done.bytes_gone) == (1, 2, 1, True)
    assert done.elsewhere == ()
    assert "zyx" not in rows_of(tmp_path / "lumina.db")
    assert b"zyx" not in bytes_of(tmp_path), "not even a stem in a segment of the index"
    assert "zyx" not in await next_contexts(thread)
    assert await verified(thread, 3) > 2
    assert await verified(side, 1) > 0, "the other thread was shown the profile's entry"
    assert b"zyx" not in bytes_of(tmp_path)
    assert [from_json(body).kind for _, body in await store.events(MAIN, 0, 0)].count("forgotten") >= 2


async def test_demand_26_an_entry_goes_with_its_history_and_its_quotes(store: SQLiteStore, tmp_path: Path) -> None:
    thread, side = await thread_at(store, MAIN), await thread_at(store, SIDE)
    await play(thread, "I live in Zyxone now, ok?", "Noted.", ops=[fact("home.city", "Zyxone", "I live in Zyxone now")])
    await play(
        thread, "Moved: I live in Zyxtwo now.", "Fine.", ops=[fact("home.city", "Zyxtwo", "I live in Zyxtwo now")]
    )
    await play(thread, "I drive a Golf.", "Nice car.", ops=[fact("car", "Golf", "I drive a Golf")])
    await play(side, "I live in Zyxside.", "Ok.", ops=[fact("home.city", "Zyxside", "I live in Zyxside")])
    done = await thread.forget_entry("home.city", by="ana")
    assert (done.masked, done.changes, done.elsewhere) == (2, 2, ())
    rows = rows_of(tmp_path / "lumina.db")
    assert "zyxone" not in rows
    assert "zyxtwo" not in rows
    assert not any(word in bytes_of(tmp_path) for word in (b"zyxone", b"zyxon", b"zyxtwo"))
    assert "zyxside" in rows, "the same key of another thread is another entry"
    assert [entry.key for entry in (await thread.state()).current()] == ["car"]
    (first,) = (await store.turns(MAIN, [(1, 1)])).values()
    assert first.question == "█" * 20 + ", ok?"
    texts = [from_json(body) for _, body in await store.events(MAIN, 1, 1)]
    assert [event.question for event in texts if event.kind == "turn.started"] == [first.question]
    assert "zyx" not in await next_contexts(thread)
    assert await verified(thread, 4) > 3
    with pytest.raises(NotFound):
        await thread.forget_entry("home.city")


async def test_words_that_were_quoted_from_an_answer_are_masked_across_the_pieces_of_its_log(
    store: SQLiteStore,
) -> None:
    thread = await thread_at(store, MAIN)
    ops = [{"op": "decide", "key": "plan", "value": "take the Zyxbahn", "quote": "We take the Zyxbahn"}]
    await play(thread, "What now?", "We take the Zyxbahn. All right.", ops=ops)
    done = await thread.forget_entry("plan")
    assert done.masked == 1
    events = [from_json(body) for _, body in await store.events(MAIN, 1, 1)]
    (turn,) = (await store.turns(MAIN, [(1, 1)])).values()
    assert "".join(event.text for event in events if event.kind == "text") == turn.answer == "█" * 19 + ". All right."


async def test_a_confirmed_offer_goes_with_the_turn_that_it_was_copied_from(store: SQLiteStore, tmp_path: Path) -> None:
    thread = await thread_at(store, MAIN)
    await play(thread, "Which train?", "I suggest the Zyxexpress at nine.", ops=[])
    ops = [{"op": "decide", "key": "train", "value": "Zyxexpress at nine", "quote": "Yes, do that",
            "offer": "the Zyxexpress at nine"}]  # fmt: skip
    await play(thread, "Yes, do that.", "Done.", ops=ops)
    assert [entry.value for entry in (await thread.state()).current()] == ["Zyxexpress at nine"]
    await thread.forget_turn(1)
    assert "zyx" not in rows_of(tmp_path / "lumina.db")


async def test_d11_a_thread_and_a_subject_leave_no_byte(store: SQLiteStore, tmp_path: Path) -> None:
    thread, side = await thread_at(store, MAIN), await thread_at(store, SIDE)
    quote = "My city is Zyxwvutown"
    await play(side, "Hello there.", "Hello.", ops=[])
    await play(
        thread, f"{quote}.", "Zyxanswer.", ops=[fact("home.city", "Zyxwvutown", quote, "subject")], extra="zyxextra"
    )
    await play(side, "Where do I live?", "I know.", ops=[])
    done = await forget_thread(store, MAIN)
    assert (done.threads, done.turns, done.changes, done.bytes_gone) == (1, 1, 1, True)
    assert b"zyx" not in bytes_of(tmp_path)
    assert await verified(side, 2) > 0
    spans = (PassageSpan(start=0, end=8, heading="", words=tuple(forms("Zyxpaper"))),)
    await store.put_documents(ME, [NewDocument(
        locator="doc:zyx", url="file:///zyx", title="Zyx", digest="1", text="Zyxpaper", passages=spans,
    )], own=True)  # fmt: skip
    await play(
        side, "I am Zyxperson.", "Hi.", ops=[fact("name", "Zyxperson", "I am Zyxperson", "subject")], extra="zyxmore"
    )
    done = await forget_subject(store, ME, by="ana")
    assert (done.threads, done.bytes_gone) == (1, True)
    assert b"zyx" not in bytes_of(tmp_path)
    assert (await store.find_passages(ME, ["zyxpap"], limit=5)).hits == ()
    with closing(sqlite3.connect(tmp_path / "lumina.db")) as connection:
        tables = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%subject%'"
            )
        ]
        left = {
            t: n
            for t in tables
            if (n := connection.execute(f"SELECT count(*) FROM {t} WHERE subject = 'me'").fetchone()[0])
        }
        assert connection.execute("SELECT count(*) FROM turn_words").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM document_words").fetchone() == (0,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert left == {"audit": 1}


# Everything, by chance

WORDS = st.lists(st.sampled_from(["harbour", "tariff", "garden", "piano"]), min_size=1, max_size=4).map(" ".join)
STEP = st.fixed_dictionaries({
    "words": WORDS, "key": st.sampled_from(["home.city", "car", "pet.name"]),
    "about": st.sampled_from(["thread", "subject"]), "thread": st.sampled_from(["main", "side"]),
    "noted": st.sampled_from(["now", "now", "never", "nothing"]), "extra": st.booleans(),
})  # fmt: skip


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(STEP, min_size=1, max_size=7),
    pick=st.integers(0, 99),
    what=st.sampled_from(["turn", "entry", "thread"]),
)
async def test_demand_25_canaries_in_every_field_of_generated_threads(steps: list[dict], pick: int, what: str) -> None:
    store = InMemoryStore()
    threads = {"main": await thread_at(store, MAIN), "side": await thread_at(store, SIDE)}
    planted: list[tuple[dict, int]] = []
    for n, step in enumerate(steps):
        value = f"zyx{n}q"
        quote = f"my {step['key']} is {value}"
        ops = {"now": [fact(step["key"], value, quote, step["about"])], "nothing": [], "never": None}[step["noted"]]
        turn = await play(
            threads[step["thread"]], f"{step['words']} ; {quote}", f"{step['words']}, I see.", ops=ops,
            extra=f"{value}x" if step["extra"] and what != "entry" else "",
            title=f"{value} talk" if what != "entry" else "",
        )  # fmt: skip
        planted.append((step, turn.seq))
    at = pick % len(planted)
    step, seq = planted[at]
    scope = threads[step["thread"]].scope
    if what == "turn":
        await forget_turn(store, scope, seq)
        gone = [at]
    elif what == "thread":
        await forget_thread(store, scope)
        gone = [n for n, (other, _) in enumerate(planted) if other["thread"] == step["thread"]]
    else:
        try:
            await forget_entry(store, scope, step["key"], about=step["about"])
        except NotFound:
            return
        gone = [n for n, (other, _) in enumerate(planted)
                if (other["key"], other["about"], other["noted"]) == (step["key"], step["about"], "now")
                and (other["thread"] == step["thread"] or step["about"] == "subject")]  # fmt: skip
    held = kept_in(store)
    assert [n for n in gone if f"zyx{n}q" in held] == []
    stay = [n for n in range(len(planted)) if n not in gone]
    assert [n for n in stay if f"zyx{n}q" not in held] == [], "and nothing else is touched"
    deltas = [load_changes(delta.changes) for delta in await store.subject_deltas(ME)]
    assert fold(deltas, about="subject").to_json() == (await threads["side"].profile()).to_json()
    for name, thread in threads.items():
        if what == "thread" and name == step["thread"]:
            continue
        state = fold([load_changes(delta.changes) for delta in await store.deltas(thread.scope)])
        assert state.to_json() == (await thread.state()).to_json()
        last = (await store.thread_info(thread.scope)).turns
        if last:
            await verified(thread, last)
        told = await next_contexts(thread)
        assert [n for n in gone if f"zyx{n}q" in told] == []


@settings(max_examples=60)
@given(values=st.lists(st.sampled_from(["Leeds", "York", "Oslo"]), min_size=2, max_size=6), data=st.data())
async def test_forget_never_revives(values: list[str], data: st.DataObject) -> None:
    """Whatever is forgotten in whatever order: a key that stood empty or on a newer value never shows an older one."""
    store = InMemoryStore()
    thread = await thread_at(store, MAIN)
    for value in values:
        await play(thread, f"I live in {value}.", "Ok.", ops=[fact("home.city", value, f"I live in {value}")])
    left = list(range(1, len(values) + 1))
    for seq in data.draw(st.permutations(left))[: data.draw(st.integers(1, len(left)))]:
        newest = left[-1]
        left.remove(seq)
        await thread.forget_turn(seq)
        entry = (await thread.state()).get("home.city")
        alive = newest if newest in left and newest == len(values) else 0
        assert (entry.value if entry else "") == (values[alive - 1] if alive else "")
