"""Runs the server: opens the agent, listens, and closes everything in order.

Without a login it listens to this machine alone. Asked to listen elsewhere, it refuses to start: whoever can reach it
could read every conversation.
"""

import asyncio
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn

from lumina.agent.search_agent import SearchAgent
from lumina.memory.errors import UsageError
from lumina.server.app import create_app
from lumina.server.gate import hosts_of

GRACE = 10  # seconds that open requests get when the server ends


def check_host(host: str) -> None:
    """UsageError unless `host` is this machine alone."""
    if host == "localhost":
        return
    try:
        if ipaddress.ip_address(host.strip("[]")).is_loopback:
            return
    except ValueError:
        pass
    raise UsageError(
        f"{host} can be reached from other machines, and this version has no login: whoever reaches the server could "
        "read every conversation. Nothing was started. Leave --host out, or put a reverse proxy that asks who it is "
        "on this machine."
    )


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. UsageError when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host.strip("[]"), port))
    except OSError as error:
        opened.close()
        raise UsageError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}). Nothing was started. Give another "
            "--port, or 0 for any that is free."
        ) from None
    return opened


class Server(uvicorn.Server):
    """Says when it answers, and ends what runs before it waits for its readers: each of them gets its last event."""

    def __init__(self, config: uvicorn.Config, agent: SearchAgent, closing: asyncio.Event, told: Callable[[], object]):
        super().__init__(config)
        self._agent = agent
        self._closing = closing
        self._told = told
        self.ended_by = 0  # the signal, if one has ended it

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.ended_by = sig
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As uvicorn does, but the signal is not raised again here: it would cut off the closing of the agent."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._told()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._agent.quiet()
        self._closing.set()
        await super().shutdown(sockets=sockets)


async def serve(
    open_agent: Callable[[], Coroutine[Any, Any, SearchAgent]], opened: socket.socket, *, host: str,
    told: Callable[[str], object], more_hosts: tuple[str, ...] = (),
) -> int:  # fmt: skip
    """Serves until a signal ends it: no new requests then, running answers end as partial and are kept. `told` gets
    the address once requests are answered. Returns the number of the signal, 0 if there was none."""
    port = opened.getsockname()[1]
    async with await open_agent() as agent:
        app = create_app(agent, hosts=hosts_of(host, port, more_hosts))
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=GRACE,
            server_header=False, date_header=False, ws="none",  # asked to upgrade, it answers as if it was not asked
        )  # fmt: skip
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        server = Server(config, agent, app.state.closing, lambda: told(address))
        await server.serve(sockets=[opened])
    return server.ended_by
