"""Settings of one authorization server: `[[plugins.resource_server.authorization_servers]]`."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.client import SignatureKeys
from pegboard_plugins.resource_server.settings import as_server, checked_url


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
    url: str | None = None
    proves_audience: bool = False

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        return None if url is None else checked_url(url)


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

    issuer: str
    url: str | None = None
    jwks_uri: str | None = None
    introspection: Introspection | None = None
    audiences: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    leeway_seconds: float | None = Field(None, ge=0, le=300)

    @model_validator(mode="before")
    @classmethod
    def _translate(cls, given: Any) -> Any:
        return as_server(given)

    @field_validator("issuer", "url", "jwks_uri")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        return None if url is None else checked_url(url)

    @field_validator("algorithms")
    @classmethod
    def _check_algorithms(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        if not given or (wrong := set(given) - set(SignatureKeys.ALGORITHMS)):
            problem = f"unsupported algorithm {min(wrong)}" if given else "no algorithm"
            raise ValueError(f"{problem}: choose from {', '.join(SignatureKeys.ALGORITHMS)}")
        return given

    @model_validator(mode="after")
    def _check_introspection(self) -> Self:
        if self.introspection is not None and (unused := {"jwks_uri", "algorithms"} & self.model_fields_set):
            raise ValueError(f"introspection uses no keys: remove {' and '.join(sorted(unused))}")
        return self
