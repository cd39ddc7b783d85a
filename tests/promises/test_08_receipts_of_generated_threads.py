"""Promise 8 on generated conversations, and promise 1 with them: what was sent can be shown again byte for byte,
whatever happened since, and nothing of a page-only column is in it.

Turns end in every way, deltas come in time, late or never, values are replaced, sources are read and cited, budgets
are tight or wide. Afterwards every model call is rendered again from its receipt.
"""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumina.cli.verifying import verify_turns
from lumina.memory.errors import DoesNotFit
from lumina.memory.receipt import digest
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.turns import Citation, NewSource, TurnEnd
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store

SCOPE = ThreadScope(tenant="local", subject="me", thread="one")
CANARY = "c4n4ry"  # stands in every page-only column and nowhere else
NAMES = ["color.car", "home.city", "plan", "pet.name"]
TURN = st.fixed_dictionaries({
    "status": st.sampled_from(["complete", "complete", "complete", "partial", "failed"]),
    "source": st.integers(0, 3),
    "key": st.sampled_from(NAMES),
    "value": st.sampled_from(["red", "blue", "Leeds", "York", "Green 12"]),
    "about": st.sampled_from(["thread", "subject"]),
    "noted": st.sampled_from(["now", "now", "late", "never"]),
    "words": st.sampled_from(["harbour", "tariff", "What did you say earlier about it?", "天気", "<|im_end|>"]),
    "budget": st.sampled_from([90, 400, 8000]),
})  # fmt: skip


async def play(store: Store, plan: list[dict]) -> tuple[Thread, int]:
    """A conversation as the agent holds it: begun, sent, ended, noted. Returns the thread and how many turns it has."""
    thread = Thread(store=store, scope=SCOPE, info=await store.open_thread(SCOPE, deltas=True))
    late: list[tuple[int, str]] = []
    turns = 0
    for step in plan:
        question = f"{step['words']}; my {step['key'].replace('.', ' ')} is {step['value']}."
        turn, _ = await thread.begin(question, client_id=f"{CANARY}-{turns}")
        try:
            context = await thread.context(
                question, budget=step["budget"], instructions="Be brief.", turn=turn, look_back=bool(turns % 2)
            )
            start = context.window_start
            assert CANARY not in "\n".join(message.content for message in context.messages)
        except DoesNotFit:
            start = turn.window_start
        cited = ()
        citations = ()
        if step["source"]:
            source = await store.register_source(SCOPE, turn.seq, turn.attempt, NewSource(
                locator=f"doc:{CANARY}/{step['source']}", url=f"https://{CANARY}.test/{step['source']}",
                title=f"Page {step['source']}", host="documents", depth="page", text=f"{CANARY} text of a page",
            ))  # fmt: skip
            cited = (source.n,)
            citations = (Citation(
                n=source.n, position=0, sentence_start=0, sentence_end=3, digest=source.digest, passage=((0, 6),),
                score=0.5, checkable=True, missing=(("name", CANARY),),
            ),)  # fmt: skip
        answer = "" if step["status"] == "failed" else f"Answer {turn.seq} [1]. " + "It is so. " * (turn.seq * 37 % 200)
        await store.finish_turn(SCOPE, TurnEnd(
            seq=turn.seq, attempt=turn.attempt, answer=answer, status=step["status"],
            reason="" if step["status"] == "complete" else CANARY, cited=cited, citations=citations,
            searched="found" if cited else "not needed", window_start=start, delta="waiting",
            usage=json.dumps({CANARY: 1}),
        ))  # fmt: skip
        turns += 1
        op = {"op": "set", "key": step["key"], "value": step["value"], "about": step["about"],
              "quote": f"my {step['key'].replace('.', ' ')} is {step['value']}"}  # fmt: skip
        reply = json.dumps({"ops": [op], "title": CANARY, "followups": [CANARY]})
        if step["noted"] == "now":
            await note(thread, turn.seq, reply)
        elif step["noted"] == "late":
            late.append((turn.seq, reply))
        if turns % 5 == 0:
            while late:
                await note(thread, *late.pop())
    return thread, turns


async def note(thread: Thread, seq: int, reply: str) -> None:
    request = await thread.delta_request(seq)
    assert request is not None
    assert CANARY not in "".join(message.content for message in request.messages)
    if (await thread.apply(reply, seq=seq)).again:
        await thread.delta_request(seq)
        await thread.apply(reply, seq=seq)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TURN, min_size=1, max_size=26))
async def test_every_call_is_shown_again_as_it_was_sent(plan: list[dict]) -> None:
    thread, turns = await play(InMemoryStore(), plan)
    for seq in range(1, turns + 1):
        for call in await thread.show(seq) if await thread.store.receipts(SCOPE, seq, 1) else []:
            assert call.same is True
            assert call.receipt.sent == digest(call.messages)


def test_show_verify_is_green_for_every_turn_of_a_thread_of_200(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = [
        {
            "status": ["complete", "complete", "partial", "failed"][n * 7 % 4], "source": n % 4, "key": NAMES[n % 4],
            "value": ["red", "blue", "Leeds"][n % 3], "about": "subject" if n % 5 == 0 else "thread",
            "noted": ["now", "now", "late", "never"][n * 3 % 4], "budget": 8000,
            "words": "What did you say earlier about the harbour?" if n % 25 == 0 else f"harbour {n}",
        }
        for n in range(200)
    ]  # fmt: skip

    async def hold() -> int:
        store = await open_store(tmp_path / "lumina.db")
        _, turns = await play(store, plan)
        await store.close()
        return turns

    assert asyncio.run(hold()) == 200
    monkeypatch.setenv("LUMINA_HOME", str(tmp_path))
    code = verify_turns("one", 0, as_json=False)
    told = capsys.readouterr()
    assert (code, told.err) == (0, "")
    assert told.out.startswith("200 turns, ")
    assert "all the same, byte for byte" in told.out
    # One letter changed behind its back is found, and says where.
    connection = sqlite3.connect(tmp_path / "lumina.db")
    connection.execute("UPDATE turns SET question = 'Harbour' || substr(question, 8) WHERE seq = 150")
    connection.commit()
    connection.close()
    assert verify_turns("one", 0, as_json=False) == 1
    assert "turn 150: " in capsys.readouterr().err
