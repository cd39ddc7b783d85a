"""A hostile web in this process: real servers on loopback, names and addresses of its own, pages that mean harm.

Lumina's guard refuses loopback, and that rule is never loosened for a test. So the web lies *below* the guard: names
are answered by `resolver`, with public or inner addresses or now the one and now the other; what the guard lets through
is carried to a server on 127.0.0.2 (http) or 127.0.0.3 (https), whatever its address is. `dialled` lists every address
that was let through, `asked` every request that arrived. Time is in the test's hands (`HandClock`).

    async with HostileWeb() as web:
        web.page("/", "<p>hello</p>")
        doors = web.doors()
        answer = await doors.web.send("GET", "http://good.test/")
"""

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpcore2

from lumina.adapters.net.doors import Doors
from lumina.adapters.net.pools import Surroundings
from lumina.adapters.net.reach import Allowed
from support.hostile_pages import BODIES

CERTIFICATE = (
    Path(__file__).parents[1] / "data" / "hostile_web.pem"
)  # good.test and others, signed by itself, to the year 2126
PUBLIC, INNER = "93.184.216.34", "10.0.0.5"
NAMES: dict[str, list[list[str]]] = {
    "good.test": [[PUBLIC]],
    "other.test": [["93.184.216.35"]],
    "six.test": [["2606:2800:220:1::1", PUBLIC]],
    "inner.test": [[INNER]],
    "loopback.test": [["127.0.0.1"]],
    "metadata.test": [["169.254.169.254"]],
    "rebinding.test": [[PUBLIC], [INNER]],  # the second question is answered otherwise
    "mixed.test": [[PUBLIC, "93.184.216.36", INNER]],
    "crowd.test": [[f"93.184.{n // 250}.{n % 250}" for n in range(200)]],
    "nobody.test": [[]],
}
DEAD = "93.184.216.99"  # an address at which nothing answers


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request that arrived. `secure`: the name that TLS was asked for, or None."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    secure: str | None


@dataclass(kw_only=True)
class Reply:
    """What a server sends. `framed`: with its length; else the connection's end ends it."""

    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    pieces: Iterable[bytes] = ()
    framed: bool = True


Handler = Callable[["HostileWeb", Asked, asyncio.StreamWriter], Awaitable[Reply | None]]


class HandClock:
    """Limits that run out when the test says so. Made like asyncio.timeout, as Lumina makes its own."""

    def __init__(self) -> None:
        self.begun: list[float] = []
        self._open: list[tuple[float, asyncio.Timeout]] = []
        self._more = asyncio.Event()

    def __call__(self, seconds: float) -> asyncio.Timeout:
        self.begun.append(seconds)
        self._open.append((seconds, asyncio.timeout(None)))
        self._more.set()
        return self._open[-1][1]

    async def until(self, seconds: float) -> None:
        """Waits until a limit of so many seconds has been set."""
        while seconds not in self.begun:
            self._more.clear()
            await self._more.wait()

    def run_out(self, seconds: float) -> None:
        """Every limit of so many seconds that is running now ends."""
        for limit, timeout in self._open:
            if limit == seconds:
                with contextlib.suppress(RuntimeError):  # one that has ended, or has not begun
                    timeout.reschedule(asyncio.get_running_loop().time())


class _Below(httpcore2.AsyncNetworkBackend):
    """The network under the guard: any address it asks for is carried to a server of this web."""

    def __init__(self, web: "HostileWeb") -> None:
        self._web, self._inner = web, httpcore2.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *rest: Any, **more: Any) -> httpcore2.AsyncNetworkStream:
        self._web.dialled.append((host, port))
        if host == DEAD or port not in self._web.places:
            raise httpcore2.ConnectError("nothing answers")
        return await self._inner.connect_tcp(*self._web.places[port], *rest, **more)


