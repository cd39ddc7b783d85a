"""The client that vendors' SDKs get: it streams, and it goes to one place."""

import asyncio

import httpx2
import pytest

from lumina.adapters.net.client import ElsewhereRefused
from lumina.memory.errors import UsageError
from support.hostile_web import DEAD, INNER, HostileWeb

BASE = "http://inner.test/v1"


async def test_an_answer_is_handed_on_as_it_comes(web: HostileWeb) -> None:
    async with web.doors().client(BASE).stream("GET", "http://inner.test/gate") as answer:
        pieces = answer.aiter_bytes()
        assert await anext(pieces) == b"0"
        web.gate.set()
        assert b"".join([piece async for piece in pieces]) == b"123456789"


async def test_N3_a_request_to_any_other_place_is_not_sent(web: HostileWeb) -> None:
    """Even a hook of the client's own maker cannot send it elsewhere."""

    async def astray(request: httpx2.Request) -> None:
        request.url = httpx2.URL("http://good.test/")

    doors = web.doors()
    for url in ("http://good.test/", "https://inner.test/v1", "http://inner.test:81/v1", f"http://{INNER}/"):
        with pytest.raises(ElsewhereRefused, match=r"Only http://inner\.test is asked"):
            await doors.client(BASE).get(url)
    with pytest.raises(ElsewhereRefused):
        await doors.client(BASE, hooks={"request": [astray]}).get(BASE)
    assert web.dialled == []


async def test_N3_a_redirect_is_handed_back_and_followed_nowhere_else(web: HostileWeb) -> None:
    client = web.doors().client(BASE)
    answer = await client.send(client.build_request("GET", "http://inner.test/to?where=http://good.test/"), stream=True)
    assert answer.status_code == 302
    await answer.aclose()
    with pytest.raises(ElsewhereRefused):
        await client.get("http://inner.test/to?where=http://good.test/", follow_redirects=True)
    assert {address for address, _ in web.dialled} == {INNER}


async def test_no_cookie_is_kept(web: HostileWeb) -> None:
    web.page("/v1", "x", set_cookie="who=you; Path=/")
    client = web.doors().client(BASE)
    await client.get(BASE)
    await client.get(BASE)
    assert [one.headers.get("cookie") for one in web.asked] == [None, None]


async def test_hooks_see_what_is_sent_and_what_came(web: HostileWeb) -> None:
    web.page("/v1", "x")
    seen: list[object] = []

    async def see(what: object) -> None:
        seen.append(what)

    await web.doors().client(BASE, hooks={"request": [see], "response": [see]}).post(BASE, json={"a": 1})
    assert [type(one).__name__ for one in seen] == ["Request", "Response"]
    assert web.asked[0].body == b'{"a":1}'


@pytest.mark.parametrize(
    ("path", "kind"), [("/reset", httpx2.TransportError), ("/no-http", httpx2.RemoteProtocolError)]
)
async def test_faults_are_httpx2s_own(web: HostileWeb, path: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        await web.doors().client(BASE).get(f"http://inner.test{path}")


async def test_a_place_that_does_not_answer_is_a_connect_error(web: HostileWeb) -> None:
    web.names["dead.test"] = [[DEAD]]
    for host in ("dead.test", "unknown.test"):
        with pytest.raises(httpx2.ConnectError):
            await web.doors().client(f"http://{host}").get(f"http://{host}/")


async def test_silence_ends_by_the_limit_that_was_given(web: HostileWeb) -> None:
    client = web.doors().client(BASE, timeout=httpx2.Timeout(0.05, connect=5))
    with pytest.raises(httpx2.ReadTimeout):
        await client.get("http://inner.test/slow-headers")


async def test_a_reader_that_stops_leaves_nothing_open(web: HostileWeb) -> None:
    client = web.doors().client(BASE)
    reading = asyncio.create_task(client.get("http://inner.test/gate"))
    await web.reached.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    web.page("/v1", "next")
    assert (await client.get(BASE)).text == "next"


def test_a_base_that_is_no_address_is_refused() -> None:
    with pytest.raises(UsageError):
        HostileWeb().doors().client("inner.test/v1")
