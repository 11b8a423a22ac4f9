"""An OAuth 2.1 resource server at the MCP endpoint: access tokens of the authorization servers that are named.

This module describes the plugin; what checks tokens is imported when it runs. It issues no tokens and knows no server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import (
    Authenticator,
    FromEnvironment,
    Lifespan,
    Plugin,
    ProtocolContext,
    Route,
    WidensAccess,
    checked_scopes,
    hookimpl,
)
from pegboard.types import Request, Response
from pegboard_plugins.resource_server.servers import AuthorizationServer
from pegboard_plugins.resource_server.settings import (
    as_list,
    as_servers,
    checked_implied,
    checked_url,
    path_of,
)

if TYPE_CHECKING:
    from pegboard_plugins.resource_server.token_authenticator import ResourceServerAuthenticator

WELL_KNOWN = "/.well-known/oauth-protected-resource"


class ResourceServerConfig(PluginConfig):
    """`[plugins.resource_server]`.

    Attributes:
        resource: the URL of the MCP endpoint as clients know it, which tokens must be meant for; also
            MCP_RESOURCE_SERVER_CANONICAL_URL.
        authorization_servers: whose tokens are good, each a table with `issuer` and, if need be, `url`, `jwks_uri`,
            `introspection`, `audiences`, `algorithms`, `leeway_seconds`; also
            MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS, as JSON.
        scopes_supported: the few that clients may ask for to begin with, who learn of others when they need them; the
            next two together unless given. Also MCP_RESOURCE_SERVER_SCOPES_SUPPORTED.
        challenge_scopes: what clients without a token are told to ask for, besides `required_scopes`; also
            MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES.
        required_scopes: what every token must allow.
        implied_scopes: what a scope allows beside itself, such as `{ admin = ["write"], write = ["read"] }`.
        token_types: what tokens may say as `typ`; "" for nothing.
        leeway_seconds: how far the clocks of authorization servers may be off.
        fetch_seconds: how long fetching keys, or asking about a token, may take.
        refresh_seconds: from which age on keys are fetched anew, while the old ones serve.
        refresh_interval_seconds: how long to wait between two attempts at fetching keys, whatever tokens come.
        max_age_seconds: how old keys may become while their server is out of order.
        verified_seconds: for how long, at most, a token that was found good by its signature is not checked again.
        introspected_seconds: for how long, at most, a token that was found good by asking its server is not asked about
            again.
        max_verified: how many of those are remembered.
    """

    resource: Annotated[str, FromEnvironment("MCP_RESOURCE_SERVER_CANONICAL_URL")]
    authorization_servers: Annotated[
        tuple[AuthorizationServer, ...],
        Field(min_length=1),
        WidensAccess("admits callers with tokens of these servers"),
        FromEnvironment("MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS"),
    ]
    scopes_supported: Annotated[tuple[str, ...], FromEnvironment("MCP_RESOURCE_SERVER_SCOPES_SUPPORTED")] = ()
    challenge_scopes: Annotated[tuple[str, ...], FromEnvironment("MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES")] = ()
    required_scopes: tuple[str, ...] = ()
    implied_scopes: Annotated[Mapping[str, tuple[str, ...]], WidensAccess("scopes allow more")] = {}
    token_types: tuple[str, ...] = ("at+jwt", "JWT", "")
    leeway_seconds: float = Field(30, ge=0, le=300)
    fetch_seconds: float = Field(5, gt=0)
    refresh_seconds: float = Field(300, gt=0)
    refresh_interval_seconds: float = Field(10, gt=0)
    max_age_seconds: float = Field(24 * 3600, gt=0)
    verified_seconds: float = Field(300, ge=0)
    introspected_seconds: float = Field(30, ge=0, le=300)
    max_verified: int = Field(10_000, ge=0)

    @field_validator("authorization_servers", mode="before")
    @classmethod
    def _are_servers(cls, given: Any) -> Any:
        return as_servers(given)

    @field_validator("scopes_supported", "challenge_scopes", "required_scopes", mode="before")
    @classmethod
    def _are_listed(cls, given: Any) -> Any:
        return as_list(given)

    @field_validator("scopes_supported", "challenge_scopes", "required_scopes")
    @classmethod
    def _are_scopes(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return checked_scopes(given)

    @field_validator("implied_scopes")
    @classmethod
    def _imply_scopes(cls, given: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        return checked_implied(given)

    @field_validator("resource")
    @classmethod
    def _is_safe(cls, url: str) -> str:
        return checked_url(url)

    @model_validator(mode="after")
    def _are_different(self) -> Self:
        issuers = [server.issuer for server in self.authorization_servers]
        if len(set(issuers)) < len(issuers):
            raise ValueError("two authorization servers have one issuer")
        return self

    @property
    def initial_scopes(self) -> Sequence[str]:
        """What clients need to begin with."""
        return tuple(dict.fromkeys((*self.challenge_scopes, *self.required_scopes)))

    @property
    def metadata_url(self) -> str:
        """Where clients find what this resource asks for (RFC 9728, section 3.1)."""
        path = path_of(self.resource)
        return self.resource.removesuffix(path) + WELL_KNOWN + path.rstrip("/")


class ResourceServerPlugin(Plugin):
    """One authenticator, of the MCP endpoint, and the metadata that leads clients to a token."""

    Config = ResourceServerConfig

    @cached_property
    def _bearer(self) -> ResourceServerAuthenticator:
        from pegboard_plugins.resource_server.token_authenticator import ResourceServerAuthenticator

        return ResourceServerAuthenticator(self.config)

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Callers with a token of the authorization servers."""
        return [self._bearer]

    @hookimpl
    def lifespan(self) -> Lifespan:
        """Ends what is being fetched and asked."""
        return self._live()

    @asynccontextmanager
    async def _live(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self._bearer.close()

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """The metadata, below the path of the resource and without it."""
        paths = {WELL_KNOWN, WELL_KNOWN + path_of(self.config.resource).rstrip("/")}
        return [Route("GET", path, self._tell, auth="public") for path in sorted(paths)]

    async def _tell(self, request: Request, host: ProtocolContext) -> Response:
        from pegboard.plugin import encode

        return Response(body=encode(metadata(self.config, host.identity.title or host.identity.name)))


def metadata(config: ResourceServerConfig, name: str) -> dict[str, Any]:
    """What clients may know of the resource (RFC 9728, section 2), which is called `name`."""
    scopes = config.scopes_supported or config.initial_scopes
    servers: Sequence[str] = [server.url or server.issuer for server in config.authorization_servers]
    told: dict[str, Any] = {
        "resource": config.resource,
        "authorization_servers": list(dict.fromkeys(servers)),
        "bearer_methods_supported": ["header"],
        "resource_name": name,
    }
    return {**told, "scopes_supported": list(scopes)} if scopes else told
