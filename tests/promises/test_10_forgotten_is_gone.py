"""Promise 10: after a forget, the forgotten entry or turn is in no table, index, snapshot, receipt, event or later
context, nor in the bytes of the SQLite file (DEMAND 25), and nothing that was pending brings it back (CASES D11).

Canaries are planted through the public API in everything that a person, a model or a page can fill; then something is
forgotten, and every row of every table and every byte of the files is searched.
"""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumina.agent.events import from_json
from lumina.agent.ports import NewDocument, PassageSpan
from lumina.memory.delta import load_changes
from lumina.memory.errors import NotFound, TurnConflict
from lumina.memory.forgotten import finish, forget_entry, forget_subject, forget_thread, forget_turn
from lumina.memory.passages import passages_of
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.state import State, fold
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.turns import Citation, Message, NewSource, ToolCall, ToolRecord, Turn, TurnEnd
from lumina.memory.words import forms
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.sqlite import SQLiteStore
from lumina.testing import Call, ScriptedModel, ScriptedNotes

ME = SubjectScope(tenant="local", subject="me")
MAIN, SIDE = ME.thread("main"), ME.thread("side")


# What is searched


def rows_of(path: Path) -> str:
    """Every row of every table, the full-text index's own ones too, as one text."""
    found: list[str] = []
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            found += [f"{table}: {row!r}" for row in connection.execute(f'SELECT * FROM "{table}"')]
    return "\n".join(found).lower()


def bytes_of(folder: Path) -> bytes:
    """The database, its log, its index of the log, and the folder of who is running."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return b"\n".join(file.read_bytes() for file in files).lower()


def kept_in(store: InMemoryStore) -> str:
    return repr(store._subjects).lower() + repr(store._documents).lower()


# What is planted


async def thread_at(store: Store, scope: ThreadScope) -> Thread:
    return Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True))


async def play(
    thread: Thread, question: str, answer: str, *, ops: list[dict] | None = None, extra: str = "", title: str = ""
) -> Turn:
    """A turn as the agent holds it: begun, sent, searched, ended, noted. `extra` stands in every field that the turn
    has besides question and answer."""
    store, scope = thread.store, thread.scope
    turn, _ = await thread.begin(question)
    context = await thread.context(question, instructions="Be brief.", turn=turn, look_back=True)
    body = {"thread": scope.thread, "turn": turn.seq}
    started = {**body, "kind": "turn.started", "attempt": 1, "question": question}
    await store.append_events(scope, turn.seq, 1, [json.dumps(started)])
    await store.append_events(scope, 0, 0, [json.dumps(started)])
    citations: tuple[Citation, ...] = ()
    cited: tuple[int, ...] = ()
    if extra:
        source = await store.register_source(scope, turn.seq, 1, NewSource(
            locator=f"https://{extra}.example/a", url=f"https://{extra}.example/a", title=f"About {extra}",
            host=f"{extra}.example", depth="page", text=f"A page about {extra}.",
        ))  # fmt: skip
        cited = (source.n,)
        citations = (Citation(
            n=source.n, position=0, sentence_start=0, sentence_end=len(answer), digest=source.digest,
            passage=((0, 6),), score=0.5, checkable=True, missing=(("name", extra),),
        ),)  # fmt: skip
        await store.add_tool_call(scope, turn.seq, 1, ToolRecord(
            index=0, call=1, id="c1", name="web_search", arguments=json.dumps({"query": extra}),
            result=json.dumps({"text": extra}), said=f"Looking for {extra}.",
        ))  # fmt: skip
    pieces = [answer[: len(answer) // 2], answer[len(answer) // 2 :]]
    events = [{**body, "kind": "text", "text": piece} for piece in pieces]
    events += [{**body, "kind": "search.started", "query": extra, "provider": "p"}] if extra else []
    events += [{**body, "kind": "turn.finished", "status": "complete", "reason": extra}]
    await store.finish_turn(scope, TurnEnd(
        seq=turn.seq, attempt=1, answer=answer, status="complete", reason=extra, cited=cited, citations=citations,
        searched="found" if extra else "not needed", window_start=context.window_start, delta="waiting",
        passages=passages_of(question, answer), usage=json.dumps({extra or "input": 1}),
        events=tuple(map(json.dumps, events)),
        exchanges=(
            Message(role="assistant", content=extra, tool_calls=(ToolCall(id="x", name="f", arguments=f'"{extra}"'),)),
            Message(role="tool", content=extra, tool_call_id="x"),
        ) if extra else (),
    ))  # fmt: skip
    if ops is not None:
        await thread.delta_request(turn.seq)
        reply = {"ops": ops, "title": title, "followups": [f"What of {extra}?"] if extra else []}
        noting = await thread.apply(reply, seq=turn.seq)
        told = [{**body, "kind": "state.changed", "op": o.change.op, "key": o.change.key, "about": o.change.about,
                 "old": o.old or None, "new": o.change.value, "quote": "", "said_by": "user"}
                for o in noting.outcomes]  # fmt: skip
        told += [{**body, "kind": "title", "title": title}] if title else []
        await store.append_events(scope, 0, 0, [json.dumps(event) for event in told])
    return turn


def fact(key: str, value: str, quote: str, about: str = "thread") -> dict:
    return {"op": "set", "key": key, "value": value, "quote": quote, "about": about}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    store = await SQLiteStore.open(tmp_path / "lumina.db")
    yield store
    await store.close()


async def next_contexts(thread: Thread, count: int = 5) -> str:
    """What the next contexts send, and what the delta step is asked."""
    told: list[str] = []
    for n in range(count):
        question = f"What did you say earlier about my city, option {n}?"
        context = await thread.context(question, instructions="Be brief.", look_back=True)
        told += [message.content for message in context.messages]
        await thread.record(context, f"Nothing, {n}.")
        request = await thread.delta_request()
        told += [message.content for message in request.messages] if request else []
        await thread.apply({"ops": []})
    return "\n".join(told).lower()


async def verified(thread: Thread, turns: int) -> int:
    """Shows every call of every turn again: none differs from what was sent. How many parts are forgotten."""
    forgotten = 0
    for seq in range(1, turns + 1):
        for call in await thread.show(seq):
            assert call.same is not False
            assert (call.same is None) == (call.forgotten > 0)
            assert (call.receipt.sent == "") == (call.forgotten > 0), "a hash would prove a guess right"
            forgotten += call.forgotten
    return forgotten


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


# Races and kills

WRITER = """
import asyncio, sys
from pathlib import Path
from lumina.memory import noting
from lumina.memory.errors import LuminaError
from lumina.memory.scope import ThreadScope
from lumina.stores.sqlite import SQLiteStore

