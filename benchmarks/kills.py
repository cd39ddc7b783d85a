"""What is left after kill -9, at moments that chance picks?

A process asks one question after the other (a search, a cited answer, a note of what changed) on one SQLite file, and
is killed: while the file is made for the first time, in the middle of a turn, while a note is applied, while documents
are added. Then another process opens the file and checks it against the journal of the first one:

- every acknowledged question is there once, in order, and none that was never sent;
- each turn has ended, its log has one terminal event, and the text in the log is the answer, a prefix of what the model
  wrote; a turn whose end was told is complete;
- every delta is there once, and state and profile are the fold of the deltas;
- every context of every turn renders again as it was sent;
- documents, passages and the word index agree with each other.

    python benchmarks/kills.py [--kills 40] [--seed 1]

Needs fork. The exit code is 1 when a check failed; the file is then kept and named.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from lumina.adapters.documents.library import Library
from lumina.agent.desk import Desk
from lumina.agent.events import from_json
from lumina.agent.ports import Found, Hit
from lumina.agent.search_agent import SearchAgent
from lumina.memory.change import load_changes
from lumina.memory.scope import ThreadScope
from lumina.memory.state import fold
from lumina.memory.thread import Thread
from lumina.memory.turns import TurnPage
from lumina.stores.opening import open_store
from lumina.stores.sqlite import SQLiteStore
from lumina.testing import Call, ScriptedModel, ScriptedNotes

SCOPE = ThreadScope(tenant="local", subject="me", thread="main")
TEXT = "The cache keeps up to 128 results. When it is full, the least recently used result is dropped."
ANSWER = "The cache keeps up to 128 results [1].\n\n" + "Then the least recently used result is dropped [1]. " * 6
A_FILE = 10  # kills on one file, before a new one is begun
FIRST = 3  # of them while the file is new: at any moment from the start
DOCUMENTS = 20


class Journal:
    """What a process said before it was killed."""

    def __init__(self) -> None:
        self.next = 1
        self.said: dict[str, set[int]] = {"sent": set(), "acknowledged": set(), "ended": set()}

    def read(self, told: str) -> None:
        for line in told.split("\n"):
            word, _, number = line.partition(" ")
            if number and word in self.said:
                self.said[word].add(int(number))
                self.next = max(self.next, int(number) + 1)


class Shelf:
    name = "shelf"

    async def search(self, scope: object, query: str, *, limit: int) -> Found:
        hit = Hit(locator="doc:1", url="", title="cache", host="documents", depth="page", stored=TEXT, start=0,
                  end=len(TEXT))  # fmt: skip
        return Found(provider=self.name, hits=(hit,))


def question(number: int) -> str:
    return f"How large is the cache? My number is {number}."


def note(request: object) -> str:
    said = re.search(r"My number is (\d+)", request.messages[-1].content)  # pyright: ignore
    number = said.group(1) if said else "0"
    about = "thread" if int(number) % 2 else "subject"
    op = {"op": "set", "key": "my.number", "value": number, "quote": f"My number is {number}", "about": about}
    return json.dumps({"ops": [op], "title": "Caches", "followups": ["And then?"]})


async def open_agent(path: Path) -> SearchAgent:
    store = await open_store(path)
    model = ScriptedModel([Call("web_search", {"query": "cache"}), ANSWER] * 500, chunks="characters")
    return SearchAgent(Desk(store=store, model=model, search=Shelf(), notes=ScriptedNotes([note] * 5000)))


async def ask_on(path: Path, first: int, journal: int) -> None:
    """Asks until it is killed."""
    agent = await open_agent(path)
    os.write(journal, b"opened\n")
    for number in range(first, first + 200):
        os.write(journal, f"sent {number}\n".encode())
        run = await agent.ask(SCOPE, question(number), client_id=f"c{number}")
        os.write(journal, f"acknowledged {number}\n".encode())
        await run.ended()
        os.write(journal, f"ended {number}\n".encode())


async def add_documents(path: Path, folder: Path) -> None:
    store = await open_store(path)
    assert isinstance(store, SQLiteStore)
    await Library(store, workers=0).add(SCOPE.of_subject, [folder])
    await store.close()


async def check(path: Path, journal: Journal) -> int:
    """Opens the file after a kill and asserts what the module promises. Returns the number of turns."""
    agent = await open_agent(path)
    thread = await agent.thread(SCOPE)
    await thread.settle()  # as the next context does: a reply that was kept and not applied
    await agent._take_up(thread)
    await agent.noted()
    pages = [page for page in await agent.store.page(SCOPE) if isinstance(page, TurnPage)]
    numbers = [int(page.client_id[1:]) for page in pages]
    assert [page.seq for page in pages] == list(range(1, len(pages) + 1))
    assert numbers == sorted(set(numbers))
    assert journal.said["acknowledged"] <= set(numbers) <= journal.said["sent"]
    for page, number in zip(pages, numbers, strict=True):
        await check_turn(agent, thread, page, ended=number in journal.said["ended"])
    await check_fold(thread, [page.seq for page in pages])
    await check_documents(agent.store)
    await agent.close()
    return len(pages)


async def check_turn(agent: SearchAgent, thread: Thread, page: TurnPage, *, ended: bool) -> None:
    assert page.status == "complete" or (page.status, page.reason, ended) == ("partial", "interrupted", False)
    stored = await agent.store.events(SCOPE, page.seq, page.attempt)
    events = [from_json(body) for _, body in stored]
    assert [number for number, _ in stored] == list(range(1, len(stored) + 1))
    assert [event.kind for event in events].count("turn.finished") == 1
    assert "".join(event.text for event in events if event.kind == "text") == page.answer
    assert ANSWER.startswith(page.answer.rstrip())
    assert page.question == question(int(page.client_id[1:]))
    assert page.delta == "applied"
    if page.status == "complete" or await agent.store.receipts(SCOPE, page.seq, page.attempt):
        assert {call.same for call in await thread.show(page.seq)} == {True}


async def check_fold(thread: Thread, seqs: list[int]) -> None:
    store = thread.store
    deltas = await store.deltas(SCOPE)
    assert [delta.seq for delta in deltas] == seqs
    assert (await thread.state()).to_json() == fold([load_changes(delta.changes) for delta in deltas]).to_json()
    of_subject = [load_changes(delta.changes) for delta in await store.subject_deltas(SCOPE.of_subject)]
    assert (await thread.profile()).to_json() == fold(of_subject, about="subject").to_json()


async def check_documents(store: object) -> None:
    assert isinstance(store, SQLiteStore)
    kept = await store.documents(SCOPE.of_subject)
    found = await store.find_passages(SCOPE.of_subject, ["heron"], limit=1000)
    assert len({info.locator for info in kept}) == len(kept)
    assert len({(hit.document, hit.ordinal) for hit in found.hits}) == len(found.hits)
    assert len(found.hits) == found.passages == sum(info.passages for info in kept)


def forked(work: Callable[[], object]) -> int:
    """The id of a process that does `work` and ends with 0, or with 3 and a traceback."""
    process = os.fork()
    if process:
        return process
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(3)


def kill_asking(path: Path, journal: Journal, *, fresh: bool) -> None:
    ear, mouth = os.pipe()
    process = forked(lambda: asyncio.run(ask_on(path, journal.next, mouth)))
    os.close(mouth)
    told = b""
    with closing(os.fdopen(ear, "rb", buffering=0)) as said:
        while not fresh and b"opened" not in told and (more := said.read(4096)):
            told += more
        time.sleep(random.random() * (0.3 if fresh else 0.8))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        while more := said.read(65536):
            told += more
    journal.read(told.decode())


def kill_adding(path: Path, folder: Path, kill: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(DOCUMENTS):
        text = f"# Document {number}\n\nA heron and {kill} others.\n\n# More\n\n" + "The heron stood still. " * kill
        (folder / f"{number}.md").write_text(text)
    process = forked(lambda: asyncio.run(add_documents(path, folder)))
    time.sleep(random.random() * 0.5)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    random.seed(wanted.seed)
    home, journal, bad = Path(tempfile.mkdtemp(prefix="lumina-kills-")), Journal(), 0
    for kill in range(wanted.kills):
        at = kill % A_FILE
        if at == 0:
            shutil.rmtree(home)
            home.mkdir()
            journal = Journal()
        path = home / "lumina.db"
        if at % 4 == 3:
            kill_adding(path, home / "documents", kill)
        else:
            kill_asking(path, journal, fresh=at < FIRST)
        checked = forked(lambda journal=journal, path=path: print(asyncio.run(check(path, journal)), "turns"))
        if os.waitpid(checked, 0)[1]:
            bad += 1
            kept = shutil.copytree(home, home.with_name(f"{home.name}-{kill}"))
            sys.stderr.write(f"kill {kill}: a check failed; what was left is in {kept}\n")
    shutil.rmtree(home)
    sys.stdout.write(f"{wanted.kills} kills, {bad} with something wrong afterwards\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
