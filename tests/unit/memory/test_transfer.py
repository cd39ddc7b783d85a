"""The file of an export: what it covers, that it comes back the same, and what is refused."""

import asyncio
import hashlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.agent.ports import NewDocument
from lumina.memory import transfer_lines
from lumina.memory.errors import LuminaError, UsageError
from lumina.memory.scope import SubjectScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.transfer import export_to, import_from
from lumina.memory.transfer_lines import LINES, SCHEMA
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store
from lumina.stores.schema import REVISIONS, metadata
from lumina.testing.store_examples import NOON, ODD, page_about, thread_of
from lumina.testing.store_suite_transfer import exported, imported, lived_in, without_scope

ME = SubjectScope(tenant="local", subject="me")
# What another line says, or what is made again.
MADE_AGAIN = {
    "meta", "counters", "states", "profiles", "vectors", "owners", "document_words", "threads.handle", "threads.turns",
    "threads.running", "threads.running_attempt", "threads.owner", "citations.place", "events.number", "audit.number",
    "usage.number", "passages.id", "documents.id", "documents.words", "document_passages.document",
    "document_passages.ordinal",
}  # fmt: skip
LINE_OF = {
    "subjects": "SubjectLine", "texts": "TextLine", "documents": "DocumentLine", "document_passages": "DocumentSpan",
    "audit": "AuditLine", "threads": "ThreadLine", "sources": "SourceLine", "turns": "TurnLine",
    "tool_calls": "ToolCallLine", "citations": "CitationLine", "delta_jobs": "DeltaJobLine", "deltas": "DeltaLine",
    "receipts": "ReceiptLine", "usage": "UsageLine", "events": "EventLine", "passages": "PassageLine",
}  # fmt: skip


def test_the_lines_hold_every_column_that_is_not_made_again() -> None:
    """A column that a migration adds is exported, or named here with those that follow from others."""
    assert REVISIONS[-1] == SCHEMA
    missing = []
    for table in metadata.sorted_tables:
        if table.name in MADE_AGAIN or table.name == "turn_sources":  # the numbers of `read`, in their order
            continue
        fields = getattr(transfer_lines, LINE_OF[table.name]).model_fields
        names = {column.name for column in table.c} - {"tenant", "subject"}
        names -= {"thread"} if table.name not in ("threads", "audit") else set()
        missing += [f"{table.name}.{n}" for n in names if n not in fields and f"{table.name}.{n}" not in MADE_AGAIN]
    assert missing == []


def resealed(lines: list[bytes]) -> bytes:
    """The file that somebody who knows the format would make of changed lines."""
    body = b"".join(lines)
    return body + transfer_lines.dump(transfer_lines.End(lines=len(lines), sha256=hashlib.sha256(body).hexdigest()))


def changed(line: bytes, **fields: object) -> bytes:
    row = {**json.loads(line), **fields}
    return json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@pytest.fixture
async def file() -> list[bytes]:
    store = InMemoryStore()
    await lived_in(store)
    return (await exported(store, ME)).splitlines(keepends=True)[:-1]


FORGERIES: list[tuple[str, dict[str, Any], str]] = [
    ("header", {"version": 2}, "version"),
    ("header", {"schema": "0099"}, "schema"),
    ("subject", {"number": 2}, "number: it is larger"),
    ("text", {"text": "another"}, "digest"),
    ("thread", {"thread": "\x01"}, "thread"),
    ("thread", {"deltas": 1}, "deltas"),
    ("source", {"n": 7}, "n: "),
    ("source", {"digest": "0" * 64}, "digest: the file holds no such text"),
    ("turn", {"seq": 3}, "seq: turns count from 1"),
    ("turn", {"status": "running"}, "status"),
    ("turn", {"cited": [9]}, "cited: a number belongs to no source"),
    ("turn", {"day": "tomorrow"}, "day"),
    ("turn", {"question": "a\x00b"}, "question: holds the character"),
    ("turn", {"admin": True}, "admin: Extra inputs"),
    ("turn", {"window_start": 5}, "window_start"),
    ("turn", {"usage": "[" * 5000 + "]" * 5000}, "usage"),
    ("turn", {"usage": '{"a":' + "9" * 5000 + "}"}, "usage"),
    ("turn", {"number": 10**30}, "number"),
    ("citation", {"n": 9}, "n: it belongs to no source"),
    ("citation", {"position": 10_000}, "position"),
    ("citation", {"passage": [[0, 10_000]]}, "passage"),
    ("citation", {"score": float("nan")}, "score|JSON"),
    ("delta", {"changes": "[1]"}, "changes"),
    ("delta", {"number": 2}, "number"),
    ("receipt", {"body": '{"rendering":99}'}, "newer"),
    ("receipt", {"body": '{"call":1,"rendering":1}'}, "body: not written as it is stored"),
    ("receipt", {"body": '{"items":7,"rendering":1}'}, "body"),
    ("event", {"body": "[]"}, "body"),
    ("event", {"seq": 2}, "seq: the line stands with another turn"),
    ("passage", {"end": 10_000}, "end"),
    ("passage", {"kind": "password"}, "kind"),
]