path, reply = sys.argv[1:]
scope = ThreadScope(tenant="local", subject="me", thread="main")

async def main():
    store = await SQLiteStore.open(Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    for seq in range(1, 13):
        try:
            await noting.ask(store, scope, seq=seq)
            await noting.take(store, scope, reply.replace("SEQ", str(seq)), seq=seq)
        except LuminaError as error:
            pass
    await store.close()

asyncio.run(main())
"""


async def test_d11_another_process_that_is_noting_brings_nothing_back(tmp_path: Path) -> None:
    path = tmp_path / "lumina.db"
    store = await SQLiteStore.open(path)
    thread = await thread_at(store, MAIN)
    for seq in range(1, 13):
        await play(thread, f"My note{seq} is zyx{seq}q.", "Ok.")
    op = {"op": "set", "key": "noteSEQ", "value": "zyxSEQq", "quote": "My noteSEQ is zyxSEQq"}
    reply = json.dumps({"ops": [op], "title": "zyxSEQq", "followups": ["zyxSEQq?"]})
    arguments = [sys.executable, "-c", WRITER, str(path), reply]
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe, stderr=pipe)
    assert child.stdin is not None
    assert child.stdout is not None
    await child.stdout.readline()
    child.stdin.write(b"\n")
    for seq in range(2, 13, 2):
        await forget_turn(store, MAIN, seq)
    _, errors = await child.communicate()
    assert child.returncode == 0, errors
    rows = rows_of(path)
    assert [seq for seq in range(2, 13, 2) if f"zyx{seq}q" in rows] == []
    assert [seq for seq in range(1, 13, 2) if f"zyx{seq}q" not in rows] == []
    assert await finish(store)
    await store.close()
    assert [seq for seq in range(2, 13, 2) if f"zyx{seq}q".encode() in bytes_of(tmp_path)] == []


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from sqlalchemy import event
from lumina.memory.forgotten import forget_turn
from lumina.memory.scope import ThreadScope
from lumina.stores.sqlite import SQLiteStore

path, limit = sys.argv[1], int(sys.argv[2])
count = 0

async def main():
    store = await SQLiteStore.open(Path(path))

    def counted(connection, cursor, statement, parameters, context, many):
        global count
        if statement.split()[0] in ("UPDATE", "DELETE", "INSERT"):
            count += 1
            if count > limit:
                os.kill(os.getpid(), signal.SIGKILL)

    event.listen(store._engine, "before_cursor_execute", counted)
    await forget_turn(store, ThreadScope(tenant="local", subject="me", thread="main"), 2)
    print(count)

asyncio.run(main())
"""


@pytest.mark.parametrize("limit", [0, 3, 9, 15, 999])
async def test_d11_a_kill_between_two_statements_leaves_all_or_nothing(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "lumina.db"
    store = await SQLiteStore.open(path)
    thread = await thread_at(store, MAIN)
    await play(thread, "Hello there.", "Hello.", ops=[])
    quote = "My city is Zyxwvutown"
    await play(
        thread, f"{quote}.", "Zyxanswer.", ops=[fact("home.city", "Zyxwvutown", quote, "subject")], extra="zyxextra"
    )
    await store.close()
    before = rows_of(path)
    arguments = [sys.executable, "-c", KILLED, str(path), str(limit)]
    child = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, text=True, timeout=120)
    if limit < 999:
        assert child.returncode == -9
        assert rows_of(path) == before
        store = await SQLiteStore.open(path)
        await forget_turn(store, MAIN, 2)
        await store.close()
    else:
        assert int(child.stdout) > 15, child.stderr
    assert "zyx" not in rows_of(path)
    assert b"zyx" not in bytes_of(tmp_path)


async def test_a_reader_that_holds_the_log_is_told_of_and_can_be_waited_out(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lumina.stores.sqlite_scrub.WAIT_SECONDS", 0.05)
    thread = await thread_at(store, MAIN)
    await play(thread, "My city is Zyxwvutown.", "Ok.", ops=[])
    with closing(sqlite3.connect(tmp_path / "lumina.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        done = await forget_turn(store, MAIN, 1)
        assert not done.bytes_gone
        assert reader.execute("SELECT question FROM turns").fetchone() == ("My city is Zyxwvutown.",)
    assert "zyx" not in rows_of(tmp_path / "lumina.db")
    assert await finish(store)
    assert b"zyx" not in bytes_of(tmp_path)


async def test_the_agent_forgets_what_it_looked_back_at_and_refused_to_search_for(make_agent, store, scope) -> None:
    """Copies in other turns: a look back's result, and a search that was refused because it carried a noted value."""
    quote = "My harbour city is Zyxwvutown"
    city = fact("home.city", "Zyxwvutown", quote, "subject")
    notes = ScriptedNotes([json.dumps({"ops": [city]}), *["{}"] * 30])
    model = ScriptedModel([
        "Ok.", *["Fine."] * 11, Call("look_back", {"query": "harbour city"}), "Found.",
        Call("web_search", {"query": "weather in Zyxwvutown"}), "No search.",
    ])  # fmt: skip
    agent = make_agent(model, notes=notes)
    questions = [f"{quote}.", *[f"Question {n}?" for n in range(11)], "Look back, please.", "What is the weather?"]
    for question in questions:
        run = await agent.ask(scope, question)
        await run.ended()
        await run.notes(wait=30)
    await agent.noted()
    calls = [record for seq in range(1, 15) for record in await store.tool_calls(scope, seq, 1)]
    assert "Zyxwvutown" in calls[0].result
    assert "remembered" in calls[1].result
    done = await forget_entry(store, scope, "home.city", about="subject")
    assert done.elsewhere == ()
    for seq in range(1, 15):
        told = [
            *await store.tool_calls(scope, seq, 1),
            *await store.events(scope, seq, 1),
            *await store.receipts(scope, seq, 1),
        ]
        assert "zyxwvu" not in repr(told).lower()
        for call in await (await agent.thread(scope)).show(seq):
            assert call.same is not False
    assert "zyxwvu" not in repr(await store.events(scope, 0, 0)).lower()


async def test_nothing_is_forgotten_while_it_is_being_answered(store: SQLiteStore) -> None:
    thread = await thread_at(store, MAIN)
    await play(thread, "My city is Zyxwvutown.", "Ok.", ops=[])
    turn, _ = await thread.begin("And now?")
    with pytest.raises(TurnConflict):
        await thread.forget_turn(1)
    await store.finish_turn(MAIN, TurnEnd(seq=turn.seq, attempt=1, answer="Now.", status="complete"))
    assert (await thread.forget_turn(1)).turns == 1
    assert State.from_json((await store.state(MAIN)).body).current() == ()
