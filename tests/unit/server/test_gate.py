"""What is turned away before anything else looks at it (CASES A4: rebinding, other sites' pages; R1: bodies)."""

import itertools
import json

import pytest

from lumina.server.gate import MAX_BODY

EVIL = "http://evil.example"


@pytest.fixture
async def client(serving):
    async with serving(["Yes."]) as client:
        yield client


HOSTS = ("own", "localhost", "evil.example", "127.0.0.1.evil.example", "")
ORIGINS = (None, "own", EVIL, "null", "http://localhost.evil.example", "http://[::1")
KINDS = ("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None)


@pytest.mark.parametrize("store", ["in memory"], indirect=True)
async def test_a4_only_this_servers_own_pages_and_programs_come_in(client):
    port = client.address.rpartition(":")[2]
    for host, origin, kind, method in itertools.product(HOSTS, ORIGINS, KINDS, ("GET", "POST")):
        known = host in ("own", "localhost")
        name = {"own": f"127.0.0.1:{port}", "localhost": f"localhost:{port}"}.get(host, host)
        headers = {"host": name}
        if origin is not None:
            headers["origin"] = f"http://{name}" if origin == "own" else origin
        if kind is not None:
            headers["content-type"] = kind
        answer = await client.http.request(method, client.address + "/api/threads", headers=headers, content=b"{}")
        if not known:
            assert answer.status_code == 421, (host, origin, kind, method)
        elif origin not in (None, "own"):
            assert answer.status_code == 403, (host, origin, kind, method)
        elif method == "POST" and kind != "application/json":
            assert answer.status_code == 415, (host, origin, kind, method)
        else:
            assert answer.status_code in (200, 201), (host, origin, kind, method)
        assert "access-control-allow-origin" not in answer.headers


async def test_a4_streams_are_behind_the_same_gate(client):
    thread = await client.begin()
    await client.ask(thread, "Yes?")
    for path in (f"/api/threads/{thread}/turns/1/events", f"/api/threads/{thread}/events"):
        assert (await client.get(path, headers={"origin": EVIL})).status_code == 403
        assert (await client.get(path, headers={"host": "evil.example"})).status_code == 421
        assert (await client.get(path, headers={"sec-fetch-site": "cross-site"})).status_code == 403


async def test_r1_a_body_is_cut_off_before_it_is_parsed_whether_it_says_its_length_or_not(client, store):
    thread = await client.begin()
    path = client.address + f"/api/threads/{thread}/turns"
    large = b'{"client_id": "a", "question": "' + b"x" * MAX_BODY + b'"}'

    async def pieces():
        for at in range(0, len(large), 64_000):
            yield large[at : at + 64_000]

    for content in (large, pieces()):
        answer = await client.http.post(path, content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 413, answer.text
        assert answer.json()["error"]["code"] == "too_large"
    assert (await client.get(f"/api/threads/{thread}")).json()["turns"] == 0


async def test_r1_odd_bodies_get_a_reason_and_nothing_is_stored(client):
    thread = await client.begin()
    path = client.address + f"/api/threads/{thread}/turns"
    ask = {"client_id": "a", "question": "?"}
    bodies = [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"question": "\\ud800", "client_id": "a"}', b"[" * 100_000,
        b'{"question": "a", "client_id": "a", "budget": ' + b"9" * 5_000 + b"}",
        b'{"question": "a", "client_id": "a", "budget": NaN}', json.dumps({**ask, "question": ""}).encode(),
        json.dumps({**ask, "status": "complete"}).encode(), json.dumps({**ask, "tenant": "other"}).encode(),
        json.dumps({**ask, "question": "a\x00b"}).encode(), json.dumps({**ask, "client_id": "x" * 300}).encode(),
    ]  # fmt: skip
    for body in bodies:
        answer = await client.http.post(path, content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, (body[:60], answer.status_code, answer.text)
        assert set(answer.json()) == {"error"}, body[:60]
    assert (await client.get(f"/api/threads/{thread}")).json()["turns"] == 0
    assert (await client.get("/healthz")).status_code == 200


async def test_every_answer_forbids_sniffing_framing_and_other_hosts(client):
    for path in ("/api/threads", "/nothing", "/healthz"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]


async def test_who_checks_whether_it_is_there_may_leave_the_body_out(client):
    for path in ("/healthz", "/readyz"):
        answer = await client.http.head(client.address + path)
        assert (answer.status_code, answer.content) == (200, b"")
