"""Conversion of the settings of operators and of arcade-mcp to the plugin's settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pegboard_plugins.support.bearer import checked_scopes
from pegboard_plugins.support.loopback import is_loopback

_VERIFIED = ("verify_exp", "verify_iat", "verify_iss", "verify_nbf")


def as_list(value: Any) -> Any:
    """Return names as a list. A string has names separated by spaces."""
    return [word for word in value.split(" ") if word] if isinstance(value, str) else value


def checked_implied(implied: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Return implied scopes unchanged.

    Raises:
        ValueError: a scope is invalid (RFC 6749, section 3.3).
    """
    checked_scopes((*implied, *(scope for scopes in implied.values() for scope in scopes)))
    return implied


def with_implied(scopes: Iterable[str], implied: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return scopes with all scopes that they imply, directly or indirectly."""
    result: set[str] = set()
    following = list(scopes)
    while following:
        scope = following.pop()
        if scope not in result:
            result.add(scope)
            following += implied.get(scope, ())
    return frozenset(result)


def as_servers(value: Any) -> Any:
    """Return a list of servers, parsed from JSON if it is a string."""
    if not isinstance(value, str):
        return value
    try:
        servers = json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError("must be a list of tables, or a JSON list") from None
    if isinstance(servers, list) and any(
        isinstance(server, Mapping) and "introspection" in server for server in servers
    ):
        raise ValueError(
            "introspection has a secret, which must not be in this variable: use a table in hostconfig.toml"
        )
    return servers


def as_server(section: Any) -> Any:
    """Return the settings of a server with the names of the existing system translated.

    Raises:
        ValueError: a check is switched off, which is not supported.
    """
    if not isinstance(section, Mapping):
        return section
    server = dict(section)
    for existing, own in (("authorization_server_url", "url"), ("expected_audiences", "audiences")):
        if existing in server:
            value = server.pop(existing)
            server.setdefault(own, value if value is not None else ())
    if "algorithm" in server:
        server.setdefault("algorithms", [server.pop("algorithm")])
    if isinstance(algorithms := server.get("algorithms"), list | tuple):
        server["algorithms"] = ["EdDSA" if algorithm == "Ed25519" else algorithm for algorithm in algorithms]
    options = server.pop("validation_options", None) or {}
    for name in _VERIFIED:
        if options.get(name) is False:
            raise ValueError(f"{name} = false is not supported: tokens are always checked")
    if "leeway" in options:
        server.setdefault("leeway_seconds", options["leeway"])
    return server


def checked_url(url: str) -> str:
    """Return a URL unchanged if tokens and keys may be sent to it.

    Raises:
        ValueError: the URL is invalid, or neither https nor on this machine.
    """
    problem = url_problem(url)
    if problem is not None:
        raise ValueError(problem)
    return url


def url_problem(url: str) -> str | None:
    """Return the problem of a URL for tokens or keys, or None if there is none."""
    try:
        parts = urlsplit(url)
        name = parts.hostname
        _ = parts.port
    except ValueError:
        return "invalid URL"
    if not name or not url.isascii() or not url.isprintable() or any(character in url for character in ' "\\<>'):
        return "invalid URL: use one such as https://tools.example.com/mcp"
    if "@" in parts.netloc or "#" in url or "?" in url:
        return "the URL must not have a user, a query or a fragment"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(name)):
        return None
    return "the URL must be https: only servers on this machine may use http"


def is_on_this_machine(url: str) -> bool:
    """Return True if a URL names this machine."""
    return is_loopback(urlsplit(url).hostname or "")


def path_of(url: str) -> str:
    """Return the path of a URL, or "" for none."""
    return urlsplit(url).path


def host_of(url: str) -> str:
    """Return the host of a URL, without its port."""
    name = urlsplit(url).hostname or ""
    return f"[{name}]" if ":" in name else name


def canonical_url(url: str) -> str:
    """Return a URL with scheme and host in small letters (RFC 3986, section 6.2.2.1)."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}://{host.lower()}{slash}{path}" if separator else url
