"""The check of `pegboard doctor` for authorization servers. It sends what the running server sends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from pegboard.plugin import CommandContext, Finding
from pegboard_client import SignatureKeys
from pegboard_plugins.auth.resource_server.documents import FetchError, fetch_keys, late
from pegboard_plugins.auth.resource_server.introspection import Introspector
from pegboard_plugins.auth.resource_server.keys import signature_keys
from pegboard_plugins.auth.resource_server.settings import AuthorizationServer, ResourceServerConfig

_PROBE = "pegboard-doctor"
"""A token that no server knows."""


def check_issuers(command: CommandContext) -> Iterable[Finding]:
    """Report what each authorization server offers to the validation of tokens, or why it offers nothing."""
    if command.options.no_wait:
        return [Finding("ok", "not asked, because of --no-wait")]
    return asyncio.run(_findings(command.settings))


async def _findings(config: ResourceServerConfig) -> Iterable[Finding]:
    return await asyncio.gather(*(_finding(server, config) for server in config.authorization_servers))


async def _finding(server: AuthorizationServer, config: ResourceServerConfig) -> Finding:
    try:
        offered = await _offer(server, config)
    except FetchError as error:
        return Finding("error", f"{server.issuer}: {error}", error.fix)
    return Finding("ok", f"{server.issuer}: {offered}")


async def _offer(server: AuthorizationServer, config: ResourceServerConfig) -> str:
    """Return what a server offers, or raise a `FetchError`."""
    if server.introspection is None:
        return _usable(signature_keys(await fetch_keys(server, config.fetch_seconds)), server.algorithms)
    try:
        async with asyncio.timeout(config.fetch_seconds):
            await Introspector(server, server.introspection, config).ask(_PROBE)
    except TimeoutError:
        raise late(config.fetch_seconds) from None
    return "it answers introspection requests"


def _usable(keys: SignatureKeys, algorithms: Iterable[str]) -> str:
    """Return the number of keys for accepted algorithms, or raise a `FetchError` if there is none."""
    alone = [SignatureKeys([member]) for member in keys.members]
    count = sum(any(key.find(None, algorithm) for algorithm in algorithms) for key in alone)
    if not count:
        others = [algorithm for algorithm in SignatureKeys.ALGORITHMS if keys.find(None, algorithm)]
        fix = f"add one of these to algorithms: {', '.join(others)}" if others else "check jwks_uri"
        raise FetchError(f"no key of the key set fits the accepted algorithms {', '.join(algorithms)}", fix)
    return f"{count} usable key{'s' if count > 1 else ''}"
