"""What a request must look like before anything else looks at it.

A page of a stranger can make the browser of whoever visits it send requests to a server on the same machine, under any
name that it lets resolve there. So the `Host` must be one that this server is known by; an `Origin` must be this
server's own; what changes something must say that it is JSON, which a browser never sends across origins unasked; and
a body is counted as it arrives and cut off at a limit, before anything parses it.

A pure ASGI middleware, because one that buffers would hold streams back.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lumina.server.problems import problem

MAX_BODY = 2_000_000  # bytes; a question may have a million characters
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
OPEN = ("/healthz", "/readyz")  # asked by machines that know the server by an address of their own
SECURE = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


class Gate:
    """`hosts`: host names, with port where it matters, that this server is known by, in lower case."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], max_body: int = MAX_BODY) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # there are no websockets here
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        left = self._max_body

        async def counted() -> Message:
            message = await receive()
            nonlocal left
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, self._limit())  # where the body is read, so that the app answers it
            return message

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in SECURE if each[0] not in names)]
            await send(message)

        await self._app(scope, counted, sending)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "").lower()
        if host not in self._hosts and scope["path"] not in OPEN:
            return problem(421, "misdirected", "This server is not known by that name. Nothing was done.")
        origin = headers.get("origin")
        if origin is not None and _host_of(origin) != host:
            return problem(403, "forbidden", "The request comes from another site's page. Nothing was done.")
        if headers.get("sec-fetch-site", "none") == "cross-site":
            return problem(403, "forbidden", "The request comes from another site's page. Nothing was done.")
        if scope["method"] in CHANGING:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                return problem(
                    415, "unsupported_media_type",
                    "What changes something is sent with Content-Type: application/json. Nothing was done.",
                )  # fmt: skip
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or len(length) > 15 or int(length) > self._max_body:
            return problem(413, "too_large", f"{self._limit()}.")
        return None

    def _limit(self) -> str:
        return f"A body has at most {self._max_body:,} bytes. Nothing was stored"


def _host_of(origin: str) -> str:
    """The host and port of an `Origin`; nothing for one that is no address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def hosts_of(host: str, port: int, more: Iterable[str] = ()) -> set[str]:
    """The names by which a server that listens on `host`:`port` is known: loopback's, its own, and `more`."""
    names = {"localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host, *more}
    return {name for each in names for name in (each.lower(), f"{each.lower()}:{port}")}
