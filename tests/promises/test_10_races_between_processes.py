"""Promises 5 and 10 where two processes are at one conversation: one asks again while another answers, one imports what
another begins, one reindexes what another forgets. On SQLite and on PostgreSQL, with real processes.
"""

import asyncio
import io
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lumina.memory.change import load_changes
from lumina.memory.embedding import Vector
from lumina.memory.errors import NotFound, TurnConflict, UsageError
from lumina.memory.meaning import reindex, reindex_words
from lumina.memory.noting import load_state
from lumina.memory.passages import passages_of
from lumina.memory.state import fold
from lumina.memory.store import Store
from lumina.memory.transfer import export_to, import_from
from lumina.memory.turns import TurnEnd, TurnPage
from lumina.stores.opening import open_store
from support.forgetting import MAIN, ME, bytes_of, fact, play, thread_at

ROUNDS = 15


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database that several processes can open."""
    return str(tmp_path / "lumina.db") if request.param == "sqlite" else request.getfixturevalue("postgresql_url")


@pytest.fixture
async def store(where: str) -> AsyncIterator[Store]:
    store = await open_store(where)
    yield store
    await store.close()


HEAD = """
import asyncio, sys
from lumina.memory.errors import NotFound, TurnConflict
from lumina.memory.forgotten import forget_subject
from lumina.memory.scope import SubjectScope
from lumina.memory.thread import Thread
from lumina.memory.turns import TurnEnd
from lumina.stores.opening import open_store

scope = SubjectScope(tenant="local", subject="me").thread("main")


def told(line):
    print(line, flush=True)


async def asked():
    return await asyncio.to_thread(sys.stdin.readline)


async def main():
    store = await open_store(sys.argv[1])
    told("ready")
    await work(store)
    await store.close()
"""
TAIL = "\n\nasyncio.run(main())\n"


class Child:
    """Another process on the same database: tells lines, and is told them."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout

    async def told(self) -> str:
        return (await self._out.readline()).decode().strip()

    def tell(self, line: str = "") -> None:
        self._in.write(f"{line}\n".encode())

    async def rest(self) -> list[str]:
        """The lines until its end, which must be a good one."""
        out, errors = await self._process.communicate()
        assert self._process.returncode == 0, errors.decode()
        return out.decode().split("\n")[:-1]


@asynccontextmanager
async def child(where: str, work: str) -> AsyncIterator[Child]:
    pipe = asyncio.subprocess.PIPE
    arguments = [sys.executable, "-c", HEAD + work + TAIL, where]
    process = await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        other = Child(process)
        assert await other.told() == "ready"
        yield other
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


# One asks again, the other answers

ANSWERS = """
async def work(store):
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True))
    turn, _ = await thread.begin("And the third?")
    told("begun")
    await asked()
    end = TurnEnd(seq=turn.seq, attempt=1, answer="The third.", status="complete", delta="waiting")
    await store.finish_turn(scope, end)
"""


async def test_a_turn_that_another_process_answers_cannot_be_superseded_under_it(store: Store, where: str) -> None:
    thread = await thread_at(store, MAIN)
    await play(thread, "My city is York.", "Ok.", ops=[fact("home.city", "York", "My city is York")])
    await play(thread, "My city is Leeds.", "Ok.", ops=[fact("home.city", "Leeds", "My city is Leeds")])
    context = await thread.context("My city is Bath.", instead_of=2)
    async with child(where, ANSWERS) as other:
        assert await other.told() == "begun"
        with pytest.raises(TurnConflict):
            await thread.begin("My city is Bath.", instead_of=2)
        with pytest.raises(TurnConflict):
            await thread.record(context, "Bath it is.")
        assert await live(store) == [(1, 1), (2, 1), (3, 1)]
        other.tell()
        await other.rest()
    assert [turn.answer for turn in (await store.turns(MAIN, [(3, 1)])).values()] == ["The third."]
    redone = await thread.record(context, "Bath it is.")
    assert (redone.seq, redone.attempt) == (2, 2)
    assert await live(store) == [(1, 1), (2, 2)]
    # The answer that came in between is kept and superseded; its delta, which is late by now, changes nothing.
    assert [job.seq for job in await store.delta_jobs(MAIN, "waiting")] == [2]
    entry = (await thread.state()).get("home.city")
    assert entry is not None
    assert entry.value == "York"


