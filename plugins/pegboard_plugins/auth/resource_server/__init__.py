"""An OAuth 2.1 resource server: the MCP endpoint accepts access tokens of the configured authorization servers.

This module only describes the plugin. The modules that check tokens are imported when it runs. The plugin issues no
tokens.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pegboard.plugin import Authenticator, Plugin, ProtocolContext, Route, hookimpl
from pegboard.types import Request, Response
from pegboard_plugins.auth.resource_server.conversions import path_of
from pegboard_plugins.auth.resource_server.settings import POLICY, WELL_KNOWN, ResourceServerConfig

if TYPE_CHECKING:
    from pegboard_plugins.auth.resource_server.token_authenticator import ResourceServerAuthenticator


class ResourceServerPlugin(Plugin):
    """An authenticator for the MCP endpoint, and the metadata that leads clients to an authorization server."""

    Config = ResourceServerConfig

    @cached_property
    def _by_policy(self) -> Mapping[str, ResourceServerConfig]:
        """The settings of each resource, by its policy."""
        others = self.config.other_resources.items()
        return {POLICY: self.config, **{policy: self.config.of_other(url) for policy, url in others}}

    @cached_property
    def _authenticators(self) -> Sequence[ResourceServerAuthenticator]:
        from pegboard_plugins.auth.resource_server.token_authenticator import ResourceServerAuthenticator

        return [ResourceServerAuthenticator(config, policy) for policy, config in self._by_policy.items()]

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Return the authenticators for access tokens, one for each resource."""
        return self._authenticators

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Cancel requests to authorization servers when the host stops."""
        try:
            yield
        finally:
            for authenticator in self._authenticators:
                await authenticator.close()

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return two routes for the metadata: with and without the path of the resource."""
        of_path = {WELL_KNOWN: self.config}
        for config in self._by_policy.values():
            of_path.setdefault(WELL_KNOWN + path_of(config.resource).rstrip("/"), config)
        return [
            Route("GET", path, partial(self._send_metadata, config), auth="public")
            for path, config in sorted(of_path.items(), key=lambda pair: pair[0])
        ]

    async def _send_metadata(self, config: ResourceServerConfig, request: Request, host: ProtocolContext) -> Response:
        from pegboard.plugin import encode

        return Response(body=encode(metadata(config, host.identity.title or host.identity.name)))


def metadata(config: ResourceServerConfig, name: str) -> dict[str, Any]:
    """Return the protected resource metadata (RFC 9728, section 2) of a server called `name`."""
    scopes = config.scopes_supported or config.initial_scopes
    servers: Sequence[str] = [server.url or server.issuer for server in config.authorization_servers]
    members: dict[str, Any] = {
        "resource": config.resource,
        "authorization_servers": list(dict.fromkeys(servers)),
        "bearer_methods_supported": ["header"],
        "resource_name": name,
    }
    return {**members, "scopes_supported": list(scopes)} if scopes else members
