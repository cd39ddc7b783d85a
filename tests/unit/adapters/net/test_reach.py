"""What an operator may write into LUMINA_WEB_ALLOW, and what it means."""

from ipaddress import ip_network

import pytest

from lumina.adapters.net.reach import Allowed
from lumina.memory.errors import UsageError


def test_hosts_hosts_with_a_port_addresses_and_networks_are_read() -> None:
    allowed = Allowed.of("Wiki.LAN., wiki.lan:8090,bücher.lan , 10.1.2.0/24, 192.168.7.7, fd00::/8,, [fd00::1]:8080")
    assert allowed.hosts == {
        ("wiki.lan", 80), ("wiki.lan", 443), ("wiki.lan", 8090), ("xn--bcher-kva.lan", 80),
        ("xn--bcher-kva.lan", 443), ("fd00::1", 8080),
    }  # fmt: skip
    assert allowed.networks == tuple(map(ip_network, ("10.1.2.0/24", "192.168.7.7/32", "fd00::/8")))
    assert Allowed.of("") == Allowed()


@pytest.mark.parametrize(
    "part", ["10.1.2.3/24", "http://wiki.lan", "wiki.lan/docs", "*.lan", "me:x@wiki.lan", "wiki.lan:99999", "a b", "?"]
)
def test_a_part_that_means_nothing_is_told(part: str) -> None:
    with pytest.raises(UsageError, match="is no host"):
        Allowed.of(f"wiki.lan,{part}")
