"""An OAuth 2.1 resource server: the MCP endpoint accepts access tokens of the configured authorization servers.

This module only describes the plugin. The modules that check tokens are imported when it runs. The plugin issues no
tokens.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
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
POLICY = "mcp"
"""The policy of the MCP endpoint."""


class ResourceServerConfig(PluginConfig):
    """`[plugins.resource_server]`.

    Attributes:
        resource: the public URL of the MCP endpoint. Tokens must have this URL as audience. The variable
            MCP_RESOURCE_SERVER_CANONICAL_URL sets the same value.
        authorization_servers: the accepted authorization servers, each a table with `issuer` and optionally `url`,
            `jwks_uri`, `introspection`, `audiences`, `algorithms` and `leeway_seconds`. The variable
            MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS sets the same list as JSON.
        scopes_supported: the scopes that the metadata lists. Name the few that clients need at first; a challenge names
            others when they are needed. The default is `challenge_scopes` and `required_scopes`. The
            variable MCP_RESOURCE_SERVER_SCOPES_SUPPORTED sets the same list.
        challenge_scopes: scopes that clients without a token should request, in addition to `required_scopes`. The
            variable MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES sets the same list.
        required_scopes: scopes that every token must have.
        implied_scopes: scopes that another scope includes, such as `{ admin = ["write"], write = ["read"] }`.
        token_types: the accepted values of `typ`; "" accepts tokens without it.
        leeway_seconds: the tolerated difference between the clocks of host and authorization servers.
        fetch_seconds: the time limit for fetching keys and for an introspection request.
        refresh_seconds: the age from which keys are fetched again. The old keys are used meanwhile.
        refresh_interval_seconds: the minimum time between two attempts to fetch keys.
        max_age_seconds: the maximum age of keys during an outage of their server.
        verified_seconds: the maximum time for which a token with a valid signature is not checked again.
        introspected_seconds: the maximum time for which an active token is not introspected again.
        max_verified: the number of remembered tokens.
        other_resources: the public URLs of other endpoints, by their policies, such as profiles of MCP. Each
            accepts only tokens with its own URL as audience, and has its own metadata.
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
    other_resources: Annotated[Mapping[str, str], WidensAccess("admits callers to other endpoints")] = {}

    @field_validator("authorization_servers", mode="before")
    @classmethod
    def _parse_servers(cls, given: Any) -> Any:
        return as_servers(given)

    @field_validator("scopes_supported", "challenge_scopes", "required_scopes", mode="before")
    @classmethod
    def _parse_names(cls, given: Any) -> Any:
        return as_list(given)

    @field_validator("scopes_supported", "challenge_scopes", "required_scopes")
    @classmethod
    def _check_scopes(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return checked_scopes(given)

    @field_validator("implied_scopes")
    @classmethod
    def _check_implied(cls, given: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        return checked_implied(given)

    @field_validator("resource")
    @classmethod
    def _check_url(cls, url: str) -> str:
        return checked_url(url)

    @field_validator("other_resources")
    @classmethod
    def _check_others(cls, given: Mapping[str, str]) -> Mapping[str, str]:
        for policy, url in given.items():
            checked_url(url)
            if policy in (POLICY, "public"):
                raise ValueError(f"{policy!r} cannot be the policy of another resource: use another name")
        return given

    @model_validator(mode="after")
    def _check_issuers(self) -> Self:
        issuers = [server.issuer for server in self.authorization_servers]
        if len(set(issuers)) < len(issuers):
            raise ValueError("two authorization servers have the same issuer: list each issuer once")
        return self

    def of_other(self, url: str) -> ResourceServerConfig:
        """Return the settings for another resource, without `audiences`, which apply to the first resource only."""
        servers = tuple(server.model_copy(update={"audiences": ()}) for server in self.authorization_servers)
        return self.model_copy(update={"resource": url, "authorization_servers": servers})

    @property
    def initial_scopes(self) -> Sequence[str]:
        """The scopes that clients need at first."""
        return tuple(dict.fromkeys((*self.challenge_scopes, *self.required_scopes)))

    @property
    def metadata_url(self) -> str:
        """The URL of the protected resource metadata (RFC 9728, section 3.1)."""
        path = path_of(self.resource)
        return self.resource.removesuffix(path) + WELL_KNOWN + path.rstrip("/")


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
        from pegboard_plugins.resource_server.token_authenticator import ResourceServerAuthenticator

        return [ResourceServerAuthenticator(config, policy) for policy, config in self._by_policy.items()]

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Return the authenticators for access tokens, one for each resource."""
        return self._authenticators

    @hookimpl
    def lifespan(self) -> Lifespan:
        """Cancel requests to authorization servers when the host stops."""
        return self._run()

    @asynccontextmanager
    async def _run(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for one in self._authenticators:
                await one.close()

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
