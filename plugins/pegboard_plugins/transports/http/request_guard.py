"""Checks of every request before any route sees it: the Host, the Origin, and CORS for browsers.

The checks depend on headers only, not on an HTTP server.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from multidict import istr

from pegboard.types import Headers, Response
from pegboard_plugins.transports.http.authority import is_same_host, parse_authority, parse_origin
from pegboard_plugins.transports.http.settings import HttpConfig

_HOST, _ORIGIN = istr("Host"), istr("Origin")  # a lookup by an istr is faster than by a string
_FORWARDED_FOR, _FORWARDED_HOST = istr("X-Forwarded-For"), istr("X-Forwarded-Host")

_MCP_HEADERS = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Session-Id",
)
_MIRRORED = re.compile(r"mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+", re.IGNORECASE)
"""The names of headers that mirror arguments of tools."""
_PATH = re.compile(r"[/?#].*", re.DOTALL)
_EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"
_PREFLIGHT_SECONDS = "600"
_FORWARDING_HEADERS = (
    *(_FORWARDED_FOR, _FORWARDED_HOST, istr("Forwarded"), istr("X-Real-IP"), istr("Via")),
    *(_ORIGIN, istr("Sec-Fetch-Site")),
)
"""The headers that proxies and browsers add to the requests that they pass on."""
_NO_FORWARDING = (None,) * len(_FORWARDING_HEADERS)

_NO_HOST = Response(
    status=400, body=b"Send exactly one Host header, and a path as the request target.\n", content_type="text/plain"
)
_FOREIGN_HOST = Response(
    status=421,
    body=b"This server does not serve that host. The operator can add the host to [plugins.http] allowed_hosts.\n",
    content_type="text/plain",
)
_FOREIGN_ORIGIN = Response(
    status=403,
    body=b"Web pages of that origin are not allowed to use this server. "
    b"The operator can add the origin to [plugins.http] cors_origins.\n",
    content_type="text/plain",
)
_NOT_LOCAL = Response(
    status=403,
    body=b"Only clients of this machine are served. "
    b"The operator can add the names of the server to [plugins.http] allowed_hosts.\n",
    content_type="text/plain",
)


_origin = lru_cache(maxsize=64)(parse_origin)


class RequestGuard:
    """The checks of one server.

    Args:
        config: the server's settings.
        loopback: True if only programs of this machine can reach the server.
        public_hosts: further hosts of the server.
        only_local: refuse clients whose address is not loopback.

    Attributes:
        has_cors: True if responses have header fields of `cors`.
        has_proxies: True if the forwarded headers of some clients are trusted.
    """

    def __init__(
        self, config: HttpConfig, *, loopback: bool, public_hosts: Collection[str] = (), only_local: bool = False
    ) -> None:
        self._only_local = only_local
        self._loopback = loopback
        self._any_host = "*" in config.allowed_hosts
        own = () if loopback else (socket.gethostname(),)
        self._hosts = frozenset(map(parse_authority, (*config.allowed_hosts, *public_hosts, *own)))
        self._any_origin = "*" in config.origins
        self._origins = frozenset(map(parse_origin, config.origins)) - {None}
        self.has_cors = self._any_origin or bool(self._origins)
        self._credentials = config.cors_credentials
        self._methods = ", ".join(config.cors_methods)
        self._headers = ", ".join((*_MCP_HEADERS, *config.cors_headers))
        self._behind_socket = "unix" in config.trusted_proxies
        networks = [network for network in config.trusted_proxies if network != "unix"]
        self._proxies = [ipaddress.ip_network(network, strict=False) for network in networks]
        self.has_proxies = bool(config.trusted_proxies)
        self._is_own = lru_cache(maxsize=64)(self._find_own)

    def refusal(self, target: str, headers: Headers, remote: str | None) -> Response | None:
        """Return 421 for a foreign Host, and 403 for a foreign Origin (DNS rebinding) or client.

        Return None for other requests.
        """
        hosts = headers.getall(_HOST, ())
        if len(hosts) != 1 or not (target.startswith("/") or target == "*" or _names_host(target, hosts[0])):
            return _NO_HOST  # RFC 9112 section 3.2
        host = (self.forwarded_host(headers, remote) if self.has_proxies else "") or hosts[0].strip()
        if not (self._is_own(host) or (self._any_host and parse_authority(host) is not None)):
            return _FOREIGN_HOST
        origins = headers.getall(_ORIGIN, ())
        if origins and not (len(origins) == 1 and self._allows(origins[0], host)):
            return _FOREIGN_ORIGIN
        return _NOT_LOCAL if self._only_local and not _is_loopback(remote) else None

    def is_direct(self, headers: Headers) -> bool:
        """Return True if the headers show no proxy and no web page, and the Host is loopback."""
        if tuple(map(headers.get, _FORWARDING_HEADERS)) != _NO_FORWARDING:
            return False
        return _names_loopback(headers.get(_HOST) or "")

    def forwarded_host(self, headers: Headers, remote: str | None) -> str:
        """Return the requested host that a trusted proxy forwards, or ""."""
        forwarded = headers.get(_FORWARDED_HOST) if self.has_proxies else None
        return forwarded.rpartition(",")[2].strip() if forwarded and self._is_behind(remote) else ""

    def peer(self, headers: Headers, remote: str | None) -> str:
        """Return the client's address for logs: the last address that is not a trusted proxy."""
        forwarded = headers.getall(_FORWARDED_FOR, ()) if self.has_proxies else ()
        if forwarded and self._is_behind(remote):
            hops = [_address(hop.strip()) for hop in ",".join(forwarded).split(",")]
            return next((hop for hop in reversed(hops) if not self._is_proxy(hop)), hops[0])
        return remote or ""

    def _is_behind(self, remote: str | None) -> bool:
        """Return True if the forwarded headers of a request from this address are trusted."""
        # a server with a Unix socket listens on nothing else
        return self._behind_socket or self._is_proxy(remote)

    def _is_proxy(self, address: str | None) -> bool:
        """Return True if this is the address of a trusted proxy."""
        if not self._proxies:
            return False
        try:
            parsed = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        return any(parsed in network for network in self._proxies)

    def _find_own(self, host: str) -> bool:
        """Return True if a host is this server: a configured name, or a name that no other server can have."""
        authority = parse_authority(host)
        if authority is None:
            return False
        if authority.is_loopback or authority in self._hosts or authority._replace(port=None) in self._hosts:
            return True
        return not self._loopback and authority.is_address

    def _allows(self, text: str, host: str) -> bool:
        """Return True if a web page of the origin may use the server."""
        origin = _origin(text)
        if origin is None:
            return False
        if origin in self._origins or self._any_origin:
            return True
        if origin.scheme not in ("http", "https"):
            return False
        authority = parse_authority(host)
        own = authority is not None and is_same_host(origin, authority) and self._is_own(host)
        return own or (self._loopback and origin.authority.is_loopback)

    def cors(self, headers: Headers) -> Mapping[str, str]:
        """Return the header fields that allow a page to read the response. Empty for other requests."""
        if not self.has_cors:
            return {}
        origin = headers.get(_ORIGIN)
        if origin is None:
            return {"Vary": "Origin"}
        listed = _origin(origin) in self._origins
        if not listed and not self._any_origin:
            return {"Vary": "Origin"}
        fields = {
            "Access-Control-Allow-Origin": origin if listed else "*",
            "Access-Control-Expose-Headers": _EXPOSED,
            "Vary": "Origin",
        }
        return {**fields, "Access-Control-Allow-Credentials": "true"} if self._credentials and listed else fields

    def preflight(self, headers: Headers) -> Response:
        """Return the response to a CORS preflight request (Fetch), without the fields of `cors`."""
        if "Access-Control-Allow-Origin" not in self.cors(headers):
            return Response(204)
        allowed = {
            "Access-Control-Allow-Methods": self._methods,
            "Access-Control-Allow-Headers": ", ".join((self._headers, *_mirrored(headers))),
            "Access-Control-Max-Age": _PREFLIGHT_SECONDS,
        }
        return Response(204, headers=allowed)


def _mirrored(headers: Headers) -> Sequence[str]:
    """Return the requested headers that mirror arguments. The caller must have checked the origin."""
    names = ",".join(headers.getall("Access-Control-Request-Headers", ())).split(",")
    return [name.strip() for name in names if _MIRRORED.fullmatch(name.strip())]


def _names_host(target: str, host: str) -> bool:
    """Return True if a target in absolute form names the same host as the header field."""
    scheme, _, rest = target.partition("://")
    named = parse_origin(f"{scheme}://{_PATH.sub('', rest)}")
    authority = parse_authority(host.strip())
    return named is not None and authority is not None and is_same_host(named, authority)


@lru_cache(maxsize=64)
def _names_loopback(host: str) -> bool:
    authority = parse_authority(host.strip())
    return authority is not None and authority.is_loopback


def _address(hop: str) -> str:
    """Return the address in an entry of a forwarded header, without the port that some proxies add."""
    authority = parse_authority(hop)
    return authority.name.strip("[]") if authority is not None and authority.is_address else hop


def _is_loopback(address: str | None) -> bool:
    """Return True if a client is on this machine. A client with an unknown address may be anywhere."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback
