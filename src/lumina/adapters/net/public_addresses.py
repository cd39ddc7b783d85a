"""Which IP addresses are public: a rule that allows, and refuses all it does not know.

`ipaddress.is_global` passes multicast, NAT64, 6to4 and site-local addresses, so the ranges stand here, after the IANA
registries of special-purpose addresses (RFC 6890 and its updates). An IPv4 address inside an IPv6 one is judged as
itself where such addresses are in use (mapped, NAT64); elsewhere it has no honest reason to be there.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Within IPv4 everything is public but these.
SPECIAL_V4 = {
    IPv4Network(network): told
    for network, told in {
        "0.0.0.0/8": "this machine",
        "10.0.0.0/8": "a private network",
        "100.64.0.0/10": "a provider's inner network",
        "127.0.0.0/8": "this machine",
        "168.63.129.16/32": "a cloud's control service",  # Azure's, within a public range
        "169.254.0.0/16": "the local link",  # where clouds answer with a machine's own keys
        "172.16.0.0/12": "a private network",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "for documentation only",
        "192.31.196.0/24": "reserved",
        "192.52.193.0/24": "reserved",
        "192.88.99.0/24": "reserved",
        "192.168.0.0/16": "a private network",
        "192.175.48.0/24": "reserved",
        "198.18.0.0/15": "for tests of networks only",
        "198.51.100.0/24": "for documentation only",
        "203.0.113.0/24": "for documentation only",
        "224.0.0.0/4": "for many receivers",
        "240.0.0.0/4": "reserved",
    }.items()
}
# Within IPv6 nothing is public but global unicast, and of that not these.
GLOBAL_V6 = IPv6Network("2000::/3")
SPECIAL_V6 = {
    IPv6Network(network): told
    for network, told in {
        "2001::/32": "a tunnel (Teredo)",
        "2001::/23": "reserved",
        "2001:db8::/32": "for documentation only",
        "2002::/16": "a tunnel (6to4)",
        "2620:4f:8000::/48": "reserved",
        "3fff::/20": "for documentation only",
    }.items()
}
NOT_GLOBAL_V6 = {
    IPv6Network(network): told
    for network, told in {
        "::/128": "this machine",
        "::1/128": "this machine",
        "::/96": "an IPv4 address in disguise",
        "64:ff9b:1::/48": "a private network",
        "fc00::/7": "a private network",
        "fe80::/10": "the local link",
        "fec0::/10": "a private network",
        "ff00::/8": "for many receivers",
    }.items()
}
MAPPED = IPv6Network("::ffff:0:0/96")
TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64: how a network without IPv4 reaches what has nothing else


def why_not_public(address: Address) -> str:
    """What `address` is instead of a public unicast address, or ""."""
    address = unwrapped(address)
    if isinstance(address, IPv4Address):
        return _within(address, SPECIAL_V4)
    if address not in GLOBAL_V6:
        return _within(address, NOT_GLOBAL_V6) or "reserved"
    return _within(address, SPECIAL_V6)


def unwrapped(address: Address) -> Address:
    """The IPv4 address inside a mapped or translated one; any other as it is."""
    if isinstance(address, IPv6Address) and (address in MAPPED or address in TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def read_address(text: str) -> Address | None:
    """The IP address that `text` is, in its plain spelling; None for a name. A zone (%eth0) belongs to no address that
    may be reached, and is dropped before it is judged."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _within(address: Address, networks: "dict[IPv4Network, str] | dict[IPv6Network, str]") -> str:
    return next((told for network, told in networks.items() if address in network), "")
