"""What is asked of every request before any route sees it: the right Host, an allowed Origin, and CORS for browsers.

It knows headers, and no HTTP server.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from aiohttp import hdrs

from pegboard import Headers, Response
from pegboard_plugins.http import HttpConfig

_LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "[::1]", "::1"))
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
"""The headers that mirror arguments; which there are, the tools decide."""
_EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"
_PREFLIGHT_SECONDS = "600"
_FORWARDED = (hdrs.X_FORWARDED_FOR, hdrs.X_FORWARDED_HOST, hdrs.FORWARDED, "X-Real-IP", hdrs.VIA)

_NO_HOST = Response(400, b"A request has exactly one Host, and its target is a path.\n", "text/plain")
_FOREIGN_HOST = Response(
    421,
    b"This server does not answer for that host. Its operator can list it: [plugins.http] allowed_hosts.\n",
    "text/plain",
)
_FOREIGN_ORIGIN = Response(
    403,
    b"Web pages of that origin may not use this server. Its operator can list it: [plugins.http] cors_origins.\n",
    "text/plain",
)


class Edge:
    """The checks of one server.

    Args:
        config: the server's settings.
        loopback: whether only programs of this machine can reach it.
    """

    def __init__(self, config: HttpConfig, *, loopback: bool) -> None:
        self._loopback = loopback
        self._hosts = frozenset(name.lower() for name in config.allowed_hosts)
        self._own_name = socket.gethostname().lower()
        self._origins = config.origins
        self._credentials = config.cors_credentials
        self._methods = ", ".join(config.cors_methods)
        self._headers = ", ".join((*_MCP_HEADERS, *config.cors_headers))
        self._behind_socket = "unix" in config.trusted_proxies
        networks = [network for network in config.trusted_proxies if network != "unix"]
        self._proxies = [ipaddress.ip_network(network, strict=False) for network in networks]
        self._is_own = lru_cache(maxsize=64)(self._find_own)

    def refusal(self, target: str, headers: Headers, remote: str | None) -> Response | None:
        """Why a request is not for us: 421 for a foreign Host, 403 for a foreign Origin (DNS rebinding)."""
        if not _is_whole(target, headers):
            return _NO_HOST
        host = self.host(headers, remote)
        if not (self._is_own(host) or "*" in self._hosts):
            return _FOREIGN_HOST
        origins = headers.getall(hdrs.ORIGIN, ())
        if origins and not (len(origins) == 1 and self._allows(origins[0], host)):
            return _FOREIGN_ORIGIN
        return None

    def is_local(self, headers: Headers) -> bool:
        """Whether a program of this machine asks for itself: nobody else can reach us, and no proxy passes it on."""
        if not self._loopback:
            return False
        for name in _FORWARDED:
            if headers.get(name) is not None:
                return False
        return _names_loopback(headers.get(hdrs.HOST) or "")

    def host(self, headers: Headers, remote: str | None) -> str:
        """The host that the client asked for, as a proxy that is trusted says, else as the request says."""
        forwarded = headers.get(hdrs.X_FORWARDED_HOST)
        if forwarded and self._is_behind(remote):
            return forwarded.rpartition(",")[2].strip().lower()
        return (headers.get(hdrs.HOST) or "").strip().lower()

    def peer(self, headers: Headers, remote: str | None) -> str:
        """The address that a request came from, for logs: the last that no trusted proxy added."""
        forwarded = headers.getall(hdrs.X_FORWARDED_FOR, ())
        if forwarded and self._is_behind(remote):
            hops = [hop.strip() for hop in ",".join(forwarded).split(",")]
            return next((hop for hop in reversed(hops) if not self._is_proxy(hop)), hops[0])
        return remote or ""

    def _is_behind(self, remote: str | None) -> bool:
        """Whether the forwarded headers of a request from there are believed."""
        # a server with a Unix socket listens at nothing else
        return self._behind_socket or self._is_proxy(remote)

    def _is_proxy(self, address: str | None) -> bool:
        """Whether that is the address of a proxy that is trusted."""
        if not self._proxies:
            return False
        try:
            found = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        return any(found in network for network in self._proxies)

    def _find_own(self, host: str) -> bool:
        """Whether a host is surely this server: a name that its operator gave, or one that no foreigner can take."""
        name = _without_port(host)
        if name in _LOOPBACK_NAMES or host in self._hosts or name in self._hosts:
            return True
        return not self._loopback and (name == self._own_name or _is_address(name))

    def _allows(self, origin: str, host: str) -> bool:
        """Whether a web page of that origin may use the server whose host it called."""
        origin = origin.strip().rstrip("/").lower()
        if origin == "null":
            return False
        if origin in self._origins or "*" in self._origins:
            return True
        if not origin.startswith(("http://", "https://")):
            return False
        authority = _authority(origin)
        own = authority == host and self._is_own(host)
        return own or (self._loopback and _without_port(authority) in _LOOPBACK_NAMES)

    def cors(self, headers: Headers) -> Mapping[str, str]:
        """The header fields by which a browser learns that a page may read the response; empty for all others."""
        if not self._origins:
            return {}
        origin = headers.get(hdrs.ORIGIN)
        if origin is None:
            return {"Vary": "Origin"}
        listed = origin.strip().rstrip("/").lower() in self._origins
        if not listed and "*" not in self._origins:
            return {"Vary": "Origin"}
        fields = {
            "Access-Control-Allow-Origin": origin if listed else "*",
            "Access-Control-Expose-Headers": _EXPOSED,
            "Vary": "Origin",
        }
        return {**fields, "Access-Control-Allow-Credentials": "true"} if self._credentials and listed else fields

    def preflight(self, headers: Headers) -> Response:
        """The answer to a browser that asks before it sends (Fetch, CORS-preflight), but for the fields of `cors`."""
        if "Access-Control-Allow-Origin" not in self.cors(headers):
            return Response(204)
        allowed = {
            "Access-Control-Allow-Methods": self._methods,
            "Access-Control-Allow-Headers": ", ".join((self._headers, *_mirrored(headers))),
            "Access-Control-Max-Age": _PREFLIGHT_SECONDS,
        }
        return Response(204, headers=allowed)


def _mirrored(headers: Headers) -> Sequence[str]:
    """The headers for arguments that a browser asks for; the origin has been found to be a listed one."""
    asked = ",".join(headers.getall("Access-Control-Request-Headers", ())).split(",")
    return [name.strip() for name in asked if _MIRRORED.fullmatch(name.strip())]


def _is_whole(target: str, headers: Headers) -> bool:
    """Whether a request says once, and in one way only, which host it is for (RFC 9112 section 3.2)."""
    hosts = headers.getall(hdrs.HOST, ())
    if len(hosts) != 1:
        return False
    return target.startswith("/") or target == "*" or _authority(target) == hosts[0].strip().lower()


def _authority(target: str) -> str:
    try:
        return urlsplit(target).netloc.lower()
    except ValueError:
        return ""


@lru_cache(maxsize=64)
def _names_loopback(host: str) -> bool:
    return _without_port(host).lower() in _LOOPBACK_NAMES


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return False