RECORDS = f"""
async def work(store):
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True))
    await asked()
    for n in range({ROUNDS}):
        context = await thread.context(f"My child{{n}} is red{{n}}.")
        try:
            turn = await thread.record(context, f"Child answer {{n}}.")
        except TurnConflict:
            continue
        told(f"{{turn.seq}} {{turn.attempt}} {{n}}")
        op = {{"op": "set", "key": f"child{{n}}", "value": f"red{{n}}", "quote": f"My child{{n}} is red{{n}}"}}
        try:
            await thread.apply({{"ops": [op]}}, seq=turn.seq)
        except NotFound:
            pass  # superseded by now
"""


async def test_no_acknowledged_turn_is_lost_while_one_asks_again_and_the_other_goes_on(
    store: Store, where: str
) -> None:
    thread = await thread_at(store, MAIN)
    await play(thread, "My city is York.", "Ok.", ops=[fact("home.city", "York", "My city is York")])
    redone: dict[tuple[int, int], str] = {}
    async with child(where, RECORDS) as other:
        other.tell()
        for n in range(ROUNDS):
            last = (await live(store))[-1][0]
            try:
                context = await thread.context(f"My parent{n} is blue{n}.", instead_of=last)
                turn = await thread.record(context, f"Parent answer {n}.")
            except (NotFound, TurnConflict):
                continue  # it was superseded, or is being answered
            redone[turn.seq, turn.attempt] = f"Parent answer {n}."
            op = {"op": "set", "key": f"parent{n}", "value": f"blue{n}", "quote": f"My parent{n} is blue{n}"}
            await thread.apply({"ops": [op]}, seq=turn.seq)
        lines = [line.split() for line in await other.rest()]
    told = redone | {(int(seq), int(attempt)): f"Child answer {n}." for seq, attempt, n in lines}
    assert len(told) == len(redone) + len(lines)  # nobody was given what another has
    assert len(lines) == ROUNDS
    rows = [row for row in await store.page(MAIN, superseded=True) if isinstance(row, TurnPage)]
    assert {(row.seq, row.attempt): row.answer for row in rows if (row.seq, row.attempt) != (1, 1)} == {
        key: answer for key, answer in told.items() if key != (1, 1)
    }
    standing = await live(store)
    assert len({seq for seq, _ in standing}) == len(standing)  # of each number one attempt, no more
    # What stands is what the turns that stand have said, and every call is shown as it was sent.
    state = (await load_state(store, MAIN)).state
    deltas = [load_changes(delta.changes) for delta in await store.deltas(MAIN)]
    assert state == fold(deltas)
    assert {(entry.seq, entry.attempt) for entry in state.current()} <= set(standing)
    for row in rows:
        assert all(call.same for call in await thread.show(row.seq, attempt=row.attempt))
    found = await store.matches(MAIN, ["answer"], before=10**6, cap=999)
    recalled = {(one.seq, one.attempt) for one in await store.passages(MAIN, found.ids["answer"])}
    assert recalled <= set(standing)


async def live(store: Store) -> list[tuple[int, int]]:
    return [(row.seq, row.attempt) for row in await store.page(MAIN) if isinstance(row, TurnPage)]


# One imports, the other begins a turn

BEGINS = """
async def work(store):
    await asked()
    info = await store.open_thread(scope, deltas=True)
    told("opened")
    thread = Thread(store=store, scope=scope, info=info)
    turn, _ = await thread.begin("Who was first?")
    told(f"{turn.seq} {turn.number}")
    await asked()
    await store.finish_turn(scope, TurnEnd(seq=turn.seq, attempt=1, answer="Me.", status="complete", delta="waiting"))
"""


async def a_file(turns: int = 3) -> bytes:
    store, file = await open_store(None), io.BytesIO()
    thread = await thread_at(store, MAIN)
    for n in range(turns):
        await play(thread, f"My note{n} is zyx{n}.", "Ok.", ops=[fact(f"note{n}", f"zyx{n}", f"My note{n} is zyx{n}")])
    await export_to(store, ME, file.write)
    return file.getvalue()


async def test_a_turn_that_begins_during_an_import_comes_after_what_is_imported(store: Store, where: str) -> None:
    """The other process is let go in the middle of the transaction: it finds the whole thread, or makes it wait."""
    file = io.BytesIO(await a_file())
    async with child(where, BEGINS) as other:
        loop = asyncio.get_running_loop()

        def begun(turns: int) -> None:
            if turns == 2:
                loop.call_soon_threadsafe(other.tell)

        assert (await import_from(store, ME, file, told=begun)).turns == 3
        assert await other.told() == "opened"
        assert await other.told() == "4 4"
        other.tell()
        await other.rest()
    assert await live(store) == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert len((await load_state(store, MAIN)).state.current()) == 3


async def test_an_import_into_a_thread_that_another_process_has_begun_changes_nothing(
    store: Store, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread is made between the look whether it is there and the transaction that writes."""
    write = store.import_rows
    async with child(where, BEGINS) as other:

        async def later(*args: object) -> None:
            other.tell()
            assert await other.told() == "opened"
            assert await other.told() == "1 1"
            await write(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(store, "import_rows", later)
        with pytest.raises(UsageError, match="is here already"):
            await import_from(store, ME, io.BytesIO(await a_file()))
        assert (await store.thread_info(MAIN)).running == 1
        other.tell()
        await other.rest()
    assert await live(store) == [(1, 1)]
    assert (await load_state(store, MAIN)).state.current() == ()
    assert [row.action for row in await store.audit(ME)] == []


# One reindexes, the other forgets

FORGETS = """
async def work(store):
    await asked()
    await forget_subject(store, scope.of_subject)
    told("forgotten")
"""


class Embedding:
    """Makes vectors; before the `at`-th portion it waits for another process to forget the subject."""

    name, dimensions = "letters", 2

    def __init__(self, other: Child, at: int) -> None:
        self._other = other
        self._left = at

    async def embed(self, texts: Sequence[str], *, kind: str) -> list[Vector]:
        self._left -= 1
        if not self._left:
            self._other.tell()
            assert await self._other.told() == "forgotten"
        return [(1.0, float(len(text))) for text in texts]


@pytest.mark.parametrize("at", [1, 2])
async def test_d11_a_subject_that_is_forgotten_while_it_is_reindexed_gets_no_vector_back(
    store: Store, where: str, at: int
) -> None:
    await many_turns(store)
    async with child(where, FORGETS) as other:
        done = await reindex(store, ME.of_tenant, Embedding(other, at))  # type: ignore[arg-type]
        await other.rest()
    assert done.refused == ()
    assert done.made == (at - 1) * 32
    assert await store.embedders(ME.of_tenant) == {}
    await nothing_left(store, where)


async def test_d11_a_subject_that_is_forgotten_while_its_words_are_indexed_is_not_found_by_them(
    store: Store, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await many_turns(store)
    index = store.reindex_words
    async with child(where, FORGETS) as other:

        async def later(*args: object, **named: object) -> int:
            after = await index(*args, **named)  # type: ignore[arg-type]
            other.tell()
            assert await other.told() == "forgotten"
            monkeypatch.setattr(store, "reindex_words", index)
            return after

        monkeypatch.setattr(store, "reindex_words", later)
        await reindex_words(store, ME.of_tenant)
        await other.rest()
    await nothing_left(store, where)


async def many_turns(store: Store) -> None:
    """More passages than fit into a portion."""
    thread = await thread_at(store, MAIN)
    for n in range(25):
        question, answer = f"Where is zyxwvut {n}?", f"Zyxwvut {n} is here."
        turn, _ = await thread.begin(question)
        await store.finish_turn(MAIN, TurnEnd(
            seq=turn.seq, attempt=1, answer=answer, status="complete", passages=passages_of(question, answer),
        ))  # fmt: skip


async def nothing_left(store: Store, where: str) -> None:
    assert await store.threads(ME) == []
    found = await store.matches(MAIN, ["zyxwvut"], before=99, cap=99)
    assert not any(found.ids.values())
    if not where.startswith("postgresql"):
        assert await store.scrub()
        await store.close()
        assert b"zyxwvut" not in bytes_of(Path(where).parent)
