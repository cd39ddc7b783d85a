"""Promise 1 at every length: a canary stands in every page-only column of every row, and no model call of a turn holds
it: where the window moves (turns 9-12), where unsettled turns stretch it (19-22), and in a thread of 200 turns, with
sources of the web. Which columns a model may be shown anything of is a table here; a new column has to be put into it.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Text

from lumina.agent.ports import Empty, Found, Hit
from lumina.memory.scope import ThreadScope
from lumina.stores import schema
from lumina.stores.opening import open_store
from lumina.testing import Call, ScriptedModel
from lumina.testing.scripted import ScriptedNotes

CANARY = "canary-5d20c7"
PAGE_ONLY = {
    "threads": {"title", "asked_at"},
    "turns": {"client_id", "reason", "asked_at", "zone", "followups", "usage"},
    "sources": {"url"},
    "citations": {"digest", "passage", "missing"},
    "delta_jobs": {"answer", "reason"},
    "events": {"body"},
    "audit": {"by", "at", "detail"},
    "usage": {"day", "model", "purpose"},
}
# Of the other text columns a model may see the words (first), or they are names, states and references that decide what
# is shown and are no words of anybody (second).
WORDS = {
    "turns": {"question", "answer", "exchanges", "day", "forgotten"},
    "tool_calls": {"id", "name", "arguments", "result", "said"},
    "texts": {"text"},
    "sources": {"title", "host"},
    "deltas": {"changes"},
    "states": {"body"},
    "profiles": {"body"},
    "documents": {"title", "text"},
    "document_passages": {"heading"},
}
DECIDE = {
    "meta": {"name"},
    "counters": {"name"},
    "threads": {"owner", "expires_at"},
    "turns": {"status", "searched", "cited"},
    "texts": {"digest"},
    "sources": {"locator", "depth", "digest"},
    "delta_jobs": {"status"},
    "receipts": {"purpose", "body"},
    "passages": {"part"},
    "vectors": {"embedder"},
    "audit": {"action"},
    "documents": {"locator", "url", "digest", "added_at"},
    "document_words": {"form"},
}
SCOPE = {"tenant", "subject", "thread"}
EDGES = (9, 10, 11, 12, 19, 20, 21, 22, 200)


def test_x1_every_text_column_is_for_the_page_or_for_a_model_or_decides() -> None:
    for table in schema.metadata.tables.values():
        columns = {column.name for column in table.columns if isinstance(column.type, Text)} - SCOPE
        sorted_in = [places.get(table.name, set()) for places in (PAGE_ONLY, WORDS, DECIDE)]
        assert columns == set().union(*sorted_in), table.name
        assert len(columns) == sum(map(len, sorted_in)), table.name


class Web:
    """A search of the web; address and identity of what it finds carry the canary."""

    name = f"{CANARY}-engine"

    async def search(self, scope: object, query: str, *, limit: int) -> Found | Empty:
        if "nothing" in query:
            return Empty(provider=self.name, reason="looked through")
        hits = [
            Hit(
                locator=f"https://host.test/{CANARY}/{query}/{n}", url=f"https://host.test/{CANARY}?q={n}",
                title=f"Page {n}", host="host.test", depth="snippet", stored=text, start=0, end=len(text),
            )
            for n, text in enumerate(("The cache keeps 128 results.", "It is cleared by cache_clear."))
        ]  # fmt: skip
        return Found(provider=self.name, hits=tuple(hits))


def poison(path: Path) -> dict[str, int]:
    """The canary in every page-only column of every row; how many rows of each table carry it now."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return {
            table: connection.execute(
                f"UPDATE {table} SET " + ", ".join(f"\"{name}\" = '\"{CANARY}-' || rowid || '\"'" for name in columns)
            ).rowcount
            for table, columns in PAGE_ONLY.items()
        }


@pytest.mark.parametrize("settled", [True, False])
async def test_x1_no_page_only_byte_reaches_a_model_at_the_windows_edges_and_at_200_turns(
    make_agent, tmp_path: Path, settled: bool
) -> None:
    """CASES X1, with the delta step; `settled`: whether its deltas are applied, or stretch the window."""
    path = tmp_path / "canary.db"
    scope = ThreadScope(tenant="local", subject="me", thread="main")
    store = await open_store(path)
    last = EDGES[-1] if settled else 22
    model = ScriptedModel(
        [step for n in EDGES for step in (Call("web_search", {"query": f"cache {n}"}), f"It keeps 128 [1]. Turn {n}.")]
    )
    notes = ScriptedNotes(
        [json.dumps({"ops": [], "followups": [f"{CANARY} {n}?"], "title": f"{CANARY} title"}) for n in EDGES]
    )
    agent = make_agent(model, search=Web(), notes=notes, store=store, notice=f"{CANARY}-notice")
    thread = await agent.thread(scope)
    for n in range(1, last + 1):
        if n in EDGES:
            rows = poison(path)
            assert rows["turns"] == n - 1
            assert (rows["sources"], rows["citations"], rows["events"]) > (0, 0, 0) or n == EDGES[0]
            run = await agent.ask(scope, f"How large is the cache {n}?", client_id=f"{CANARY}-{n}")
            assert (await run.ended()).status == "complete"
            await run.notes(wait=60)
            continue
        turn = await thread.record(await thread.context(f"Question {n}"), f"Answer {n}.")
        if settled:
            await thread.apply({"ops": [], "followups": [f"{CANARY}?"]}, seq=turn.seq)
    sent = "".join(f"{request.messages!r}{request.tools!r}" for request in model.requests)
    assert len(model.requests) == 2 * sum(n <= last for n in EDGES)
    assert f"Answer {last - 2}." in sent or not settled
    assert CANARY not in sent
    assert CANARY not in "".join(message.content for request in notes.requests for message in request.messages)
    assert notes.requests
    await store.close()
