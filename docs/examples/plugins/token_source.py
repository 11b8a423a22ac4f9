"""A provider of tokens, and a source that has one token for each user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import SecretStr

from pegboard import Authorization, PluginConfig
from pegboard.plugin import Plugin, TokenSource, hookimpl
from pegboard.types import AuthProvider, TokenRequest, ToolAuthorization


class AcmeConfig(PluginConfig):
    """The settings in `[plugins.acme]`."""

    tokens: dict[str, SecretStr]
    """The token of each user."""


class Acme(ToolAuthorization):
    """A token of Acme: `@kit.tool(requires_auth=Acme(scopes=["read"]))`."""

    provider = AuthProvider(id="acme", title="Acme", documentation="https://acme.example/docs/oauth")


class AcmeTokens(TokenSource):
    """Tokens by issuer and user, because two issuers may use one name for two users."""

    def __init__(self, tokens: Mapping[tuple[str | None, str | None], str]) -> None:
        self._tokens = tokens

    def secret(self, required: ToolAuthorization) -> str | None:
        """Return "" for other providers, so that the host can report their missing tokens."""
        return None if required.name == "acme" else ""

    async def token(self, request: TokenRequest) -> Authorization | None:
        """Return the token of the user for whom the tool runs."""
        if request.required.name != "acme":
            return None
        token = self._tokens.get((request.issuer, request.user_id))
        return None if token is None else Authorization(token=token)


class AcmePlugin(Plugin[AcmeConfig]):
    """Enabled by `[plugins.acme]`."""

    Config = AcmeConfig

    @hookimpl
    def register_auth_providers(self) -> Iterable[AuthProvider]:
        """Return the provider."""
        return [Acme.provider]

    @hookimpl
    def register_token_sources(self) -> Iterable[TokenSource]:
        """Return the source."""
        return [AcmeTokens({(None, user): token.get_secret_value() for user, token in self.config.tokens.items()})]
