"""The addresses that a host may connect to for strangers (server-side request forgery)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that contain an IPv4 address (RFC 6052)."""
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
"""Addresses that contain an IPv4 address of the local network (RFC 8215)."""


def is_public(address: str) -> bool:
    """Return True if an IP address is public. An IPv4 address inside an IPv6 address decides."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        if found in _LOCAL_NAT64:
            return False
        in_nat64 = IPv4Address(int(found) & 0xFFFFFFFF) if found in _NAT64 else None
        found = in_nat64 or found.ipv4_mapped or found.sixtofour or found
    return found.is_global and not found.is_multicast
