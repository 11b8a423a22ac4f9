"""The settings of `[plugins.arcade_cloud]`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess


class ArcadeCloudConfig(PluginConfig):
    """`[plugins.arcade_cloud]`.

    Attributes:
        api_key: the API key of the account; by default the variable ARCADE_API_KEY.
        url: the address of the API; by default the variable ARCADE_API_URL, then ARCADE_API_BASE_URL, then
            "https://api.arcade.dev".
        user: the operator's user id in the cloud; by default `[host] user`, which ARCADE_USER_ID sets, too.
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
