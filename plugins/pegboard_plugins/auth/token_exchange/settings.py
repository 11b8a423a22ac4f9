"""The settings of `[plugins.token_exchange]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess
from pegboard_plugins.support.bearer import Scopes


class ExchangeSettings(PluginConfig):
    """`[plugins.token_exchange.providers.NAME]`: the tokens of an upstream.

    Attributes:
        issuer: the authorization server that issued the callers' tokens, and exchanges them.
        client_id: the id of the host at this server.
        client_secret: the secret of the host there; None for a public client.
        token_endpoint: the address for tokens there; by default that of the metadata.
        audience: the name of the upstream at the issuer.
        resource: the URL of the upstream (RFC 8707).
        scopes: scopes that are always requested, in addition to those of the tool.
        authorization_server: the issuer of the upstream's own authorization server. The caller's token is exchanged for
            an identity assertion (ID-JAG), and the assertion for a token there.
        upstream_client_id: the id of the host at the `authorization_server`.
        upstream_client_secret: the secret of the host there; None for a public client.
    """

    issuer: str = Field(min_length=1)
    client_id: str = Field(min_length=1)
    client_secret: SecretStr | None = Field(None, min_length=1)
    token_endpoint: str | None = None
    audience: str | None = Field(None, min_length=1)
    resource: str | None = Field(None, min_length=1)
    scopes: Scopes = ()
    authorization_server: str | None = Field(None, min_length=1)
    upstream_client_id: str | None = Field(None, min_length=1)
    upstream_client_secret: SecretStr | None = Field(None, min_length=1)

    @field_validator("issuer", "token_endpoint", "authorization_server")
    @classmethod
    def _is_safe(cls, url: str | None) -> str | None:
        from pegboard_client import checked_url

        return None if url is None else checked_url(url)

    @field_validator("resource")
    @classmethod
    def _is_absolute(cls, url: str | None) -> str | None:
        if url is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!\"$-~]+", url):
            raise ValueError("use an absolute URI without a fragment (RFC 8707), such as https://orders.example.com")
        return url

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.authorization_server is None) != (self.upstream_client_id is None):
            raise ValueError("authorization_server and upstream_client_id belong together: set both or neither")
        if self.authorization_server is None and self.upstream_client_secret is not None:
            raise ValueError("upstream_client_secret is only for an authorization_server: set both or neither")
        if self.authorization_server is None and self.audience is None and self.resource is None:
            raise ValueError("the token is for no upstream: set its audience or its resource")
        if self.authorization_server is not None and self.audience is not None:
            raise ValueError("the audience of an identity assertion is the authorization_server: remove audience")
        return self


class TokenExchangeConfig(PluginConfig):
    """`[plugins.token_exchange]`.

    Attributes:
        providers: the upstreams, by provider id, by the `id` of a tool's requirement, or by the `auth` of a mounted
            server.
    """

    providers: Annotated[
        Mapping[str, ExchangeSettings], WidensAccess("gives tools tokens that are exchanged for those of callers")
    ] = {}
