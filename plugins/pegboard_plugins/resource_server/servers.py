"""What is known of one authorization server: `[[plugins.resource_server.authorization_servers]]`. It checks nothing."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from pegboard import PluginConfig
from pegboard_plugins.resource_server.settings import as_server, checked_url

ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA")
"""What tokens may be signed with: asymmetric algorithms alone."""


class Introspection(PluginConfig):
    """`introspection` of an authorization server: it is asked whether a token is good (RFC 7662).

    Attributes:
        client_id: who asks, as the server knows us.
        client_secret: what shows that it is us; `{ env = "NAME" }` takes it from a variable.
        url: where to ask; found by its metadata unless given.
        proves_audience: whether it calls tokens active only where they are for this resource, so that what it says of
            them need not name an audience.
    """

    client_id: str = Field(min_length=1)
    client_secret: SecretStr = Field(min_length=1)
    url: str | None = None
    proves_audience: bool = False

    @field_validator("url")
    @classmethod
    def _is_safe(cls, url: str | None) -> str | None:
        return None if url is None else checked_url(url)


class AuthorizationServer(PluginConfig):
    """One of `[[plugins.resource_server.authorization_servers]]`.

    Attributes:
        issuer: what its tokens say as `iss`, to the letter.
        url: what clients are told to go to; the issuer unless given.
        jwks_uri: where its keys are; found by its metadata unless given (RFC 8414, OpenID Connect Discovery).
        introspection: how it is asked about tokens, in the place of keys; a table.
        audiences: what its tokens must name one of as `aud`; the resource unless given.
        algorithms: what it signs with.
        leeway_seconds: how far its clock may be off; the plugin's own unless given.
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
    def _in_other_words(cls, given: Any) -> Any:
        return as_server(given)

    @field_validator("issuer", "url", "jwks_uri")
    @classmethod
    def _is_safe(cls, url: str | None) -> str | None:
        return None if url is None else checked_url(url)

    @field_validator("algorithms")
    @classmethod
    def _are_asymmetric(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        if not given or (wrong := set(given) - set(ALGORITHMS)):
            raise ValueError(f"expected some of {', '.join(ALGORITHMS)}{f', not {min(wrong)}' if given else ''}")
        return given

    @model_validator(mode="after")
    def _has_one_way(self) -> Self:
        if self.introspection is not None and (idle := {"jwks_uri", "algorithms"} & self.model_fields_set):
            raise ValueError(f"with introspection no keys are used: leave out {' and '.join(sorted(idle))}")
        return self
