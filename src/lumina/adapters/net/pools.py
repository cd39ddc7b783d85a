"""A pool of connections that goes where it may, and what its faults are called.

httpcore2 alone sends one request and returns one answer: no redirects, no cookies, no environment's proxies, no
decoding. What a door adds to that is written in the door.
"""

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import httpcore2

from lumina.adapters.net.bodies import Unreadable
from lumina.adapters.net.dialling import GuardedBackend, Resolver, system_resolver
from lumina.adapters.net.reach import Reach, Refused
from lumina.memory.errors import ProviderError

CONNECTIONS = 20
IDLE_CONNECTION = 15.0  # seconds for which an open one is kept for the next request


@cache
def tls() -> ssl.SSLContext:
    """The machine's certificate authorities, or those of SSL_CERT_FILE; read once."""
    return httpcore2.default_ssl_context()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What lies around the guard: who answers for names, what connects to an address that was judged, whose
    certificates are trusted, whose clock counts. A test has its own; the rule of what may be reached is not among them.
    """

    resolver: Resolver = system_resolver
    network: httpcore2.AsyncNetworkBackend | None = None
    trust: ssl.SSLContext | None = None
    timeouts: Callable[[float], asyncio.Timeout] = asyncio.timeout


THIS_MACHINE = Surroundings()


def pool(reach: Reach, around: Surroundings, *, keep: bool = True) -> httpcore2.AsyncConnectionPool:
    """`keep`: whether connections stay open for the next request; then the pool must be closed."""
    return httpcore2.AsyncConnectionPool(
        ssl_context=around.trust or tls(), max_connections=CONNECTIONS,
        max_keepalive_connections=CONNECTIONS if keep else 0, keepalive_expiry=IDLE_CONNECTION,
        network_backend=GuardedBackend(reach, around.resolver, around.network),
    )  # fmt: skip


@contextmanager
def told(host: str, provider: str, seconds: float) -> Iterator[None]:
    """What goes wrong inside ends as a ProviderError: it says what to think of it, and quotes nothing that was sent."""

    def error(said: str, *, retry: bool) -> ProviderError:
        return ProviderError(f"{host} {said}.", provider=provider, retry=retry)

    try:
        yield
    except Refused as why:
        raise error(f"was not asked: {why}", retry=False) from None
    except Unreadable as why:
        raise error(f"gave an answer that cannot be read: {why}", retry=False) from None
    except (TimeoutError, httpcore2.TimeoutException):
        raise error(f"did not answer in time (at most {seconds:g} seconds)", retry=True) from None
    except httpcore2.ConnectError as why:
        raise error(f"could not be reached: {_reason(why)}", retry=True) from None
    except httpcore2.LocalProtocolError:
        raise error("was not asked: the request is not one that can be sent", retry=False) from None
    except httpcore2.RemoteProtocolError:
        raise error("gave an answer that is not HTTP, or broke it off", retry=True) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError):
        raise error("broke the connection off", retry=True) from None


def _reason(error: httpcore2.ConnectError) -> str:
    cause = error.__cause__ or error.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted ({cause.verify_message.rstrip('.')})"
    if isinstance(cause, ssl.SSLError):
        return "no secure connection can be made"
    return str(error) if str(error).startswith(("there is", "there can", "its name")) else "nothing answers there"
