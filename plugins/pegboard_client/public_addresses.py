"""The addresses that a host may connect to for strangers (server-side request forgery)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that contain an IPv4 address (RFC 6052)."""
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
"""Addresses that contain an IPv4 address of the local network (RFC 8215)."""


def is_public(address: str) -> bool:
    """Return True if an IP address is public. An IPv4 address inside an IPv6 address decides."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed in _LOCAL_NAT64:
            return False
        in_nat64 = IPv4Address(int(parsed) & 0xFFFFFFFF) if parsed in _NAT64 else None
        parsed = in_nat64 or parsed.ipv4_mapped or parsed.sixtofour or parsed
    return parsed.is_global and not parsed.is_multicast
