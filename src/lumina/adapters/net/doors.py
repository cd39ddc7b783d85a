"""The two ways out (`lumina.agent.ports.Door`): `web` for the open web, `configured` for one place that was set.

Both send no cookie, no referrer and no credentials of their own, read at most what they were told to, and end by one
deadline, redirects included. Each step of a redirect is read, judged and dialled as a new address.
"""

import json as json_text
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal

import httpcore2
import httpx2

from lumina.adapters.net.bodies import ASKED, coding, read_capped
from lumina.adapters.net.client import configured_client
from lumina.adapters.net.pools import THIS_MACHINE, Surroundings, pool, told
from lumina.adapters.net.reach import Allowed, ConfiguredReach, Reach, Refused, WebReach
from lumina.agent.ports import Answered
from lumina.agent.web_address import WebAddress
from lumina.memory.errors import ProviderError, UsageError

MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
IDLE = 10.0  # seconds between two pieces of a body
AGENT = "LuminaSearch/0.1 (reads a page for a person who asked)"

# What a request to the open web may carry; a name beside these could say who asks.
WEB_HEADERS = frozenset({"accept", "accept-language", "if-none-match", "if-modified-since"})
OURS = frozenset({"host", "content-length", "transfer-encoding", "accept-encoding", "connection", "cookie", "referer"})


class GuardedDoor:
    """A `Door`. Made by `web_door` and `configured_door`; `aclose` lets its connections go."""

    def __init__(self, *, name: str, reach: Reach, origin: WebAddress | None, around: Surroundings, keep: bool) -> None:
        self.name = name
        self._reach, self._origin, self._timeouts = reach, origin, around.timeouts
        self._make = lambda: pool(reach, around, keep=keep)
        self._pool: httpcore2.AsyncConnectionPool | None = None

    async def send(
        self, method: Literal["GET", "POST"], url: str, *, headers: Mapping[str, str] | None = None,
        json: object = None, limit: int = 2_000_000, seconds: float = 20,
    ) -> Answered:  # fmt: skip
        """As `Door.send` says. Only a GET follows redirects; of a POST the redirect itself is the answer."""
        try:
            address = WebAddress.of(url)
        except UsageError as error:
            raise ProviderError(str(error), provider=self.name, retry=False) from None
        sent = self._headers(method, headers)
        body = b"" if json is None else json_text.dumps(json, ensure_ascii=False).encode("utf-8", "replace")
        if json is not None:
            sent["content-type"] = "application/json"
        with told(address.host, self.name, seconds):
            async with self._timeouts(seconds):
                for _ in range(MOST_REDIRECTS + 1):
                    answer = await self._once(method, address, sent, body, limit)
                    if isinstance(answer, Answered):
                        return answer
                    if address.scheme == "https" and answer.scheme == "http":
                        raise Refused("it leads from https to http")
                    address = answer
        raise ProviderError(
            f"{address.host} was not read: it leads on and on (more than {MOST_REDIRECTS} times).",
            provider=self.name, retry=False,
        )  # fmt: skip

    async def aclose(self) -> None:
        """Closes what is open. The door can be used again."""
        opened, self._pool = self._pool, None
        if opened is not None:
            await opened.aclose()

    def _headers(self, method: str, headers: Mapping[str, str] | None) -> dict[str, str]:
        given = {name.lower(): value for name, value in (headers or {}).items()}
        if self._origin is None and (method != "GET" or not given.keys() <= WEB_HEADERS):
            raise UsageError(f"The web door only reads, with {', '.join(sorted(WEB_HEADERS))} and no other header.")
        if given.keys() & OURS:
            raise UsageError(f"A door sets these headers itself: {', '.join(sorted(OURS))}.")
        return {"user-agent": AGENT, "accept": "*/*", "accept-encoding": ASKED, **given}

    async def _once(
        self, method: str, address: WebAddress, headers: Mapping[str, str], body: bytes, limit: int
    ) -> Answered | WebAddress:
        """One request: its answer, or where it leads. The body of a redirect is not read."""
        if self._origin is not None and address.origin != self._origin.origin:
            raise Refused(f"it leads to {address.short_host()}, away from the address that was set")
        name = address.name.removesuffix(".")
        self._reach.check_target(name, address.port)
        self._pool = self._pool or self._make()
        place = httpcore2.URL(scheme=address.scheme, host=name, port=address.port, target=address.target)
        request = httpcore2.Request(
            method=method, url=place,
            headers=[("host", address.origin.partition("://")[2]), *headers.items(), *_length(method, body)],
            content=body,
        )  # fmt: skip
        response = await self._pool.handle_async_request(request)
        try:
            found = _read(response.headers)
            if response.status in REDIRECTS:
                if method == "GET" and "location" in found:
                    return _next(address, found["location"])
                return Answered(url=address.url, status=response.status, headers=found, body=b"")
            coded = coding(found)
            async with aclosing(self._pieces(response)) as pieces:
                text, cut = await read_capped(pieces, coded, limit)
            return Answered(url=address.url, status=response.status, headers=found, body=text, cut=cut)
        finally:
            await response.aclose()

    async def _pieces(self, response: httpcore2.Response) -> AsyncGenerator[bytes]:
        """The body as it comes, undecoded. TimeoutError when nothing comes for a while."""
        async with aclosing(aiter(response.stream)) as stream:  # type: ignore[arg-type]
            while True:
                async with self._timeouts(IDLE):
                    piece = await anext(stream, None)
                if piece is None:
                    return
                yield piece


