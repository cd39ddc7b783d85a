"""What a store must do for export and import. See `lumina.testing.store_suite`."""

import io
import json
from typing import Any

import pytest

from lumina.memory.change import Change, Quote, dump_changes
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.noting import load_profile, load_state
from lumina.memory.passages import passages_of
from lumina.memory.receipt import Item, Receipt
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import AppliedDelta, Snapshot, Store, StoredReceipt
from lumina.memory.transfer import Exported, export_to, import_from
from lumina.memory.transfer_lines import AuditLine
from lumina.memory.turns import Citation, Message, ToolCall
from lumina.testing.capabilities import Capable, needs
from lumina.testing.store_examples import NOON, ODD, asked, ended, looked_up, page_about, subject_of, thread_of

ME, HERE = subject_of(), thread_of()
THERE = subject_of("copy", "elsewhere")


async def exported(store: Store, scope: SubjectScope | ThreadScope) -> bytes:
    return (await exported_with(store, scope))[0]


async def exported_with(store: Store, scope: SubjectScope | ThreadScope) -> tuple[bytes, Exported]:
    file = io.BytesIO()
    report = await export_to(store, scope, file.write, now=NOON)
    return file.getvalue(), report


async def imported(store: Store, scope: SubjectScope, file: bytes, **how: Any) -> Any:
    return await import_from(store, scope, io.BytesIO(file), now=NOON, **how)


def without_scope(file: bytes) -> list[bytes]:
    """The lines that do not say where they came from."""
    return file.splitlines()[1:-1]


def fact(turn: Any, key: str, value: str, *, about: str = "thread", thread: str = "", end: int = 1) -> Change:
    quote = Quote(seq=turn.seq, attempt=turn.attempt, part="question", start=0, end=end)
    return Change(
        op="set", kind="fact", key=key, said_by="user", seq=turn.seq, attempt=turn.attempt, day=turn.day, value=value,
        about="subject" if about == "subject" else "thread", number=turn.number,
        thread=thread if about == "subject" else "", quote=quote,
    )  # fmt: skip


async def full_turn(store: Store, scope: ThreadScope, n: int, text: str = "I live in York.") -> Any:
    """A turn with one of everything."""
    turn, _ = await store.begin_turn(scope, asked(f"client {n}", text))
    prompt = await store.put_text(scope.of_subject, f"Be brief. {n % 2}")
    source = await store.register_source(scope, turn.seq, 1, page_about(f"text {n}", f"https://example.org/{n % 3}"))
    await store.add_tool_call(scope, turn.seq, 1, looked_up(0, result=text))
    await store.append_events(scope, turn.seq, 1, ['{"kind":"text","text":"\\ud800"}'])
    answer = f"It is [{source.n}]. {text}"
    cited = Citation(
        n=source.n, position=6, sentence_start=0, sentence_end=9, digest=source.digest, passage=((0, 4),),
        score=0.1 + n / 7, checkable=n % 2 == 0, missing=(("name", "Zoë"),),
    )  # fmt: skip
    call = ToolCall(id="c", name="look", arguments='{"a": 1}')
    exchanges = (
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content=text, tool_call_id="c"),
    )
    body = Receipt(rendering=1, items=(Item(kind="instructions", digest=prompt),), memory_id="ab").to_json()
    await store.put_receipt(
        scope, StoredReceipt(seq=turn.seq, attempt=1, call=1, purpose="answer", body=body)
    )  # fmt: skip
    done = await store.finish_turn(
        scope,
        ended(turn, answer, delta=True, citations=(cited,), cited=(source.n,), exchanges=exchanges, searched="found",
              passages=passages_of(text, answer), events=('{"kind":"turn.finished"}',), usage='{"input": 3}'),
    )  # fmt: skip
    await store.set_followups(scope, turn.seq, 1, ["And then?", text])
    await store.append_events(scope, 0, 0, [json.dumps({"kind": "turn.finished", "thread": scope.thread})])
    return done


async def note(store: Store, scope: ThreadScope, turn: Any, *changes: Change) -> None:
    held, profile = await load_state(store, scope), await load_profile(store, scope.of_subject)
    more = any(change.about == "subject" for change in changes)
    delta = AppliedDelta(seq=turn.seq, attempt=1, correction=0, number=turn.number, changes=dump_changes(changes))
    new = profile.next(profile.state.merge(changes)[0]) if more else None
    await store.apply_delta(scope, delta, held.next(held.state.merge(changes)[0]), new)


