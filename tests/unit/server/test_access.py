"""CASES A1: another's conversation is exactly like one that does not exist, on every route there is.

The routes are read from the OpenAPI description, so that a new one is tried without being listed here; one with a kind
of id that nobody knows yet fails.
"""

import json
import re

from support.serving import as_person

VALUES = {"seq": "1", "n": "1", "key": "user.name"}
BODIES = {
    "/api/threads/{thread}/turns": {"question": "?", "client_id": "x"},
    "/api/threads/{thread}/turns/{seq}/regenerate": {"client_id": "x"},
    "/api/threads/{thread}/state": {"op": "set", "key": "user.name", "value": "Eve"},
}
NOTED = json.dumps({"ops": [{"op": "set", "key": "user.name", "value": "Ann", "quote": "I am Ann"}]})


async def test_a1_anothers_id_is_like_a_missing_one_on_every_route_and_changes_nothing(serving):
    from lumina.testing import Call, ScriptedNotes

    model = [Call("web_search", {"query": "cache"}), "It keeps 128 [1]."]
    async with serving(model, notes=ScriptedNotes([NOTED])) as ann:
        thread = await ann.begin()
        await ann.stream((await ann.ask(thread, "I am Ann. How large is the cache?"))["events"])
        await ann.noted(thread)
        before = await _everything(ann, thread)
        eve = as_person(ann, "eve")
        description = (await ann.get("/api/openapi.json")).json()
        tried = 0
        for path, methods in description["paths"].items():
            names = re.findall(r"{(\w+)}", path)
            if "thread" not in names:
                continue
            for method in methods:
                filled = path.format(thread="{thread}", **{name: VALUES[name] for name in names if name != "thread"})
                body = BODIES.get(path, {} if method != "patch" else {"title": "Eve's"})
                answers = []
                for id in (thread, "2026-01-01-bbbbbbbb"):
                    answer = await eve.send(method.upper(), filled.format(thread=id), body)
                    answers.append((answer.status_code, answer.text.replace(id, "ID"), sorted(answer.headers)))
                assert answers[0] == answers[1], (method, path)
                assert answers[0][0] == 404, (method, path, answers[0])
                tried += 1
        assert tried >= 15
        assert (await eve.get("/api/threads")).json() == []
        assert await _everything(ann, thread) == before
        assert len(ann.agent.desk.model.requests) == 2
        await eve.http.aclose()


async def _everything(client, thread) -> list:
    paths = ("", "/turns", "/state", "/sources", "/turns/1/calls")
    return [(await client.get(f"/api/threads/{thread}{path}")).json() for path in paths]


async def test_a1_listing_shows_nobody_elses(serving):
    async with serving(["Yes."]) as ann:
        mine = await ann.begin()
        eve = as_person(ann, "eve")
        hers = await eve.begin()
        assert [row["id"] for row in (await ann.get("/api/threads")).json()] == [mine]
        assert [row["id"] for row in (await eve.get("/api/threads")).json()] == [hers]
        await eve.http.aclose()
