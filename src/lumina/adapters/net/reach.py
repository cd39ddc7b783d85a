"""How far a door leads: which names, ports and addresses it may go to.

Asked twice: about the name and port before anything is looked up, and about every address that the name turned out to
have. One address that may not be reached refuses all of them, because whoever answers the question for the name chose
the whole set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Protocol

from lumina.adapters.net.public_addresses import Address, Network, unwrapped, why_not_public
from lumina.agent.web_address import PORTS, WebAddress
from lumina.memory.errors import UsageError


class Refused(Exception):
    """The guard does not let a request out; the text says why, for a person."""


class Reach(Protocol):
    """What a connection is asked about. Raises Refused."""

    def check_target(self, name: str, port: int) -> None:
        """May this host and port be asked for at all?"""
        ...

    def check_addresses(self, name: str, port: int, addresses: Sequence[Address]) -> None:
        """May these be dialled, all that the name stands for?"""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What of a local network the web door may reach too (LUMINA_WEB_ALLOW). `hosts`: names with the ports that are
    open there; `networks`: addresses, on the web's own ports."""

    hosts: frozenset[tuple[str, int]] = frozenset()
    networks: tuple[Network, ...] = ()

    @staticmethod
    def of(text: str) -> "Allowed":
        """From names, names with a port, addresses and networks (CIDR), separated by commas. Raises UsageError with
        the part that is none of these."""
        hosts: set[tuple[str, int]] = set()
        networks: list[Network] = []
        for part in (each.strip() for each in text.split(",")):
            if not part:
                continue
            try:
                networks.append(ip_network(part))
                continue
            except ValueError:
                pass
            try:
                address = WebAddress.of(f"http://{part}/")
            except UsageError:
                address = None
            if address is None or address.target != "/" or "/" in part:
                raise UsageError(
                    f"{part!r} is no host, host:port, IP address or network such as 10.0.0.0/24 (its first address)."
                )
            ports = {address.port} if part.endswith(f":{address.port}") else set(PORTS.values())
            hosts |= {(address.name.removesuffix("."), port) for port in ports}
        return Allowed(hosts=frozenset(hosts), networks=tuple(networks))


@dataclass(frozen=True, slots=True, kw_only=True)
class WebReach:
    """Public addresses on the web's own ports, and what an operator allowed beside them."""

    allowed: Allowed = Allowed()

    def check_target(self, name: str, port: int) -> None:
        if port not in PORTS.values() and (name, port) not in self.allowed.hosts:
            raise Refused(f"only the ports {' and '.join(map(str, PORTS.values()))} are opened, not {port}")

    def check_addresses(self, name: str, port: int, addresses: Sequence[Address]) -> None:
        self.check_target(name, port)
        if (name, port) in self.allowed.hosts:
            return
        for address in addresses:
            why = why_not_public(address)
            if why and not any(unwrapped(address) in network for network in self.allowed.networks):
                raise Refused(
                    f"its address is not a public one ({why}). Lumina's settings can allow it: LUMINA_WEB_ALLOW"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredReach:
    """One host and port, wherever it is: this machine and the local network included."""

    name: str
    port: int

    def check_target(self, name: str, port: int) -> None:
        if (name, port) != (self.name, self.port):
            raise Refused("it leads away from the address that was set")

    def check_addresses(self, name: str, port: int, addresses: Sequence[Address]) -> None:
        self.check_target(name, port)
        if any(unwrapped(address).is_multicast for address in addresses):
            raise Refused("its address is for many receivers")
