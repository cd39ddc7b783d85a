"""The API as a client meets it."""

import asyncio
import json

import pytest

from lumina.memory.scope import ThreadScope
from lumina.testing import Call, Gate, Reply, ScriptedNotes
from support.serving import told

SEARCH = Call("web_search", {"query": "cache"})
CITED = "The cache keeps up to 128 results [1]."
NOTED = json.dumps({"ops": [{"op": "set", "key": "user.name", "value": "Ann", "quote": "I am Ann"}], "title": "A name"})


async def test_a_question_is_kept_answered_and_shown_with_its_sources(serving):
    async with serving([SEARCH, CITED]) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "How large is the cache?")
        assert (asked["seq"], asked["attempt"], asked["new"]) == (1, 1, True)
        events = told(await client.stream(asked["events"]))
        assert [data["seq"] for _, data in events] == list(range(1, len(events) + 1))
        assert events[-1][1]["kind"] == "turn.finished"
        turn = (await client.get(f"/api/threads/{thread}/turns/1")).json()
        assert (turn["status"], turn["answer"], turn["searched"]) == ("complete", CITED, "found")
        assert "".join(data["text"] for _, data in events if data["kind"] == "text") == turn["answer"]
        [citation] = turn["citations"]
        assert turn["answer"][citation["position"] :].startswith("[1]")
        sources = (await client.get(f"/api/threads/{thread}/sources")).json()
        assert (sources[0]["n"], sources[0]["title"]) == (1, "cache")
        text = (await client.get(f"/api/threads/{thread}/sources/1?digest={citation['digest']}")).json()["text"]
        [(start, end)] = citation["passage"]
        assert text[start:end] == "The cache keeps up to 128 results."
        assert (await client.get("/api/threads")).json()[0]["id"] == thread


async def test_the_same_client_id_never_makes_two_turns(serving):
    """CASES C2: a post that is sent again, one after the other and at once."""
    gate = Gate()
    async with serving([Reply("It ", gate, "is.")]) as client:
        thread = await client.begin()
        answers = await asyncio.gather(*(client.ask(thread, "Is it?") for _ in range(8)))
        assert sum(answer["new"] for answer in answers) == 1
        assert {answer["seq"] for answer in answers} == {1}
        gate.open()
        await client.stream(answers[0]["events"])
        again = await client.ask(thread, "Is it?")
        assert (again["seq"], again["new"]) == (1, False)
        other = await client.send("POST", f"/api/threads/{thread}/turns", {"question": "No?", "client_id": "Is it?"})
        assert other.status_code == 400
        assert len(client.agent.desk.model.requests) == 1


async def test_a_second_question_conflicts_with_the_one_that_is_answered(serving):
    """CASES C1: the one documented rule is a conflict that names the running turn."""
    gate = Gate()
    async with serving([Reply("It ", gate, "is."), "Yes."]) as client:
        thread = await client.begin()
        first = await client.ask(thread, "Is it?")
        refused = await client.send("POST", f"/api/threads/{thread}/turns", {"question": "And?", "client_id": "b"})
        assert refused.status_code == 409
        assert refused.json()["error"]["running"] == 1
        gate.open()
        await client.stream(first["events"])
        assert (await client.ask(thread, "And now?"))["seq"] == 2


async def test_stop_keeps_the_text_and_says_so(serving):
    gate = Gate()
    async with serving([Reply("It ", "is ", gate, "long.")]) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "Is it?")
        async for event in client.agent.follow(ThreadScope(tenant="local", subject="me", thread=thread), 1, 1):
            if event.kind == "text":
                break
        for _ in range(2):
            assert (await client.send("POST", f"/api/threads/{thread}/turns/1/stop")).status_code == 202
        await client.stream(asked["events"])
        turn = (await client.get(f"/api/threads/{thread}/turns/1")).json()
        assert (turn["status"], turn["reason"]) == ("partial", "stopped")
        assert turn["answer"].startswith("It")


async def test_regenerate_and_edit_supersede_and_lose_nothing(serving):
    async with serving(["One.", "Two.", "Three.", "Four."]) as client:
        thread = await client.begin()
        for question in ("a?", "b?"):
            await client.stream((await client.ask(thread, question))["events"])
        again = await client.send("POST", f"/api/threads/{thread}/turns/1/regenerate", {"client_id": "again"})
        await client.stream(again.json()["events"])
        turns = (await client.get(f"/api/threads/{thread}/turns")).json()
        assert [(turn["seq"], turn["attempt"], turn["answer"]) for turn in turns] == [(1, 2, "Three.")]
        old = (await client.get(f"/api/threads/{thread}/turns/1?attempt=1")).json()
        assert (old["answer"], old["superseded"]) == ("One.", True)
        edited = await client.ask(thread, "c?", instead_of=1)
        await client.stream(edited["events"])
        assert (edited["seq"], edited["attempt"]) == (1, 3)


