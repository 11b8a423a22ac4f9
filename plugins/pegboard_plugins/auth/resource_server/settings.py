"""The settings of `[plugins.resource_server]` and of its authorization servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess
from pegboard_client import SignatureKeys
from pegboard_plugins.auth.resource_server.conversions import (
    as_list,
    as_server,
    as_servers,
    checked_implied,
    checked_url,
    path_of,
)
from pegboard_plugins.support.bearer import Scopes

Url: TypeAlias = Annotated[str, AfterValidator(checked_url)]
ListedScopes: TypeAlias = Annotated[Scopes, BeforeValidator(as_list)]


class Introspection(PluginConfig):
    """`introspection` of an authorization server: the server is asked whether a token is active (RFC 7662).

    Attributes:
        client_id: the client id of this resource server.
        client_secret: the client secret; `{ env = "NAME" }` takes it from a variable.
        url: the introspection endpoint; by default found in the server's metadata.
        proves_audience: True if the server calls a token active only if it is for this resource. Then responses
            need no audience.
    """

    client_id: str = Field(min_length=1)
    client_secret: SecretStr = Field(min_length=1)
    url: Url | None = None
    proves_audience: bool = False


class AuthorizationServer(PluginConfig):
    """One of `[[plugins.resource_server.authorization_servers]]`.

    Attributes:
        issuer: the exact claim `iss` of its tokens.
        url: the URL that clients are sent to; the issuer by default.
        jwks_uri: the URL of its keys; by default found in its metadata (RFC 8414, OpenID Connect Discovery).
        introspection: ask the server about tokens instead of using keys; a table.
        audiences: the accepted audiences of its tokens; the resource by default.
        algorithms: the accepted signature algorithms.
        leeway_seconds: the tolerated difference of its clock; that of the plugin by default.
    """

    issuer: Url
    url: Url | None = None
    jwks_uri: Url | None = None
    introspection: Introspection | None = None
    audiences: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    leeway_seconds: float | None = Field(None, ge=0, le=300)

    @model_validator(mode="before")
    @classmethod
    def _translate(cls, value: Any) -> Any:
        return as_server(value)

    @field_validator("algorithms")
    @classmethod
    def _check_algorithms(cls, algorithms: tuple[str, ...]) -> tuple[str, ...]:
        if not algorithms or (wrong := set(algorithms) - set(SignatureKeys.ALGORITHMS)):
            problem = f"unsupported algorithm {min(wrong)}" if algorithms else "no algorithm"
            raise ValueError(f"{problem}: choose from {', '.join(SignatureKeys.ALGORITHMS)}")
        return algorithms

    @model_validator(mode="after")
    def _check_introspection(self) -> Self:
        if self.introspection is not None and (unused := {"jwks_uri", "algorithms"} & self.model_fields_set):
            raise ValueError(f"introspection uses no keys: remove {' and '.join(sorted(unused))}")
        return self


WELL_KNOWN = "/.well-known/oauth-protected-resource"


POLICY = "mcp"
"""The policy of the MCP endpoint."""


class ResourceServerConfig(PluginConfig):
    """`[plugins.resource_server]`.

    Attributes:
        resource: the public URL of the MCP endpoint. Tokens must have this URL as audience.
        authorization_servers: the accepted authorization servers, each a table with `issuer` and perhaps `url`,
            `jwks_uri`, `introspection`, `audiences`, `algorithms` and `leeway_seconds`.
        scopes_supported: the few scopes that clients need at first, for the metadata. The default is `challenge_scopes`
            and `required_scopes`.
        challenge_scopes: scopes that clients without a token should request, in addition to `required_scopes`.
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
        other_resources: the public URLs of other endpoints, such as profiles of MCP, by their policies. Each has its
            own metadata, and accepts only tokens with its own URL as audience.
    """

    resource: Url
    authorization_servers: Annotated[
        tuple[AuthorizationServer, ...],
        Field(min_length=1),
        BeforeValidator(as_servers),
        WidensAccess("admits callers with tokens of these servers"),
    ]
    scopes_supported: ListedScopes = ()
    challenge_scopes: ListedScopes = ()
    required_scopes: ListedScopes = ()
    implied_scopes: Annotated[
        Mapping[str, tuple[str, ...]], AfterValidator(checked_implied), WidensAccess("scopes allow more")
    ] = {}
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

    @field_validator("other_resources")
    @classmethod
    def _check_others(cls, others: Mapping[str, str]) -> Mapping[str, str]:
        for policy, url in others.items():
            checked_url(url)
            if policy in (POLICY, "public"):
                raise ValueError(f"{policy!r} cannot be the policy of another resource: use another name")
        return others

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
