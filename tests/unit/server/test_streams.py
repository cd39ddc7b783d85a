"""Resume: cut at every event and inside events, what came before and what comes after is the whole (CASES S1, S2)."""

import asyncio

from lumina.server import streams
from lumina.testing import Call, Gate, Reply
from support.serving import told

SEARCH = Call("web_search", {"query": "cache"})


async def test_a_cut_anywhere_loses_nothing_and_repeats_nothing(serving):
    long = Reply(*[f"Word {number} of the cache [1].\n\n" for number in range(20)])
    async with serving([SEARCH, long]) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "How large?")
        whole = await client.stream(asked["events"])
        events = told(whole)
        assert len(events) >= 40
        at = 0
        for block in whole.split(b"\n\n")[:-1]:
            end = at + len(block) + 2
            for cut in (at, at + len(block) // 2, end - 1, end):
                kept = whole[: whole[:cut].rfind(b"\n\n") + 2] if b"\n\n" in whole[:cut] else b""
                last = told(kept)[-1][0] if kept else ""
                if cut in (at + len(block) // 2, end):  # two requests an event are enough
                    assert kept + await client.stream(asked["events"], last) == whole, cut
            at = end


async def test_readers_that_come_at_any_time_get_the_same_bytes(serving):
    gate = Gate()
    async with serving([Reply("It ", "keeps ", gate, "128 ", "results.")]) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "How large?")
        early = [asyncio.create_task(client.stream(asked["events"])) for _ in range(3)]
        gate.open()
        late = await client.stream(asked["events"])
        assert {await reader for reader in early} == {late}


async def test_an_id_of_another_log_or_behind_the_end_is_answered_with_a_reset_and_the_whole(serving):
    async with serving(["Yes.", "No."]) as client:
        thread = await client.begin()
        first = await client.ask(thread, "a?")
        whole = await client.stream(first["events"])
        second = await client.ask(thread, "b?")
        await client.stream(second["events"])
        for last in ("1.1.99999", "2.1.1", "1.2.1", "x", "1.1.-1", "1.1.", "0.0.1", "9" * 400, "1.1.1\u0661"):
            answer = await client.stream(first["events"], last.encode("ascii", "replace").decode())
            events = told(answer)
            assert events[0] == ("", {"kind": "reset", "thread": thread, "turn": 1}), last
            assert answer.endswith(whole)
            assert told(whole) == events[1:]


async def test_an_idle_stream_is_kept_open_by_comments(serving, monkeypatch):
    monkeypatch.setattr(streams, "QUIET", 0.001)
    gate = Gate()
    async with serving([Reply("It ", gate, "is.")]) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "Is it?")
        body = b""
        async with client.http.stream("GET", client.address + asked["events"]) as response:
            async for piece in response.aiter_raw():
                body += piece
                if body.count(streams.BEAT) >= 2:
                    gate.open()
        assert body.count(streams.BEAT) >= 2
        assert told(body)[-1][1]["kind"] == "turn.finished"


async def test_a_reader_that_goes_away_stops_nothing(serving):
    gate = Gate()
    async with serving([Reply("It ", gate, "is.")]) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "Is it?")
        async with client.http.stream("GET", client.address + asked["events"]) as response:
            await anext(response.aiter_raw())
        gate.open()
        await client.stream(asked["events"])
        turn = (await client.get(f"/api/threads/{thread}/turns/1")).json()
        assert (turn["status"], turn["answer"]) == ("complete", "It is.")


async def test_when_the_server_ends_an_answer_is_kept_and_its_readers_hear_of_it(serving):
    gate = Gate()
    async with serving([Reply("It ", "is ", gate, "long.")]) as client:
        thread = await client.begin()
        asked = await client.ask(thread, "Is it?")
        own = asyncio.create_task(client.stream(f"/api/threads/{thread}/events"))
        reader = asyncio.create_task(client.stream(asked["events"]))
        async for event in client.agent.follow(_scope(thread), 1, 1):
            if event.kind == "text":
                break
        client.server.should_exit = True
        finished = told(await reader)[-1][1]
        assert (finished["kind"], finished["status"]) == ("turn.finished", "partial")
        assert told(await own)[-1][1]["kind"] == "turn.finished"


def _scope(thread: str):
    from lumina.memory.scope import ThreadScope

    return ThreadScope(tenant="local", subject="me", thread=thread)
