"""Where connections are made: the name is looked up once, all it stands for is judged, and what was judged is dialled.

This is the network backend of every connection pool, below redirects and above sockets, so there is no way round it: a
name that answers otherwise the second time (DNS rebinding) is not asked a second time. Host header and TLS keep the
name.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import httpcore2

from lumina.adapters.net.public_addresses import Address, read_address
from lumina.adapters.net.reach import Reach, Refused

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]  # a name and a port to IP addresses; OSError for none

MOST_ADDRESSES = 64  # an answer set beyond this is refused unread
TRIED = 4  # addresses of a host that are dialled, one after another
ONE_DIAL = 5.0  # seconds for one of them


async def system_resolver(name: str, port: int) -> list[str]:
    """What this machine finds for a name: its resolver, its hosts file."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to what `reach` lets through, and to nothing else. `network` makes the connections to addresses that
    were judged. Raises Refused, or what httpcore2 raises."""

    def __init__(
        self, reach: Reach, resolver: Resolver = system_resolver, network: httpcore2.AsyncNetworkBackend | None = None
    ) -> None:
        self._reach = reach
        self._resolver = resolver
        self._network: httpcore2.AsyncNetworkBackend = network or httpcore2.AnyIOBackend()  # type: ignore[assignment]

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, local_address: str | None = None,  # noqa: ASYNC109
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:  # fmt: skip
        addresses = await self._checked(host, port)
        limit = ONE_DIAL if timeout is None else min(timeout, ONE_DIAL)
        # IPv4 first: a machine without it knows at once, one whose IPv6 leads nowhere would wait.
        tried = sorted(addresses, key=lambda address: address.version)[:TRIED]
        for address in tried[:-1]:
            try:
                return await self._network.connect_tcp(str(address), port, limit, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._network.connect_tcp(str(tried[-1]), port, limit, local_address, socket_options)

    async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:
        raise Refused("only hosts are connected to")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)

    async def _checked(self, host: str, port: int) -> list[Address]:
        """The addresses of `host`, each of which may be dialled."""
        self._reach.check_target(host, port)
        literal = read_address(host)
        try:
            found = [host] if literal else await self._resolver(host, port)
        except OSError:
            raise httpcore2.ConnectError("there is no host of this name") from None
        except UnicodeError:  # what Python's own rules for names make of a label that no host has
            raise httpcore2.ConnectError("there can be no host of this name") from None
        read = [read_address(text) for text in dict.fromkeys(found)]
        addresses = [address for address in read if address is not None]
        if not addresses or len(addresses) != len(read) or len(read) > MOST_ADDRESSES:
            raise httpcore2.ConnectError("its name leads to no usable address")
        self._reach.check_addresses(host, port, addresses)
        return addresses
