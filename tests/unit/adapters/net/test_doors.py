"""Cases N2, N4 and N5 at the door: where a request may lead, how much it may bring, how long it may take.

The web lies below the guard (support.hostile_web): the rule that is tested is the one that runs.
"""

import asyncio
import gzip
import tracemalloc

import pytest

from lumina.adapters.net.doors import IDLE, MOST_REDIRECTS
from lumina.memory.errors import ProviderError, UsageError
from support.hostile_web import DEAD, INNER, PUBLIC, HostileWeb


async def refusal(web: HostileWeb, url: str, **given) -> ProviderError:
    with pytest.raises(ProviderError) as told:
        await web.doors().web.send("GET", url, **given)
    return told.value


async def test_a_page_is_read_as_it_was_sent(web: HostileWeb) -> None:
    web.page("/a", "größe", kind="text/html; charset=utf-8", x_one="1")
    answer = await web.doors().web.send("GET", "http://good.test/a#part", headers={"Accept-Language": "de"})
    assert (answer.url, answer.status, answer.body.decode(), answer.cut) == (
        "http://good.test/a#part", 200, "größe", False,
    )  # fmt: skip
    assert answer.headers["x-one"] == "1"
    assert web.asked[0].target == "/a"
    assert web.asked[0].headers["host"] == "good.test"
    assert web.asked[0].headers["accept-encoding"] == "gzip"
    assert web.asked[0].headers["accept-language"] == "de"


@pytest.mark.parametrize("status", [404, 410, 500, 503, 304])
async def test_any_status_is_an_answer(web: HostileWeb, status: int) -> None:
    web.page("/a", "" if status == 304 else "said", status=status)
    assert (await web.doors().web.send("GET", "http://good.test/a")).status == status


# N2: where it leads


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_N2_each_step_of_a_redirect_is_judged_anew(web: HostileWeb, status: int) -> None:
    web.page("/end", "arrived")
    answer = await web.doors().web.send("GET", f"http://good.test/to?status={status}&where=//other.test/end")
    assert (answer.url, answer.body) == ("http://other.test/end", b"arrived")
    for inner in ("http://inner.test/", f"http://{INNER}/", "http://127.0.0.1/", "http://2130706433/", "//[::1]/",
                  "http://metadata.test/latest/", "\\\\loopback.test\\x", "http://good.test:8080/"):  # fmt: skip
        before = list(web.dialled)
        error = await refusal(web, f"http://good.test/to?status={status}&where={inner}")
        assert "was not asked" in str(error)
        assert web.dialled[len(before) :] == [(PUBLIC, 80)]


@pytest.mark.parametrize("where", ["file:///etc/passwd", "javascript:alert(1)", "ftp://good.test/", "data:text/html,x",
                                   "http://a:b@good.test/", "http://a..b/", "gopher://good.test"])  # fmt: skip
async def test_N2_a_redirect_leads_to_the_web_or_nowhere(web: HostileWeb, where: str) -> None:
    error = await refusal(web, f"http://good.test/to?where={where}")
    assert "was not asked" in str(error)
    assert not error.retry


async def test_N2_a_secure_page_does_not_lead_to_one_that_is_not(web: HostileWeb) -> None:
    web.page("/end", "arrived")
    doors = web.doors()
    assert (await doors.web.send("GET", "http://good.test/to?where=https://other.test/end")).body == b"arrived"
    assert [one.secure for one in web.asked] == [None, "other.test"]
    with pytest.raises(ProviderError, match="from https to http"):
        await doors.web.send("GET", "https://good.test/to?where=http://other.test/end")


async def test_N2_a_chain_of_redirects_ends(web: HostileWeb) -> None:
    answer = await web.doors().web.send("GET", f"http://good.test/hops?{MOST_REDIRECTS}")
    assert answer.body == b"arrived"
    web.asked.clear()
    for url in (f"http://good.test/hops?{MOST_REDIRECTS + 1}", "http://good.test/loop"):
        web.asked.clear()
        assert "on and on" in str(await refusal(web, url))
        assert len(web.asked) == MOST_REDIRECTS + 1


