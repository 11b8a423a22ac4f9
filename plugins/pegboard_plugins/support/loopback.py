"""Hosts of this machine."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return True if only this machine reaches a host, a name or an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
