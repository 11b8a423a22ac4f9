"""What is asked of every request before any route sees it: the right Host, an allowed Origin, and CORS for browsers.

It knows headers, and no HTTP server.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

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
_EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"
_PREFLIGHT_SECONDS = "600"


class Edge:
    """The checks of one server.

    Args:
        config: the server's settings.
        loopback: whether only programs of this machine can reach it.
    """

    def __init__(self, config: HttpConfig, *, loopback: bool) -> None:
        self._loopback = loopback
        self._hosts = frozenset(name.lower() for name in config.allowed_hosts)
        self._origins = config.origins
        self._credentials = config.cors_credentials
        self._methods = ", ".join(config.cors_methods)
        self._headers = ", ".join((*_MCP_HEADERS, *config.cors_headers))
        self._proxies = [ipaddress.ip_network(network, strict=False) for network in config.trusted_proxies]

    def refusal(self, headers: Headers, remote: str | None) -> Response | None:
        """Why a request is not for us: 421 for a foreign Host, 403 for a foreign Origin (DNS rebinding)."""
        host = self.host(headers, remote)
        if not self._serves(host):
            return Response(421, b"This server does not answer for that host.\n", "text/plain")
        origins = headers.getall("Origin", ())
        if origins and not (len(origins) == 1 and self.allows(origins[0], host)):
            return Response(403, b"This origin is not allowed.\n", "text/plain")
        return None

    def host(self, headers: Headers, remote: str | None) -> str:
        """The host that the client asked for, as a proxy that is trusted says, else as the request says."""
        if self.is_proxy(remote) and (forwarded := headers.get("X-Forwarded-Host")):
            return forwarded.split(",")[-1].strip().lower()
        values = headers.getall("Host", ())
        return values[0].strip().lower() if len(values) == 1 else ""

    def peer(self, headers: Headers, remote: str | None) -> str:
        """The address that a request came from, for logs: the last that no trusted proxy added."""
        if self.is_proxy(remote) and (forwarded := headers.get("X-Forwarded-For")):
            hops = [hop.strip() for hop in forwarded.split(",")]
            return next((hop for hop in reversed(hops) if not self.is_proxy(hop)), hops[0])
        return remote or ""

    def is_proxy(self, address: str | None) -> bool:
        """Whether forwarded headers from there are believed."""
        if not self._proxies or not address:
            return False
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._proxies)

    def _serves(self, host: str) -> bool:
        name = _without_port(host)
        if host in self._hosts or name in self._hosts:
            return True
        if self._loopback:
            return name in _LOOPBACK_NAMES
        return bool(host) and not self._hosts

    def allows(self, origin: str, host: str) -> bool:
        """Whether a web page of that origin may use the server whose host it called."""
        origin = origin.strip().rstrip("/").lower()
        if origin in self._origins or ("*" in self._origins and origin != "null"):
            return True
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https"):
            return False
        return parts.netloc == host or (self._loopback and _without_port(parts.netloc) in _LOOPBACK_NAMES)

    def cors(self, headers: Headers) -> Mapping[str, str]:
        """The header fields by which a browser learns that a page may read the response; empty for all others."""
        origin = headers.get("Origin")
        if origin is None or not self._origins:
            return {}
        listed = origin.strip().rstrip("/").lower() in self._origins
        if not listed and "*" not in self._origins:
            return {}
        fields = {
            "Access-Control-Allow-Origin": origin if listed else "*",
            "Access-Control-Expose-Headers": _EXPOSED,
            "Vary": "Origin",
        }
        return {**fields, "Access-Control-Allow-Credentials": "true"} if self._credentials and listed else fields

    def preflight(self, headers: Headers) -> Response:
        """The answer to a browser that asks before it sends (Fetch, CORS-preflight)."""
        allowed = self.cors(headers)
        if allowed:
            allowed = {
                **allowed,
                "Access-Control-Allow-Methods": self._methods,
                "Access-Control-Allow-Headers": self._headers,
                "Access-Control-Max-Age": _PREFLIGHT_SECONDS,
            }
        return Response(204, headers=allowed)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if host.count(":") == 1 else host
