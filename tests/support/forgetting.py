"""What tests of forgetting plant, and where they look for it afterwards: every row of every table, every byte."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from lumina.memory.passages import passages_of
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.turns import Citation, Message, NewSource, ToolCall, ToolRecord, Turn, TurnEnd
from lumina.stores.in_memory import InMemoryStore

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
    if ops is not None and await thread.delta_request(turn.seq):  # a greeting is settled unasked
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
            if call.receipt.skipped:  # no model was asked, and nothing was sent
                continue
            assert call.same is not False
            assert (call.same is None) == (call.forgotten > 0)
            assert (call.receipt.sent == "") == (call.forgotten > 0), "a hash would prove a guess right"
            forgotten += call.forgotten
    return forgotten