def _length(method: str, body: bytes) -> list[tuple[str, str]]:
    return [("content-length", str(len(body)))] if method == "POST" else []


def _read(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Lower-case names; of a name that comes several times, all values. No cookie is handed on."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        if key != "set-cookie":
            found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _next(address: WebAddress, location: str) -> WebAddress:
    try:
        # Browsers read the header's bytes as UTF-8.
        return address.joined(location.encode("latin-1").decode("utf-8", "replace"))
    except UsageError as error:
        raise Refused(f"it leads elsewhere, and there {str(error).rstrip('.')}") from None


class Doors:
    """All ways out of one agent, closed together. `allowed`: what of a local network the web door may reach."""

    def __init__(self, *, allowed: Allowed | None = None, around: Surroundings = THIS_MACHINE) -> None:
        self._around = around
        self._clients: list[httpx2.AsyncClient] = []
        self._configured: dict[str, GuardedDoor] = {}
        self.web = web_door(allowed=allowed, around=around, keep=True)

    def configured(self, origin: str) -> GuardedDoor:
        """The door to one scheme, host and port; a path in `origin` does not matter. Raises UsageError."""
        address = _origin(origin)
        if address.origin not in self._configured:
            self._configured[address.origin] = configured_door(origin, around=self._around, keep=True)
        return self._configured[address.origin]

    def client(self, base_url: str, **given: Any) -> httpx2.AsyncClient:
        """`client.configured_client`, closed with these doors."""
        self._clients.append(configured_client(base_url, around=self._around, **given))
        return self._clients[-1]

    async def aclose(self) -> None:
        for door in (self.web, *self._configured.values(), *self._clients):
            await door.aclose()


def web_door(*, allowed: Allowed | None = None, around: Surroundings = THIS_MACHINE, keep: bool = False) -> GuardedDoor:
    """To public addresses on ports 80 and 443, and to what is `allowed` beside them. `keep`: see `pools.pool`."""
    return GuardedDoor(name="web", reach=WebReach(allowed=allowed or Allowed()), origin=None, around=around, keep=keep)


def configured_door(origin: str, *, around: Surroundings = THIS_MACHINE, keep: bool = False) -> GuardedDoor:
    """To the scheme, host and port of `origin`, this machine and the local network included. Raises UsageError."""
    address = _origin(origin)
    reach = ConfiguredReach(name=address.name.removesuffix("."), port=address.port)
    return GuardedDoor(name=address.host, reach=reach, origin=address, around=around, keep=keep)


def _origin(text: str) -> WebAddress:
    try:
        return WebAddress.of(text)
    except UsageError as error:
        raise UsageError(f"{error} Give a base such as http://127.0.0.1:11434.") from None
