"""What an operator may write into LUMINA_WEB_ALLOW, and what it means."""

from ipaddress import ip_address, ip_network

import pytest

from lumina.adapters.net.reach import Allowed, ConfiguredReach, Refused
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


def test_a_configured_reach_is_one_name_and_port_at_any_address_but_a_group_s() -> None:
    reach = ConfiguredReach(name="inner.test", port=8080)
    reach.check_addresses("inner.test", 8080, [ip_address("127.0.0.1"), ip_address("10.0.0.5"), ip_address("::1")])
    for name, port in (("inner.test", 80), ("other.test", 8080)):
        with pytest.raises(Refused, match="away from"):
            reach.check_target(name, port)
        with pytest.raises(Refused, match="away from"):
            reach.check_addresses(name, port, [ip_address("127.0.0.1")])
    for group in ("224.0.0.1", "ff02::1", "::ffff:224.0.0.1"):
        with pytest.raises(Refused, match="many receivers"):
            reach.check_addresses("inner.test", 8080, [ip_address(group)])
