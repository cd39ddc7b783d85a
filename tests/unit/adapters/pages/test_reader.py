"""Pages through the door and the processes that read them: robots.txt, what is kept, faults, and case N5."""

import asyncio
import os
import subprocess
import sys

import pytest

from lumina.adapters.pages import workers as workers_module
from lumina.adapters.pages.reader import KEPT_FOR, ROBOTS_KEPT_FOR, WebPageReader
from lumina.adapters.pages.worker import answer
from lumina.adapters.pages.workers import SECONDS, NotRead, Workers
from lumina.agent.ports import Page, Unread
from lumina.memory.errors import ProviderError
from support.hostile_pages import pdf, pdf_bomb
from support.hostile_web import HostileWeb

PAGE = "<html><head><title>The cache</title></head><body><p>It keeps up to 128 results.</p></body></html>"


class InThisProcess(Workers):
    """Reads here what means no harm to the reading: starting a process takes longer than most tests."""

    async def ask(self, body: bytes, **asked: object) -> dict:
        return answer({**asked, "size": len(body)}, body)


class Reading:
    """A reader on a hostile web, whose clock the test sets."""

    def __init__(self, web: HostileWeb, workers: Workers) -> None:
        self.now = 0.0
        self.workers = workers
        self.reader = WebPageReader(web.doors().web, clock=lambda: self.now, timeouts=web.clock, workers=workers)

    async def __call__(self, url: str) -> Page | Unread:
        return await self.reader.read(url)


@pytest.fixture
def read(web: HostileWeb) -> Reading:
    return Reading(web, InThisProcess())


@pytest.fixture
async def read_apart(web: HostileWeb):
    """Reads as Lumina does, in other processes."""
    reading = Reading(web, Workers(timeouts=web.clock))
    yield reading
    await reading.reader.aclose()


def reason(read: Page | Unread) -> str:
    assert isinstance(read, Unread), read
    return read.reason


async def test_a_page_is_read_under_the_address_where_it_was_found(web: HostileWeb, read_apart: Reading) -> None:
    web.page("/cache", PAGE)
    found = await read_apart("http://good.test/to?where=//other.test/cache")
    assert found == Page(url="http://other.test/cache", title="The cache", text="It keeps up to 128 results.")


async def test_a_page_that_was_just_read_is_not_fetched_again(web: HostileWeb, read: Reading) -> None:
    web.page("/cache", PAGE)
    first = await read("http://good.test/cache#one")
    assert await read("http://good.test/cache#two") == first
    assert web.paths().count("/cache") == 1
    await read("http://good.test/cache?other")
    read.now = KEPT_FOR + 1
    await read("http://good.test/cache")
    assert web.paths().count("/cache") == 2
    assert web.paths().count("/robots.txt") == 1


async def test_what_could_not_be_read_is_tried_again(web: HostileWeb, read: Reading) -> None:
    web.page("/cache", "later", status=503)
    assert (await read("http://good.test/cache")) == Unread(
        url="http://good.test/cache", reason="its server has a fault (503)", retry=True
    )
    web.page("/cache", PAGE)
    assert isinstance(await read("http://good.test/cache"), Page)


@pytest.mark.parametrize(
    ("status", "said", "retry"),
    [(404, "no such page", False), (410, "gone", False), (401, "log in", False), (403, "does not let", False),
     (429, "no more requests", True), (500, "fault", True), (418, "does not give it", False)],
)  # fmt: skip
async def test_a_status_becomes_a_reason(web: HostileWeb, read: Reading, status: int, said: str, retry: bool) -> None:
    web.page("/x", "no", status=status)
    found = await read("http://good.test/x")
    assert said in reason(found)
    assert found == Unread(url="http://good.test/x", reason=reason(found), retry=retry)


# robots.txt


async def test_robots_is_asked_once_a_host_and_obeyed(web: HostileWeb, read: Reading) -> None:
    web.page("/open", PAGE)
    web.page("/closed/x", PAGE)
    web.robots(
        "User-agent: *\nDisallow: /\n\nUser-agent: LuminaSearch\nDisallow: /closed/\nAllow: /\n", host="good.test"
    )
    assert isinstance(await read("http://good.test/open"), Page)
    assert "robots.txt" in reason(await read("http://good.test/closed/x"))
    assert isinstance(await read("http://other.test/closed/x"), Page)
    assert web.paths().count("/robots.txt") == 2
    assert "/closed/x" not in [one.target for one in web.asked if one.headers["host"] == "good.test"]
    read.now = ROBOTS_KEPT_FOR + 1
    await read("http://good.test/closed/x")
    assert web.paths().count("/robots.txt") == 3


async def test_robots_of_the_host_that_a_redirect_leads_to_is_obeyed_too(web: HostileWeb, read: Reading) -> None:
    web.page("/closed", PAGE)
    web.robots("User-agent: *\nDisallow: /closed", host="other.test")
    assert "robots.txt" in reason(await read("http://good.test/to?where=//other.test/closed"))


@pytest.mark.parametrize("status", [404, 403, 410])
async def test_a_host_without_robots_allows_everything(web: HostileWeb, read: Reading, status: int) -> None:
    web.page("/x", PAGE)
    web.robots("User-agent: *\nDisallow: /", status=status)
    assert isinstance(await read("http://good.test/x"), Page)


async def test_a_host_whose_robots_cannot_be_had_is_not_read_now(web: HostileWeb, read: Reading) -> None:
    """RFC 9309, 2.3.1.4."""
    web.page("/x", PAGE)
    web.robots("", status=503)
    found = await read("http://good.test/x")
    assert "robots.txt cannot be had" in reason(found)
    assert "/x" not in web.paths()
    web.robots("")
    assert isinstance(await read("http://good.test/x"), Page)