class HostileWeb:
    def __init__(self) -> None:
        self.names = {name: [list(answer) for answer in answers] for name, answers in NAMES.items()}
        self.clock = HandClock()
        self.dialled: list[tuple[str, int]] = []
        self.asked: list[Asked] = []
        self.looked_up: list[str] = []
        self.places: dict[int, tuple[str, int]] = {}
        self.gate, self.reached = asyncio.Event(), asyncio.Event()
        self._pages: dict[str, Reply] = {}
        self._doors: list[Doors] = []
        self._serving: dict[asyncio.Task, asyncio.StreamWriter] = {}

    async def __aenter__(self) -> "HostileWeb":
        secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.load_cert_chain(CERTIFICATE)
        secure.sni_callback = lambda connection, name, _: setattr(connection, "asked_for", name)
        self._servers = [
            await asyncio.start_server(self._serve, "127.0.0.2", 0),
            await asyncio.start_server(self._serve, "127.0.0.3", 0, ssl=secure),
        ]
        self.places = {
            port: server.sockets[0].getsockname() for port, server in zip((80, 443), self._servers, strict=True)
        }
        return self

    async def __aexit__(self, *_: object) -> None:
        self.gate.set()
        for doors in self._doors:
            await doors.aclose()
        for server in self._servers:
            server.close()
        for writer in self._serving.values():
            writer.transport.abort()
        if self._serving:
            await asyncio.wait(set(self._serving))
        for server in self._servers:
            await server.wait_closed()

    # What a test sets up

    def page(
        self, path: str, body: str | bytes = "", *, kind: str = "text/html; charset=utf-8", status: int = 200,
        **headers: str,
    ) -> None:  # fmt: skip
        """Serves `body` at `path` of every host; at `name.test/path` of one."""
        named = [("content-type", kind)] if kind else []
        named += [(name.replace("_", "-"), value) for name, value in headers.items()]
        self._pages[path] = Reply(
            status=status, headers=named, pieces=[body.encode() if isinstance(body, str) else body]
        )

    def robots(self, text: str, *, status: int = 200, host: str = "") -> None:
        self.page(f"{host}/robots.txt", text, kind="text/plain", status=status)

    def around(self) -> Surroundings:
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trust.load_verify_locations(CERTIFICATE)
        return Surroundings(resolver=self.resolver, network=_Below(self), trust=trust, timeouts=self.clock)

    def doors(self, *, allow: str = "") -> Doors:
        self._doors.append(Doors(allowed=Allowed.of(allow), around=self.around()))
        return self._doors[-1]

    async def resolver(self, name: str, port: int) -> list[str]:
        """The next answer for the name; the last one stays."""
        self.looked_up.append(name)
        answers = self.names.get(name)
        if not answers:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def paths(self) -> list[str]:
        return [one.target for one in self.asked]

    # What it serves

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving[task] = writer
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone, as it may
        finally:
            del self._serving[task]
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        connection = writer.get_extra_info("ssl_object")
        asked = Asked(
            method=method, target=target, headers=headers,
            body=await reader.readexactly(int(headers.get("content-length", 0))),
            secure=getattr(connection, "asked_for", "") if connection else None,
        )  # fmt: skip
        self.asked.append(asked)
        reply = await self._reply(asked, writer)
        if reply is not None:
            await send(writer, reply)

    async def _reply(self, asked: Asked, writer: asyncio.StreamWriter) -> Reply | None:
        path = urlsplit(asked.target).path
        for place in (asked.headers.get("host", "") + path, path):
            if place in self._pages:
                return self._pages[place]
        if path in BODIES:
            kind, headers, make = BODIES[path]
            return Reply(headers=[("content-type", kind), *headers], pieces=make(), framed=False)
        if path in HANDLERS:
            return await HANDLERS[path](self, asked, writer)
        return Reply(status=404, headers=[("content-type", "text/plain")], pieces=[b"not here"])


async def send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    head = [f"HTTP/1.1 {reply.status} Said", "connection: close"]
    pieces = iter(reply.pieces)
    if reply.framed:
        body = b"".join(pieces)
        pieces = iter([body])
        head.append(f"content-length: {len(body)}")
    head += [f"{name}: {value}" for name, value in reply.headers]
    writer.write(("\r\n".join(head) + "\r\n\r\n").encode("utf-8"))
    for piece in pieces:
        writer.write(piece)
        await writer.drain()


async def _redirect(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> Reply:
    """/to?where=...&status=302: leads there."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(asked.target).query).items()}
    return Reply(
        status=int(query.get("status", "302")),
        headers=[("location", query["where"]), ("content-encoding", "br"), ("set-cookie", "who=you")],
        pieces=[b"\x00" * 64],
    )


async def _loop(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> Reply:
    return Reply(status=302, headers=[("location", "/loop")])


async def _hops(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> Reply:
    """/hops?3 leads on three times."""
    left = int(urlsplit(asked.target).query)
    if not left:
        return Reply(headers=[("content-type", "text/plain")], pieces=[b"arrived"])
    return Reply(status=302, headers=[("location", f"/hops?{left - 1}")])


async def _gate(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> None:
    """One byte; the rest when the test opens the gate."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\n0")
    await writer.drain()
    web.reached.set()
    await web.gate.wait()
    writer.write(b"123456789")
    await writer.drain()


async def _slow_headers(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    await writer.drain()
    web.reached.set()
    await web.gate.wait()


async def _endless(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
    while not writer.transport.is_closing():
        writer.write(b"on and on and on " * 1000)
        await writer.drain()


async def _huge_headers(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for n in range(20_000):
        writer.write(f"x-{n}: {'a' * 100}\r\n".encode())
        await writer.drain()


async def _reset(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Half of what was promised, then the connection is torn."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100000\r\n\r\nhalf")
    await writer.drain()
    writer.transport.abort()


async def _no_http(web: HostileWeb, asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
    await writer.drain()


HANDLERS: dict[str, Handler] = {
    "/to": _redirect, "/loop": _loop, "/hops": _hops, "/gate": _gate, "/slow-headers": _slow_headers,
    "/endless": _endless, "/huge-headers": _huge_headers, "/reset": _reset, "/no-http": _no_http,
}  # fmt: skip
