"""Tokens from the Arcade cloud, for operators with an account there.

The cloud keeps the tokens of its users and asks them to authorize. The plugin is disabled by default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, SecretStr, field_validator

from pegboard import PluginConfig
from pegboard.plugin import (
    Lifespan,
    Middleware,
    Plugin,
    PluginContext,
    PluginError,
    TokenSource,
    WidensAccess,
    hookimpl,
)
from pegboard_plugins.support.login_questions import LoginQuestions

if TYPE_CHECKING:
    from pegboard_plugins.auth.arcade_cloud.cloud_source import CloudTokens


class ArcadeCloudConfig(PluginConfig):
    """`[plugins.arcade_cloud]`.

    Attributes:
        api_key: the API key of the account; by default the variable ARCADE_API_KEY.
        url: the address of the API; by default the variable ARCADE_API_URL, then ARCADE_API_BASE_URL, then
            "https://api.arcade.dev".
        user: the operator's user id in the cloud; by default `[host] user`.
        providers: the providers, or the `id`s of requirements, for which the cloud is asked; empty for all.
        issuer: an issuer whose users are users of the cloud. Other callers from the network receive no token.
        user_claim: the claim of their access tokens with their user id in the cloud: "email", which must be verified,
            or "sub".
    """

    api_key: Annotated[
        SecretStr | None, WidensAccess("gives tools the tokens that the Arcade cloud has for the operator")
    ] = None
    url: str | None = None
    user: str | None = Field(None, min_length=1)
    providers: tuple[str, ...] = ()
    issuer: Annotated[str | None, WidensAccess("gives tools the tokens of this issuer's users")] = Field(
        None, min_length=1
    )
    user_claim: Literal["email", "sub"] = "email"

    @field_validator("url", "issuer")
    @classmethod
    def _is_safe(cls, url: str | None) -> str | None:
        from pegboard_client import checked_url

        return None if url is None else checked_url(url)

    @field_validator("api_key")
    @classmethod
    def _is_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not is_api_key(key.get_secret_value()):
            raise ValueError("it is not an API key: use printable ASCII characters without spaces")
        return key


def is_api_key(key: str) -> bool:
    """Return True if a text can be an API key, which a header sends."""
    return re.fullmatch(r"[!-~]+", key) is not None


DEFAULT_URL = "https://api.arcade.dev"


class ArcadeCloudPlugin(Plugin):
    """A source of tokens, and the questions for authorization."""

    Config = ArcadeCloudConfig

    @cached_property
    def _tokens(self) -> CloudTokens:
        from pegboard_client import checked_url
        from pegboard_plugins.auth.arcade_cloud.cloud_api import CloudApi
        from pegboard_plugins.auth.arcade_cloud.cloud_source import CloudTokens

        config: ArcadeCloudConfig = self.config
        key = config.api_key.get_secret_value() if config.api_key else os.environ.get("ARCADE_API_KEY", "").strip()
        if not is_api_key(key):
            raise PluginError("[plugins.arcade_cloud] has no usable API key: set the variable ARCADE_API_KEY")
        named = (os.environ.get(name, "").strip() for name in ("ARCADE_API_URL", "ARCADE_API_BASE_URL"))
        url = config.url or next(filter(None, named), DEFAULT_URL)
        try:
            checked_url(url)
        except ValueError as error:
            raise PluginError(f"ARCADE_API_URL or ARCADE_API_BASE_URL: {error}") from None
        return CloudTokens(config, CloudApi(url, key))

    @hookimpl
    def register_token_sources(self) -> Iterable[TokenSource]:
        return [self._tokens]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware that asks the user to authorize."""
        return [LoginQuestions(self._tokens.pending)]

    @hookimpl
    def lifespan(self, context: PluginContext) -> Lifespan:
        """Return the lifespan, which closes the connections to the cloud."""
        return aclosing(self._tokens)