@pytest.mark.parametrize(
    "text", ["\0\xff" * 500, "Disallow: " + "/*a" * 20_000, "User-agent: *\n" * 30_000, "<html>no"]
)
async def test_N5_a_robots_that_means_harm_costs_its_own_reading(web: HostileWeb, read: Reading, text: str) -> None:
    web.page("/x", PAGE)
    web.page("/robots.txt", text.encode("latin-1"), kind="text/plain")
    assert isinstance(await read("http://good.test/x"), Page | Unread)


# N2 and N5: what does not become a page


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://good.test/", "only http"),
        ("good.test", "does not begin"),
        ("http://10.0.0.1/", "not a public one"),
        ("http://inner.test/", "not a public one"),
        ("http://good.test/to?where=http://inner.test/", "not a public one"),
        ("http://good.test/to?where=file:///etc/passwd", "only http"),
        ("http://good.test:8080/", "only the ports"),
        ("http://unknown.test/", "no host of this name"),
        ("http://good.test/loop", "on and on"),
        ("http://good.test/reset", "broke"),
        ("http://good.test/huge-headers", "not HTTP"),
        ("http://good.test/bomb/br", "compressed"),
        ("http://good.test/nested", "more than 400,000 tags"),
        ("http://good.test/binary", "binary"),
    ],
)
async def test_N5_a_page_that_cannot_be_read_says_why(web: HostileWeb, read: Reading, url: str, why: str) -> None:
    found = await read(url)
    assert why in reason(found)
    assert all(address.startswith("93.") for address, _ in web.dialled)


async def test_N2_a_page_that_refreshes_itself_elsewhere_is_not_followed(web: HostileWeb, read: Reading) -> None:
    web.page("/x", '<meta http-equiv="refresh" content="0; url=http://inner.test/"><p>One moment</p>')
    assert "not followed" in reason(await read("http://good.test/x"))
    assert set(web.looked_up) == {"good.test"}


async def test_N5_of_an_endless_page_the_beginning_is_read(web: HostileWeb, read: Reading) -> None:
    for path in ("/one-line", "/endless"):
        found = await read(f"http://good.test{path}")
        assert isinstance(found, Page)
        assert found.text.startswith(("word word", "on and on"))
        assert len(found.text) == 400_000


async def test_N5_a_page_that_no_parser_gets_through_costs_its_time_and_its_process(
    web: HostileWeb, read_apart: Reading
) -> None:
    """The time is the test's own; the process is gone, not left standing, and the next page is read."""
    web.page("/slow", pdf_bomb(100), kind="application/pdf")
    web.page("/next", PAGE)
    reading = asyncio.create_task(read_apart("http://good.test/slow"))
    await web.clock.until(SECONDS)
    process = next(iter(read_apart.workers._all))._process
    web.clock.run_out(SECONDS)
    found = await reading
    assert f"more than {SECONDS:g} seconds" in reason(found)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    assert isinstance(await read_apart("http://good.test/next"), Page)


async def test_N5_a_page_that_eats_memory_ends_its_process_and_nothing_else(
    web: HostileWeb, read_apart: Reading
) -> None:
    """Two gigabytes behind five megabytes; the process has one."""
    web.page("/next", PAGE)
    bad, good = await asyncio.gather(read_apart("http://good.test/pdf-bomb"), read_apart("http://good.test/next"))
    assert "memory" in reason(bad)
    assert isinstance(good, Page)


async def test_N5_a_reader_that_stops_leaves_no_process_behind(web: HostileWeb) -> None:
    workers = Workers(timeouts=web.clock)
    asking = asyncio.create_task(workers.ask(pdf_bomb(100), kind="page", type="", cut=False))
    await web.clock.until(SECONDS)
    process = next(iter(workers._all))._process
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert process.returncode is not None
    assert await workers.ask(pdf("next"), kind="page", type="", cut=False) == {"title": "", "text": "next"}
    process = next(iter(workers._all))._process
    await workers.aclose()
    assert process.returncode is not None


async def test_a_process_is_used_again_and_replaced_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "JOBS", 2)
    workers, seen = Workers(), []
    for _ in range(3):
        await workers.ask(b"words", kind="page", type="text/plain", cut=False)
        seen += [worker._process.pid for worker in workers._all]
    await workers.aclose()
    assert len(seen) == 2  # after the second page there was none
    assert len(set(seen)) == 2


async def test_a_process_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module.sys, "executable", os.devnull)
    with pytest.raises(NotRead, match="no process could be started"):
        await Workers().ask(b"x", kind="page", type="", cut=False)


def test_N5_the_process_that_reads_knows_no_key_opens_no_connection_and_has_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    assert "sk-secret" not in str(workers_module._environment())
    script = (
        "import socket\nfrom lumina.adapters.pages.worker import MEMORY, _confine\n_confine()\n"
        "for act in (lambda: socket.create_connection(('127.0.0.1', 9)), lambda: __import__('os').system('true'),\n"
        "            lambda: bytearray(MEMORY)):\n"
        "    try:\n        act()\n    except (PermissionError, MemoryError) as error:\n"
        "        print(type(error).__name__)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=workers_module._environment()
    )
    bounded = "MemoryError\n" if sys.platform == "linux" else ""
    assert run.stdout.startswith("PermissionError\nPermissionError\n" + bounded), run.stderr


async def test_a_fault_of_the_door_is_a_reason(web: HostileWeb) -> None:
    class Shut:
        async def send(self, *_: object, **__: object) -> object:
            raise ProviderError("good.test is shut.", provider="web", retry=True)

    assert await WebPageReader(Shut()).read("http://good.test/") == Unread(
        url="http://good.test/", reason="good.test is shut.", retry=True
    )
