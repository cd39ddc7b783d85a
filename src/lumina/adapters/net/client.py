"""The configured way out as an httpx2 client, for vendors' SDKs that bring their own requests.

It goes to the scheme, host and port of the base address and nowhere else, follows no redirect, keeps no cookie and asks
no proxy of the environment. Answers are streamed as they come and are not counted here: how long and how much is the
caller's to say.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpcore2
import httpx2

from lumina.adapters.net.pools import THIS_MACHINE, Surroundings, pool
from lumina.adapters.net.reach import ConfiguredReach, Refused
from lumina.agent.web_address import WebAddress

TIMEOUT = httpx2.Timeout(600, connect=10)  # seconds; of silence, not in all


class ElsewhereRefused(httpx2.TransportError):
    """The request would have left for another place than the one that was set; nothing was sent."""


def configured_client(
    base_url: str, *, hooks: Mapping[str, list[Callable[..., Any]]] | None = None, timeout: httpx2.Timeout = TIMEOUT,
    around: Surroundings = THIS_MACHINE,
) -> httpx2.AsyncClient:  # fmt: skip
    """A client for the origin of `base_url`. `hooks` as httpx2's event_hooks: {"request": [...], "response": [...]}.
    Whoever makes it closes it (`aclose`). Raises UsageError for what is no address."""
    return httpx2.AsyncClient(
        transport=_ToOnePlace(WebAddress.of(base_url), around), timeout=timeout, trust_env=False,
        follow_redirects=False, event_hooks=dict(hooks or {}),
    )  # fmt: skip


class _ToOnePlace(httpx2.AsyncBaseTransport):
    def __init__(self, place: WebAddress, around: Surroundings) -> None:
        self._place = place
        self._name = place.name.removesuffix(".")
        self._pool = pool(ConfiguredReach(name=self._name, port=place.port), around)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url, place = request.url, self._place
        port = url.port or {"http": 80, "https": 443}.get(url.scheme)
        if (url.scheme, url.raw_host.decode("ascii").removesuffix("."), port) != (place.scheme, self._name, place.port):
            raise ElsewhereRefused(f"Only {place.origin} is asked; the request went elsewhere.", request=request)
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=place.scheme, host=self._name, port=place.port, target=url.raw_path),
            headers=request.headers.raw, content=request.stream, extensions=request.extensions,
        )  # fmt: skip
        try:
            answer = await self._pool.handle_async_request(sent)
        except Exception as error:
            raise _as_httpx2(error, request) from error
        # A session that a server would like to keep with us is none that anybody asked for.
        headers = [(name, value) for name, value in answer.headers if name.lower() != b"set-cookie"]
        return httpx2.Response(
            status_code=answer.status, headers=headers, stream=_Pieces(answer, request), extensions=answer.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Pieces(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response, request: httpx2.Request) -> None:
        self._answer, self._request = answer, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._answer.stream:  # type: ignore[union-attr]
                yield piece
        except Exception as error:
            raise _as_httpx2(error, self._request) from error

    async def aclose(self) -> None:
        await self._answer.aclose()


def _as_httpx2(error: Exception, request: httpx2.Request) -> Exception:
    """httpx2's errors bear the names of httpcore2's."""
    if isinstance(error, Refused):
        return ElsewhereRefused(f"The request was not sent: {error}.", request=request)
    for kind in type(error).__mro__:
        known = getattr(httpx2, kind.__name__, None) if kind.__module__.startswith("httpcore2") else None
        if isinstance(known, type) and issubclass(known, httpx2.TransportError):
            return known(str(error), request=request)
    return error
