"""Case N1: what is dialled is a public unicast address, in whatever spelling it was asked for.

The first table goes through the whole web door: the parser, a resolver that answers as this machine's would, the rule.
The second asks the rule alone about addresses that no literal in a link needs to hold.
"""

from ipaddress import ip_address

import pytest

from lumina.adapters.net.doors import web_door
from lumina.adapters.net.pools import Surroundings
from lumina.adapters.net.public_addresses import why_not_public
from lumina.memory.errors import ProviderError

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "metadata.google.internal": ["169.254.169.254"],
    "127.0.0.1.nip.test": ["127.0.0.1"],
    "rebound.test": ["93.184.216.34", "10.0.0.5"],  # one of several
    "six.test": ["2606:2800:220:1::1", "fe80::1%eth0"],
    "mapped.test": ["::ffff:192.168.1.1"],
    "intranet": ["172.20.0.9"],
    "xn--mnchen-3ya.test": ["0.0.0.0"],
}

BLOCKED = """
http://127.0.0.1/ http://127.0.0.1:443/ https://127.0.0.1/ http://127.255.255.254/ http://2130706433/ http://0x7f000001/
http://0x7f.0.0.1/ http://0x7f.1/ http://0177.0.0.1/ http://017700000001/ http://127.1/ http://127.0.1/ http://0/
http://0.0.0.0/ http://0x0/ http://00000177.1/ http://127.0.0.1./ http://%31%32%37.0.0.1/ http://127%2e0%2e0%2e1/
http://127。0。0。1/ http://127．0．0．1/ http://①②⑦.0.0.1/ http://１２７.０.０.１/ http://[::1]/ http://[::]/
http://[0:0:0:0:0:0:0:1]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[0:0:0:0:0:ffff:7f00:1]/
http://[::127.0.0.1]/ http://[::7f00:1]/ http://[64:ff9b::7f00:1]/ http://[64:ff9b::10.0.0.1]/ http://[64:ff9b:1::1]/
http://[2002:7f00:1::]/ http://[2002:0a00:0001::1]/ http://[2001:0:53aa:64c:0:0:80ff:fffe]/ http://[2001::1]/
http://[fc00::1]/ http://[fd00:ec2::254]/ http://[fe80::1]/ http://[fec0::1]/ http://[ff02::1]/ http://[2001:db8::1]/
http://[3fff::1]/ http://[4000::1]/ http://[::ffff:169.254.169.254]/ http://10.0.0.1/ http://10.255.255.255/
http://172.16.0.1/ http://172.31.255.255/ http://192.168.0.1/ http://0xc0a80001/ http://3232235521/
http://169.254.169.254/ http://0xa9fea9fe/ http://2852039166/ http://0251.0376.0251.0376/ http://100.64.0.1/
http://100.100.100.200/ http://192.0.0.192/ http://198.18.0.1/ http://192.0.2.1/ http://203.0.113.9/ http://224.0.0.1/
http://239.255.255.250/ http://240.0.0.1/ http://255.255.255.255/ http://168.63.129.16/ http://localhost/
http://LOCALHOST/ http://localhost./ http://ⓛocalhost/ http://metadata.google.internal/ http://127.0.0.1.nip.test/
http://rebound.test/ http://six.test/ http://mapped.test/ http://intranet/ http://münchen.test/ http:\\\\127.0.0.1/
http:///127.0.0.1/ http://93.184.216.34:8080/ http://93.184.216.34:22/ http://93.184.216.34:0/
""".split()


async def answers(name: str, port: int) -> list[str]:
    return NAMES[name]


def test_N1_the_table_is_long_enough_to_mean_something() -> None:
    assert len(set(BLOCKED)) >= 80


@pytest.mark.parametrize("spelling", BLOCKED)
async def test_N1_no_spelling_of_an_inner_address_is_dialled(spelling: str) -> None:
    """Were one dialled, the suite's guard on sockets would fail the test, and a refused connection would read
    otherwise."""
    with pytest.raises(ProviderError, match=r"was not asked: (its address is not a public one|only the ports)") as told:
        await web_door(around=Surroundings(resolver=answers)).send("GET", spelling)
    assert not told.value.retry


@pytest.mark.parametrize(
    "address",
    """0.1.2.3 100.127.255.255 192.88.99.1 198.19.255.255 198.51.100.1 ::ffff:100.64.0.1 ::ffff:224.0.0.1 100:: 1::1
    64:ff9b::e000:1 64:ff9b::6440:1 2001:1::1 2001:20::1 2001:1ff::1 2002:808:808::1 2001:0:808:808::1 ::8.8.8.8
    febf::1 feff::1 fdff::1 ff0e::1 5f00::1 8000::1 fe00::1 2620:4f:8000::1""".split(),
)
def test_N1_an_address_that_is_not_public_unicast_is_told(address: str) -> None:
    assert why_not_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    """8.8.8.8 1.1.1.1 93.184.216.34 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0
    223.255.255.255 11.0.0.0 168.63.129.17 2606:4700::1111 2a00:1450:4001::200e 2001:200::1 2001:4860:4860::8888
    ::ffff:8.8.8.8 64:ff9b::808:808 3ffe::1""".split(),
)
def test_a_public_address_is_let_through(address: str) -> None:
    assert why_not_public(ip_address(address)) == ""
