"""A page of the web as text: `WebPageReader` is the agent's `PageReader`.

In order: is it kept from a moment ago; does robots.txt of its host allow it; what does its server answer; what text is
in that. Every fault becomes a reason for a person (`Unread`), and one page costs at most so many seconds.
"""

import asyncio
import time
from collections.abc import Callable

from lumina.adapters.pages.kept import Kept
from lumina.adapters.pages.workers import NotRead, Workers
from lumina.agent.ports import Answered, Door, Page, Unread
from lumina.agent.web_address import WebAddress
from lumina.memory.errors import ProviderError, UsageError

AGENT = "LuminaSearch"  # the name that robots.txt may speak of
LARGEST = 10_000_000  # bytes of a page
LARGEST_ROBOTS = 512_000  # bytes; RFC 9309 asks for 500 KiB at least
SECONDS = 45.0  # for a page: robots.txt, fetching, reading
FETCHING, FETCHING_ROBOTS = 20.0, 10.0
ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,application/json;q=0.7,*/*;q=0.1"
KEPT, KEPT_FOR = 20_000_000, 900.0  # characters in all; seconds
ROBOTS_KEPT, ROBOTS_KEPT_FOR = 4_000_000, 86_400.0  # RFC 9309: no longer than a day
PASSING = frozenset({408, 425, 429})
SAID = {
    401: "it is for those who log in",
    402: "it must be paid for",
    403: "its server does not let Lumina read it",
    404: "there is no such page",
    410: "the page is gone",
    429: "its server takes no more requests for now",
    451: "it may not be shown for legal reasons",
}


class WebPageReader:
    """`door` is the web door. `clock` in seconds, for what is kept; `timeouts` as asyncio.timeout; `workers` read."""

    def __init__(
        self, door: Door, *, clock: Callable[[], float] = time.monotonic,
        timeouts: Callable[[float], asyncio.Timeout] = asyncio.timeout, workers: Workers | None = None,
    ) -> None:  # fmt: skip
        self._door, self._timeouts = door, timeouts
        self._workers = workers or Workers(timeouts=timeouts)
        self._pages: Kept[Page] = Kept(most=KEPT, age=KEPT_FOR, clock=clock)
        self._robots: Kept[bytes] = Kept(most=ROBOTS_KEPT, age=ROBOTS_KEPT_FOR, clock=clock)

    async def read(self, url: str) -> Page | Unread:
        """The page at `url`, or why there is none. Raises nothing for what can go wrong outside."""
        try:
            address = WebAddress.of(url)
        except UsageError as error:
            return Unread(url=url, reason=str(error), retry=False)
        key = address.url.partition("#")[0]
        if (kept := self._pages.get(key)) is not None:
            return kept
        try:
            async with self._timeouts(SECONDS):
                page = await self._read(address)
        except TimeoutError:
            return Unread(url=url, reason=f"it was not read within {SECONDS:g} seconds", retry=True)
        except NotRead as why:
            return Unread(url=url, reason=str(why), retry=False)
        except ProviderError as error:
            return Unread(url=url, reason=str(error), retry=error.retry)
        if isinstance(page, Page):
            self._pages.put(key, page, len(page.text) + len(page.title) + 200)
        return page

    async def aclose(self) -> None:
        """Ends the processes that read."""
        await self._workers.aclose()

    async def _read(self, address: WebAddress) -> Page | Unread:
        if refused := await self._refused(address):
            return refused
        answer = await self._door.send("GET", address.url, headers={"accept": ACCEPT}, limit=LARGEST, seconds=FETCHING)
        there = WebAddress.of(answer.url)
        if there.origin != address.origin and (refused := await self._refused(there)):
            return refused
        if answer.status != 200:
            return _unread(answer)
        read = await self._workers.ask(
            answer.body, kind="page", type=answer.headers.get("content-type", ""), cut=answer.cut
        )
        if "reason" in read:
            return Unread(url=answer.url, reason=read["reason"], retry=False)
        return Page(url=answer.url, title=read["title"] or there.short_host(), text=read["text"])

    async def _refused(self, address: WebAddress) -> Unread | None:
        """Why robots.txt forbids the page, as RFC 9309 has it: a host without one allows everything, one whose cannot
        be had allows nothing."""
        rules = self._robots.get(address.origin)
        if rules is None:
            answer = await self._door.send(
                "GET", f"{address.origin}/robots.txt", limit=LARGEST_ROBOTS, seconds=FETCHING_ROBOTS
            )
            if answer.status >= 500:
                return Unread(
                    url=address.url, reason=f"its host's robots.txt cannot be had now ({answer.status}), so nothing"
                    " there is read", retry=True,
                )  # fmt: skip
            rules = answer.body if answer.status == 200 else b""
            self._robots.put(address.origin, rules, len(rules) + 200)
        if not rules.strip():
            return None
        said = await self._workers.ask(rules, kind="robots", url=address.url, agent=AGENT)
        if said.get("allowed"):
            return None
        reason = said.get("reason") or "its host does not want it read by programs (robots.txt)"
        return Unread(url=address.url, reason=reason, retry=False)


def _unread(answer: Answered) -> Unread:
    said = SAID.get(answer.status, "its server has a fault" if answer.status >= 500 else "its server does not give it")
    return Unread(
        url=answer.url, reason=f"{said} ({answer.status})", retry=answer.status >= 500 or answer.status in PASSING
    )