async def test_what_was_noted_is_read_corrected_and_forgotten(serving):
    async with serving(["Hello Ann."], notes=ScriptedNotes([NOTED])) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "I am Ann")
        await client.stream(asked["events"])
        await client.noted(thread)
        state = (await client.get(f"/api/threads/{thread}/state")).json()
        [entry] = state["entries"]
        assert (entry["key"], entry["value"], entry["quote"], entry["said_by"]) == (
            "user.name", "Ann", "I am Ann", "user"
        )  # fmt: skip
        assert (await client.get(f"/api/threads/{thread}")).json()["title"] == "A name"
        done = await client.send(
            "POST", f"/api/threads/{thread}/state", {"op": "set", "key": "user.name", "value": "Anna", "why": "typo"}
        )
        assert [(each["did"], each["old"]) for each in done.json()] == [("replaces", "Ann")]
        history = (await client.get(f"/api/threads/{thread}/state/user.name")).json()
        assert [(row["value"], row["current"]) for row in history] == [("Ann", False), ("Anna", True)]
        assert (await client.get(f"/api/threads/{thread}/state?as_of=1")).status_code == 200
        assert (await client.send("DELETE", f"/api/threads/{thread}/state/user.name")).status_code == 204
        assert (await client.get(f"/api/threads/{thread}/state")).json()["entries"] == []
        assert (await client.get(f"/api/threads/{thread}/state/user.name")).status_code == 404


async def test_what_the_model_saw_is_shown_byte_for_byte(serving):
    async with serving(["Yes."]) as client:
        thread = await client.begin()
        await client.stream((await client.ask(thread, "Is it?"))["events"])
        [call] = [
            c for c in (await client.get(f"/api/threads/{thread}/turns/1/calls")).json() if c["purpose"] == "answer"
        ]
        assert call["same"] is True
        [request] = client.agent.desk.model.requests
        assert [(m["role"], m["content"]) for m in call["messages"]] == request.spoken()


async def test_a_conversation_is_renamed_exported_and_forgotten(serving):
    async with serving(["Yes."]) as client:
        thread = await client.begin()
        await client.stream((await client.ask(thread, "Is it?"))["events"])
        renamed = await client.send("PATCH", f"/api/threads/{thread}", {"title": "Whether it is"})
        assert renamed.json()["title"] == "Whether it is"
        lines = (await client.get(f"/api/threads/{thread}/export")).text.splitlines()
        assert json.loads(lines[0])["what"] == "thread"
        assert json.loads(lines[-1])["kind"] == "end"
        assert (await client.send("DELETE", f"/api/threads/{thread}")).status_code == 204
        for path in ("", "/turns", "/turns/1", "/state", "/sources", "/export", "/events", "/turns/1/events"):
            assert (await client.get(f"/api/threads/{thread}{path}")).status_code == 404, path


@pytest.mark.parametrize("name", ["a/b", "..", "ü ☃", "a?b#c", "turns", "x" * 200])
async def test_a_conversation_of_any_name_can_be_reached(serving, name):
    from lumina.server.ids import thread_id

    async with serving(["Yes."]) as client:
        await client.agent.thread(ThreadScope(tenant="local", subject="me", thread=name))
        answer = await client.get(f"/api/threads/{thread_id(name)}")
        assert (answer.status_code, answer.json()["name"]) == (200, name)


async def test_pages_of_turns_go_back_from_the_newest(serving):
    async with serving(["Yes."] * 5) as client:
        thread = await client.begin()
        for number in range(5):
            await client.stream((await client.ask(thread, f"{number}?"))["events"])

        async def seqs(query: str) -> list[int]:
            return [turn["seq"] for turn in (await client.get(f"/api/threads/{thread}/turns{query}")).json()]

        assert await seqs("?limit=2") == [4, 5]
        assert await seqs("?limit=2&before=4") == [2, 3]
        assert await seqs("?limit=2&before=2") == [1]
        assert await seqs("?before=1") == []