@pytest.mark.parametrize(("kind", "fields", "said"), FORGERIES, ids=[f"{k} {next(iter(f))}" for k, f, _ in FORGERIES])
async def test_x2_m1_a_forged_line_is_refused_by_line_and_field(file, kind, fields, said) -> None:
    """X2, M1: whoever makes a file up, seal and all, gets no further than with the input of an API."""
    at = next(n for n, line in enumerate(file) if json.loads(line)["kind"] == kind)
    forged = resealed([*file[:at], changed(file[at], **fields), *file[at + 1 :]])
    store = InMemoryStore()
    with pytest.raises(UsageError, match=rf"(?s)^Line (\d+) of the file: .*({said}).*Nothing was imported"):
        await imported(store, ME, forged)
    assert await store.threads(ME) == []


async def test_promise_6_a_change_that_its_voice_may_not_make_is_refused(file) -> None:
    at = next(n for n, line in enumerate(file) if b'"delta"' in line)
    for forged in ('"said_by":"assistant"', '"said_by":"operator"'):
        changes = json.loads(file[at])["changes"].replace('"said_by":"user"', forged)
        with pytest.raises(UsageError, match="changes"):
            await imported(
                InMemoryStore(), ME, resealed([*file[:at], changed(file[at], changes=changes), *file[at + 1 :]])
            )


@pytest.mark.parametrize(("field", "forged"), [("end", 100_000), ("start", -1), ("seq", 9)])
async def test_promise_6_a_change_whose_quote_stands_nowhere_is_refused(file, field: str, forged: int) -> None:
    """Offsets beyond the words, before them, and in a turn that is not there."""
    at, line = next((n, json.loads(line)) for n, line in enumerate(file) if b'\\"quote\\"' in line)
    changes = json.loads(line["changes"])
    changes[0]["quote"][field] = forged
    body = json.dumps(changes, sort_keys=True, separators=(",", ":"))
    with pytest.raises(UsageError, match="changes: a quote does not lie within"):
        await imported(InMemoryStore(), ME, resealed([*file[:at], changed(file[at], changes=body), *file[at + 1 :]]))


async def test_a_line_that_says_a_thing_twice_is_refused(file) -> None:
    twice = file[1].replace(b'{"kind"', b'{"kind":"subject","kind"')
    with pytest.raises(UsageError, match=r"Line 2 .* not written as an export writes it"):
        await imported(InMemoryStore(), ME, resealed([file[0], twice, *file[2:]]))


async def test_an_export_of_one_store_goes_into_the_other(tmp_path: Path) -> None:
    """Documents of the subject's own come with it, and are found by their words."""
    memory, sqlite = InMemoryStore(), await open_store(tmp_path / "lumina.db")
    await lived_in(memory)
    from lumina.testing.document_suite import about

    mine: list[NewDocument] = [about("b", "needle one", "more"), about("a", "needle two")]
    await memory.put_documents(ME, mine, own=True)
    file = await exported(memory, ME)
    report = await imported(sqlite, ME, file)
    assert report.documents == 2
    assert await exported(sqlite, ME) == file
    found = await sqlite.find_passages(ME, ["needl"], limit=9)  # type: ignore[attr-defined]
    assert sorted(hit.locator for hit in found.hits) == ["a", "b"]
    back = InMemoryStore()
    await imported(back, ME, file)
    assert await exported(back, ME) == file
    await sqlite.close()


async def test_a_thread_alone_loses_the_hash_of_what_other_threads_said() -> None:
    """What the model saw from another thread is not in the file: it reads as forgotten, and is not said to differ."""
    store = InMemoryStore()
    for name in ("one", "two"):
        info = await store.open_thread(thread_of(thread=name), deltas=True)
        thread = Thread(store=store, scope=thread_of(thread=name), info=info, clock=lambda: NOON)
        context = await thread.context("I live in York. Where do I live?")
        await thread.record(context, "In York.")
        note = {"op": "set", "key": "home.city", "value": "York", "quote": "I live in York", "about": "subject"}
        await thread.apply({"ops": [note]})
    file = io.BytesIO()
    report = await export_to(store, thread_of(thread="two"), file.write)
    assert report.unproved == 1
    there = InMemoryStore()
    await import_from(there, ME, file)
    info = await there.thread_info(thread_of(thread="two"))
    copy = Thread(store=there, scope=thread_of(thread="two"), info=info)
    (shown,) = await copy.show()
    assert (shown.same, shown.forgotten) == (None, 1)
    assert (await exported(there, thread_of(thread="two"))) == file.getvalue()


