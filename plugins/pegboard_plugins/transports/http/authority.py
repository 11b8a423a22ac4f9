"""Host and Origin of requests. A string is parsed as a whole, or rejected.

The grammar is narrower than that of URIs (RFC 3986): no user, percent-encoding, zone or short form of an address.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

_AUTHORITY = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::(?P<port>[0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label that makes browsers read the whole name as an IPv4 address (WHATWG URL, "ends in a number")."""
_ORIGIN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>[^/?#]+)")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_NAME_CHARACTERS = 253
_MAX_LABEL_CHARACTERS = 63
_MAX_PORT = 65535


class Authority(NamedTuple):
    """A host and its port.

    Attributes:
        name: the name in lower case, or the address in its canonical form; IPv6 in brackets.
        port: the port, or None if the string has no port.
        is_address: True if the name is an IP address.
    """

    name: str
    port: int | None = None
    is_address: bool = False

    @property
    def is_loopback(self) -> bool:
        """True if the name is a loopback name or address on every machine."""
        if self.name == "localhost" or self.name == "[::1]":
            return True
        return self.is_address and self.name.startswith("127.")


class WebOrigin(NamedTuple):
    """A web origin (RFC 6454).

    Attributes:
        scheme: the scheme in lower case.
        authority: the host and the port, or None for the default port of the scheme.
    """

    scheme: str
    authority: Authority


def parse_authority(text: str) -> Authority | None:
    """Parse a host with an optional port. Return None for any other string."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port <= _MAX_PORT:
        return None
    name = match["name"].lower()
    return _literal(name, port) if name.startswith("[") else _name(name, port)


def parse_origin(text: str) -> WebOrigin | None:
    """Parse an origin such as "https://app.example". Return None for any other string, and for "null"."""
    match = _ORIGIN.fullmatch(text)
    authority = None if match is None or match["rest"].endswith(":") else parse_authority(match["rest"])
    if match is None or authority is None:
        return None
    scheme = match["scheme"].lower()
    if authority.port == _DEFAULT_PORTS.get(scheme):
        authority = authority._replace(port=None)
    return WebOrigin(scheme, authority)


def is_same_host(origin: WebOrigin, host: Authority) -> bool:
    """Return True if a page called the server that it was loaded from."""
    if host.port == _DEFAULT_PORTS.get(origin.scheme):
        host = host._replace(port=None)
    return origin.scheme in _DEFAULT_PORTS and origin.authority == host


def _literal(name: str, port: int | None) -> Authority | None:
    try:
        return Authority(f"[{IPv6Address(name[1:-1])}]", port, is_address=True)
    except ValueError:
        return None


def _name(name: str, port: int | None) -> Authority | None:
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return Authority(str(IPv4Address(name)), port, is_address=True)
        except ValueError:
            return None
    if len(name) > _MAX_NAME_CHARACTERS or not all(
        len(label) <= _MAX_LABEL_CHARACTERS and _LABEL.fullmatch(label) for label in labels
    ):
        return None
    return Authority(name, port)