async def test_N2_what_was_judged_is_what_is_dialled_under_its_own_name(web: HostileWeb) -> None:
    """A name that answers otherwise the second time is asked once a connection, and judged each time."""
    web.page("/", "public")
    doors = web.doors()
    assert (await doors.web.send("GET", "https://rebinding.test/")).body == b"public"
    assert (web.looked_up, web.dialled) == (["rebinding.test"], [(PUBLIC, 443)])
    assert (web.asked[0].headers["host"], web.asked[0].secure) == ("rebinding.test", "rebinding.test")
    with pytest.raises(ProviderError, match="not a public one"):
        await doors.web.send("GET", "https://rebinding.test/again")
    assert web.dialled == [(PUBLIC, 443)]


@pytest.mark.parametrize("name", ["mixed.test", "inner.test", "loopback.test", "metadata.test"])
async def test_N2_one_inner_address_among_the_answers_refuses_all(web: HostileWeb, name: str) -> None:
    assert "not a public one" in str(await refusal(web, f"http://{name}/"))
    assert web.dialled == []


async def test_N2_no_proxy_of_the_environment_is_asked(web: HostileWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://10.0.0.9:3128")
    web.page("/", "direct")
    assert (await web.doors().web.send("GET", "http://good.test/")).body == b"direct"
    assert (await web.doors().client("http://good.test").get("http://good.test/")).text == "direct"
    assert set(web.dialled) == {(PUBLIC, 80)}


async def test_names_that_lead_nowhere_are_told(web: HostileWeb) -> None:
    web.names["dead.test"] = [[DEAD]]
    assert "no host of this name" in str(await refusal(web, "http://unknown.test/"))
    assert "no usable address" in str(await refusal(web, "http://nobody.test/"))
    assert "no usable address" in str(await refusal(web, "http://crowd.test/"))
    error = await refusal(web, "http://dead.test/")
    assert error.retry
    assert "nothing answers there" in str(error)
    web.names["half-dead.test"] = [[DEAD, PUBLIC]]
    web.page("/", "alive")
    assert (await web.doors().web.send("GET", "http://half-dead.test/")).body == b"alive"
    assert (await web.doors().web.send("GET", "http://six.test/")).body == b"alive"
    assert web.dialled[-1] == (PUBLIC, 80)


async def test_a_certificate_for_another_name_is_not_accepted(web: HostileWeb) -> None:
    web.names["good.example"] = [[PUBLIC]]
    assert "certificate is not accepted" in str(await refusal(web, "https://good.example/"))


async def test_nothing_that_says_who_asks_is_sent(web: HostileWeb) -> None:
    web.page("/sets", "x", set_cookie="who=you; Path=/")
    web.page("/end", "x")
    doors = web.doors()
    assert "set-cookie" not in (await doors.web.send("GET", "http://good.test/sets")).headers
    await doors.web.send("GET", "http://good.test/to?where=/end")
    assert not {"cookie", "referer", "authorization", "origin"} & {name for one in web.asked for name in one.headers}
    for headers in ({"Authorization": "x"}, {"cookie": "x"}, {"referer": "x"}, {"host": "inner.test"}, {"x-me": "1"}):
        with pytest.raises(UsageError):
            await doors.web.send("GET", "http://good.test/end", headers=headers)
    with pytest.raises(UsageError):
        await doors.web.send("POST", "http://good.test/end", json={})
    assert len(web.asked) == 3


async def test_an_allow_list_opens_what_it_names_and_no_more(web: HostileWeb) -> None:
    web.page("/", "wiki")
    web.places[8090] = web.places[80]
    web.names |= {"wiki.lan": [["10.0.0.7"]], "both.test": [["10.1.0.1", PUBLIC]], "far.test": [["10.1.0.1", INNER]]}
    doors = web.doors(allow="wiki.lan:8090, 10.1.0.0/24, 192.168.7.7, loopback.test")
    for url in ("http://wiki.lan:8090/", "http://both.test/", "http://192.168.7.7/", "http://loopback.test/",
                "http://[::ffff:10.1.0.9]/"):  # fmt: skip
        assert (await doors.web.send("GET", url)).body == b"wiki"
    dialled = len(web.dialled)
    for url in ("http://wiki.lan/", "http://10.0.0.7:8090/", "http://far.test/", "http://192.168.7.8/",
                "http://127.0.0.1/", "http://10.1.0.1:8090/", "http://x.wiki.lan:8090/"):  # fmt: skip
        with pytest.raises(ProviderError):
            await doors.web.send("GET", url)
    assert len(web.dialled) == dialled


# The configured door


async def test_a_configured_door_leads_to_one_place_wherever_it_is(web: HostileWeb) -> None:
    web.page("/v1/x", "said")
    web.page("/end", "arrived")
    doors = web.doors()
    door = doors.configured("http://loopback.test/v1")
    assert door is doors.configured("http://LOOPBACK.test:80/other")
    answer = await door.send("POST", "http://loopback.test/v1/x", headers={"Authorization": "k"}, json={"q": "größe"})
    assert answer.body == b"said"
    assert web.asked[0].body.decode() == '{"q": "größe"}'
    assert web.asked[0].headers["authorization"] == "k"
    assert (await door.send("GET", "http://loopback.test/to?where=/end")).body == b"arrived"
    assert (await door.send("POST", "http://loopback.test/to?where=/end", json={})).status == 302
    dialled = len(web.dialled)
    for url in (
        "https://loopback.test/",
        "https://loopback.test:80/",
        "http://loopback.test:81/",
        "http://127.0.0.1/",
        "http://good.test/",
    ):
        with pytest.raises(ProviderError, match="away from the address"):
            await door.send("GET", url)
    with pytest.raises(ProviderError, match="away from the address"):
        await door.send("GET", "http://loopback.test/to?where=http://other.test/end", headers={"authorization": "k"})
    assert {address for address, _ in web.dialled[dialled:]} <= {"127.0.0.1"}


@pytest.mark.parametrize("origin", ["localhost:11434", "ftp://x.test", "http://u:p@x.test", ""])
def test_a_door_is_configured_with_an_address(origin: str) -> None:
    with pytest.raises(UsageError, match=r"http://127\.0\.0\.1:11434"):
        HostileWeb().doors().configured(origin)


# N4: how much it brings


@pytest.mark.parametrize("path", ["/bomb/chained", "/bomb/chained-headers", "/bomb/zstd", "/bomb/br", "/bomb/deflate"])
async def test_N4_a_compression_that_was_not_asked_for_is_not_unpacked(web: HostileWeb, path: str) -> None:
    assert "compressed" in str(await refusal(web, f"http://good.test{path}"))


LIMIT, ROOM = 2_000_000, 16_000_000  # bytes that are taken of a page; bytes that taking them may need


@pytest.fixture
def peak():
    """Bytes that were held at most, above what was held when it was first asked."""
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    yield lambda: tracemalloc.get_traced_memory()[1] - start
    tracemalloc.stop()


@pytest.mark.parametrize("path", ["/bomb/gzip", "/bomb/x-gzip", "/bomb/raw", "/endless", "/one-line"])
async def test_N4_the_memory_for_a_page_is_bounded_whatever_is_sent(web: HostileWeb, path: str, peak) -> None:
    """200 MB and more behind each."""
    answer = await web.doors().web.send("GET", f"http://good.test{path}", limit=LIMIT)
    assert len(answer.body) == LIMIT
    assert answer.cut
    assert peak() < ROOM


@pytest.mark.parametrize("path", ["/bomb/chained", "/bomb/zstd"])
async def test_N4_the_memory_for_a_page_that_is_refused_is_bounded(web: HostileWeb, path: str, peak) -> None:
    assert "compressed" in str(await refusal(web, f"http://good.test{path}", limit=LIMIT))
    assert peak() < ROOM


async def test_N4_many_files_of_nothing_are_nothing(web: HostileWeb, peak) -> None:
    assert (await web.doors().web.send("GET", "http://good.test/bomb/members", limit=LIMIT)).body == b""
    assert peak() < ROOM


async def test_N4_the_body_of_a_redirect_is_not_unpacked(web: HostileWeb) -> None:
    """Its header says brotli, which would be refused were it read."""
    web.page("/end", "arrived")
    assert (await web.doors().web.send("GET", "http://good.test/to?where=/end")).body == b"arrived"


async def test_a_body_that_is_packed_honestly_arrives_whole(web: HostileWeb) -> None:
    text = bytes(range(256)) * 3000
    web.page("/one", gzip.compress(text), content_encoding="gzip")
    web.page("/two", gzip.compress(text[:1000]) + gzip.compress(text[1000:]) + b"\0\0\0", content_encoding="gzip")
    web.page("/none", text, content_encoding="identity")
    web.page("/high", gzip.compress(b"x" * 65_536 * 3), content_encoding="gzip")
    door = web.doors().web
    for path in ("/one", "/two", "/none"):
        answer = await door.send("GET", f"http://good.test{path}")
        assert (answer.body, answer.cut) == (text, False)
    for limit, cut in ((65_536 * 3, False), (65_536 * 3 - 1, True), (65_536, True), (0, True)):
        answer = await door.send("GET", "http://good.test/high", limit=limit)
        assert (answer.body, answer.cut) == (b"x" * limit, cut)


async def test_a_compression_without_an_end_gives_what_came_and_a_broken_one_nothing(web: HostileWeb) -> None:
    answer = await web.doors().web.send("GET", "http://good.test/half-gzip")
    assert answer.cut
    assert answer.body.startswith(b"<p> !")
    assert "compression is broken" in str(await refusal(web, "http://good.test/broken-gzip"))


# N5: how long it takes


@pytest.mark.parametrize("path", ["/gate", "/slow-headers"])
async def test_N5_a_server_that_drips_ends_at_the_deadline_of_the_whole(web: HostileWeb, path: str) -> None:
    reading = asyncio.create_task(refusal(web, f"http://good.test{path}", seconds=7))
    await web.reached.wait()
    web.clock.run_out(7)
    error = await reading
    assert error.retry
    assert "in time (at most 7 seconds)" in str(error)


async def test_N5_a_server_that_falls_silent_ends_before_the_deadline(web: HostileWeb) -> None:
    reading = asyncio.create_task(refusal(web, "http://good.test/gate", seconds=99))
    await web.reached.wait()
    await web.clock.until(IDLE)
    web.clock.run_out(IDLE)
    assert "in time" in str(await reading)


async def test_N5_one_deadline_covers_all_steps(web: HostileWeb) -> None:
    await web.doors().web.send("GET", "http://good.test/hops?3", seconds=7)
    assert web.clock.begun.count(7) == 1


async def test_N5_other_pages_go_on_while_one_hangs(web: HostileWeb) -> None:
    web.page("/", "here")
    door = web.doors().web
    hanging = asyncio.create_task(door.send("GET", "http://good.test/gate"))
    await web.reached.wait()
    assert (await door.send("GET", "http://good.test/")).body == b"here"
    web.gate.set()
    assert (await hanging).body == b"0123456789"


@pytest.mark.parametrize("path", ["/reset", "/huge-headers", "/no-http"])
async def test_N5_an_answer_that_is_none_is_told(web: HostileWeb, path: str) -> None:
    error = await refusal(web, f"http://good.test{path}")
    assert error.retry
    assert "not HTTP" in str(error) or "broke the connection off" in str(error)


async def test_N5_nothing_is_left_open_when_a_reader_is_cancelled(web: HostileWeb) -> None:
    reading = asyncio.create_task(web.doors().web.send("GET", "http://good.test/gate"))
    await web.reached.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    web.page("/", "next")
    assert (await web.doors().web.send("GET", "http://good.test/")).body == b"next"