async def test_a_thread_alone_loses_the_hash_of_what_was_recalled_from_another_one() -> None:
    store = InMemoryStore()
    for name, question in (("trip", "Which hotel in Lisbon?"), ("today", "Which hotel did you recommend last time?")):
        info = await store.open_thread(thread_of(thread=name), deltas=False)
        thread = Thread(store=store, scope=thread_of(thread=name), info=info, clock=lambda: NOON)
        await thread.record(await thread.context(question), "The Pombal hotel.")
    file, whole = io.BytesIO(), io.BytesIO()
    assert (await export_to(store, thread_of(thread="today"), file.write)).unproved == 1
    assert (await export_to(store, ME, whole.write)).unproved == 0
    there = InMemoryStore()
    await import_from(there, ME, file)
    info = await there.thread_info(thread_of(thread="today"))
    (shown,) = await Thread(store=there, scope=thread_of(thread="today"), info=info).show()
    assert shown.same is None
    assert shown.forgotten > 0
    assert (await exported(there, thread_of(thread="today"))) == file.getvalue()


# Threads as they come


words = st.sampled_from([*ODD, "I live in York.", "天気", "[1] [2]", "a" * 300]).filter(lambda text: text.strip())
steps = st.lists(st.tuples(words, words, st.sampled_from(["note", "fail", "read", "stop", "no"])), max_size=4)


async def played(store: Store, name: str, deltas: bool, turns: list[tuple[str, str, str]]) -> None:
    scope = thread_of(thread=name)
    info = await store.open_thread(scope, deltas=deltas)
    thread = Thread(store=store, scope=scope, info=info, clock=lambda: NOON, zone="Asia/Tokyo")
    for question, answer, what in turns:
        context = await thread.context(question, budget=20_000, instructions="Be brief.")
        status = "partial" if what == "stop" else "complete"
        turn = await thread.record(context, answer, status=status, reason="stopped" if what == "stop" else "")
        if what == "read":
            await store.register_source(
                scope, turn.seq, turn.attempt, page_about(answer, f"https://a.example/{turn.seq % 2}")
            )
        if deltas and what == "note":
            quote = question.strip()[:40]
            ops = [{"op": "set", "key": "a.b", "value": quote, "quote": quote, "about": "subject"}]
            await thread.apply({"ops": ops}, seq=turn.seq)
        elif deltas and what == "fail":
            await store.fail_delta(scope, turn.seq, turn.attempt, "no", set_aside=True)


@settings(max_examples=25, deadline=None)
@given(threads=st.dictionaries(st.sampled_from(["a", "A", "a%"]), st.tuples(st.booleans(), steps), max_size=2))
def test_whatever_was_said_exports_imports_and_exports_alike(threads) -> None:
    async def run() -> None:
        store = InMemoryStore()
        for name, (deltas, turns) in threads.items():
            await played(store, name, deltas, turns)
        file = await exported(store, ME)
        with tempfile.TemporaryDirectory() as folder:
            sqlite = await open_store(Path(folder) / "lumina.db")
            await imported(sqlite, ME, file)
            assert await exported(sqlite, ME) == file
            for name in threads:
                scope = thread_of(thread=name)
                info = await sqlite.thread_info(scope)
                copy = Thread(store=sqlite, scope=scope, info=info)
                for seq in range(1, info.turns + 1):
                    assert all(shown.same for shown in await copy.show(seq))
            await sqlite.close()

    asyncio.run(run())


def values(value: Any) -> st.SearchStrategy[Any]:
    other = {
        bool: st.booleans(), int: st.sampled_from([-1, 0, 1, 2, 3, 10**20]),
        str: st.sampled_from(["", "x", "\0", "2026-11-30", "{}", "[]", "applied", "x" * 500]),
    }  # fmt: skip
    return st.one_of(other.get(type(value), st.just([])), st.none(), st.just([1]), st.just({}))


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_changed_file_is_refused_or_comes_back_as_it_was_changed(data) -> None:
    """Any byte or line: refused with nothing written, or, when the seal is forged too, kept as it says."""

    async def run() -> None:
        store = InMemoryStore()
        await lived_in(store, turns=1)
        whole = await exported(store, ME)
        at = data.draw(st.integers(0, len(whole) - 1))
        bad = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
        there = InMemoryStore()
        with pytest.raises(UsageError):
            await imported(there, ME, bad)
        assert await there.threads(ME) == []

        lines = whole.splitlines(keepends=True)[:-1]
        place = data.draw(st.integers(0, len(lines) - 1))
        how = data.draw(st.sampled_from(["change", "drop", "twice", "swap"]))
        if how == "change":
            row = json.loads(lines[place])
            name = data.draw(st.sampled_from(sorted(row)))
            lines[place] = changed(lines[place], **{name: data.draw(values(row[name]))})
        elif how == "drop":
            del lines[place]
        elif how == "twice":
            lines.insert(place, lines[place])
        else:
            lines[place - 1], lines[place] = lines[place], lines[place - 1]
        forged = resealed(lines)
        try:
            await imported(there, ME, forged)
        except LuminaError:
            assert await there.threads(ME) == []
            assert without_scope(await exported(there, ME)) == [b'{"kind":"subject","number":0}']
        else:
            again = without_scope(await exported(there, ME))
            assert sorted(again) == sorted(without_scope(forged))

    asyncio.run(run())


def test_every_kind_of_line_is_told_apart() -> None:
    assert LINES.json_schema()["discriminator"]["propertyName"] == "kind"