async def lived_in(store: Store, scope: ThreadScope = HERE, turns: int = 3) -> None:
    """A thread in which much has happened."""
    await store.open_thread(scope, deltas=True)
    for n in range(turns):
        turn = await full_turn(store, scope, n, ODD[4 + n % 8] + " I live in York.")
        mine = fact(turn, "home.city", "York", about="subject", thread=scope.thread)
        await note(store, scope, turn, fact(turn, "order.size", str(n)), *([mine] if n == 0 else []))
    last = await full_turn(store, scope, turns, "And now?")
    await store.fail_delta(scope, last.seq, 1, "no answer", set_aside=True)
    await store.set_title(scope, "Résumé 天気")


@needs("transfer")
class TransferSuite(Capable):
    """`export_rows` and `import_rows`, through `lumina.memory.transfer`."""

    async def test_an_import_of_an_export_exports_the_same_bytes(self, store: Store) -> None:
        """DEMAND Memory 31, M1: import(export(x)) == x. A copy under another subject differs in the header alone."""
        await lived_in(store)
        await lived_in(store, thread_of(thread="other"), 1)
        await store.open_thread(thread_of(thread="unasked"), deltas=False)
        for scope, copied in ((HERE, THERE.thread("main")), (ME, subject_of("all"))):
            file = await exported(store, scope)
            assert await exported(store, scope) == file
            await imported(store, copied.of_subject if isinstance(copied, ThreadScope) else copied, file)
            again = await exported(store, copied)
            assert without_scope(again) == without_scope(file)

    async def test_what_was_imported_is_what_was_there(self, store: Store) -> None:
        await lived_in(store)
        report = await imported(store, THERE, await exported(store, ME))
        assert (report.threads, report.turns, report.moved) == ((("main", "main"),), 4, 0)
        there = THERE.thread("main")
        assert await store.page(there) == await store.page(HERE)
        assert await store.recent_turns(there, limit=9) == await store.recent_turns(HERE, limit=9)
        assert await store.sources(there) == await store.sources(HERE)
        assert await store.delta_jobs(there, "applied", "set aside") == await store.delta_jobs(
            HERE, "applied", "set aside"
        )
        assert await store.events(there, 1, 1) == await store.events(HERE, 1, 1)
        assert await store.events(there, 0, 0) == await store.events(HERE, 0, 0)
        assert await store.tool_calls(there, 2, 1) == await store.tool_calls(HERE, 2, 1)
        assert await store.receipts(there, 2, 1) == await store.receipts(HERE, 2, 1)
        assert await store.deltas(there) == await store.deltas(HERE)
        assert (await load_state(store, there)).state == (await load_state(store, HERE)).state
        assert (await load_profile(store, THERE)).state == (await load_profile(store, ME)).state
        assert await store.thread_info(there) == await store.thread_info(HERE)
        for found, kept in ((there, THERE), (HERE, ME)):
            ids = (await store.matches(found, ["york"], before=9, cap=9)).ids["york"]
            assert len(ids) == 6, kept
        assert await store.passages(there, ids, around=1) == await store.passages(HERE, ids, around=1)

    async def test_an_imported_thread_goes_on(self, store: Store) -> None:
        await lived_in(store)
        await imported(store, THERE, await exported(store, ME))
        turn = await full_turn(store, THERE.thread("main"), 9)
        assert (turn.seq, turn.number) == (5, 5)
        new = await store.register_source(THERE.thread("main"), 5, 1, page_about("x", "https://example.org/new"))
        assert new.n == 4
        await note(store, THERE.thread("main"), turn, fact(turn, "order.size", "9"))
        entry = (await load_state(store, THERE.thread("main"))).state.get("order.size")
        assert entry is not None
        assert entry.value == "9"

    async def test_an_existing_thread_is_never_overwritten(self, store: Store) -> None:
        await lived_in(store)
        file = await exported(store, HERE)
        before = await exported(store, ME)
        with pytest.raises(UsageError, match="is here already"):
            await imported(store, ME, file)
        report = await imported(store, ME, file, skip=True)
        assert (report.threads, report.there_already) == ((), ("main",))
        assert await exported(store, ME) == before

    async def test_a_thread_gets_another_name_and_later_numbers(self, store: Store) -> None:
        await lived_in(store)
        report = await imported(store, ME, await exported(store, HERE), name="copy")
        assert (report.threads, report.moved) == ((("main", "copy"),), 4)
        copy = thread_of(thread="copy")
        assert [turn.number for turn in (await store.recent_turns(copy, limit=9)).turns] == [5, 6, 7, 8]
        assert [delta.number for delta in await store.deltas(copy)] == [5, 6, 7]
        assert [json.loads(body)["thread"] for _, body in await store.events(copy, 0, 0)] == ["copy"] * 4
        city = (await load_profile(store, ME)).state.get("home.city")
        assert city is not None
        assert (city.number, city.thread) == (5, "copy")
        file = await exported(store, copy)
        await imported(store, THERE, file)
        assert without_scope(await exported(store, THERE.thread("copy"))) == without_scope(file)

    async def test_nothing_is_written_when_a_line_is_bad(self, store: Store) -> None:
        await lived_in(store)
        file = await exported(store, ME)
        lines = file.splitlines(keepends=True)
        for bad in (b"", file[:-1], file[: len(file) // 2], b"".join(lines[:-1]), b"".join(lines[1:]),
                    file.replace(b"York", b"Cork"), file + b"\n", b"{}\n" + file):  # fmt: skip
            with pytest.raises(UsageError):
                await imported(store, THERE, bad)
        assert await store.threads(THERE) == []
        assert without_scope(await exported(store, THERE)) == [b'{"kind":"subject","number":0}']

    async def test_an_import_that_ends_half_way_leaves_nothing(self, store: Store) -> None:
        await lived_in(store)
        file, told = await exported(store, ME), []

        def stop(turns: int) -> None:
            told.append(turns)
            if turns == 3:
                raise RuntimeError("killed")

        with pytest.raises(RuntimeError, match="killed"):
            await imported(store, THERE, file, told=stop)
        assert told == [1, 2, 3]
        assert await store.threads(THERE) == []
        assert (await store.profile(THERE)) == Snapshot()
        with pytest.raises(NotFound):
            await store.thread_info(THERE.thread("main"))
        await imported(store, THERE, file)
        assert without_scope(await exported(store, THERE)) == without_scope(file)

    async def test_a_turn_that_is_being_answered_is_not_exported(self, store: Store) -> None:
        await lived_in(store)
        await store.begin_turn(HERE, asked("running", "Still?"))
        file, report = await exported_with(store, HERE)
        assert report.turns == 4
        assert b"Still?" not in file
        await imported(store, THERE, file)
        info = await store.thread_info(THERE.thread("main"))
        assert (info.turns, info.running) == (4, 0)

    async def test_a2_an_export_holds_nothing_of_others(self, store: Store) -> None:
        """A2: three tenants with equal ids, and twins of case and form; each file holds its own canary alone."""
        scopes = [thread_of(s, n, t) for t in ("a", "A", "a%") for s in ("jose\u0301", "jos\u00e9") for n in ("x", "X")]
        for n, scope in enumerate(scopes):
            await store.open_thread(scope, deltas=True)
            turn = await full_turn(store, scope, n, f"canary-{n}-end")
            await note(store, scope, turn, fact(turn, "word", f"canary-{n}-end", about="subject", thread=scope.thread))
        for n, scope in enumerate(scopes):
            file = (await exported(store, scope)).decode()
            assert {m for m in range(len(scopes)) if f"canary-{m}-end" in file} == {n}
            whole = (await exported(store, scope.of_subject)).decode()
            mine = {m for m, other in enumerate(scopes) if other.of_subject == scope.of_subject}
            assert {m for m in range(len(scopes)) if f"canary-{m}-end" in whole} == mine

    async def test_who_exported_and_imported_is_in_the_audit_and_not_in_the_file(self, store: Store) -> None:
        await lived_in(store)
        kept = AuditLine(thread="main", action="forget", by="desk", at=NOON.isoformat(), detail='{"turns":[1]}')
        await store.import_rows(ME, lambda _: [kept])
        file = await exported(store, ME)
        assert file.count(b'"kind":"audit"') == 1
        await imported(store, THERE, file)
        assert without_scope(await exported(store, THERE)) == without_scope(file)

    async def test_a_thread_that_is_not_there_is_not_found(self, store: Store) -> None:
        await lived_in(store)
        with pytest.raises(NotFound):
            await exported(store, thread_of(thread="Main"))
