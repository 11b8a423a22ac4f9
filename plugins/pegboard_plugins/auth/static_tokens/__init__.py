"""Static tokens for tools that require them, on a host with one user, the operator.

A token that is not configured is the secret of the provider's name, GITHUB_TOKEN for "github". The operator gets all
tokens. Configured tokens are also for users that the operator names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field, SecretStr

from pegboard import Authorization, PluginConfig
from pegboard.plugin import Plugin, PluginContext, TokenSource, WidensAccess, hookimpl
from pegboard.types import TokenRequest, ToolAuthorization

_NAME = r"[a-z][a-z0-9_-]{0,63}"
"""Names that can be part of a secret's name."""

ONLY_OPERATOR = (
    "[plugins.static_tokens] has a token for the operator only; for other callers, set its `tokens` and `users`, "
    "or [plugins.vault.callers]"
)


class SecretName(PluginConfig):
    """A secret of the host's stores.

    Attributes:
        secret: the name of the secret.
    """

    secret: str


class IssuersUser(PluginConfig):
    """A user of `[plugins.static_tokens] users` with a token of an authorization server.

    Attributes:
        subject: the user's subject at the issuer.
        issuer: the issuer. Another issuer may use the same subject for another user.
    """

    subject: str = Field(min_length=1)
    issuer: str = Field(min_length=1)


class StaticTokensConfig(PluginConfig):
    """`[plugins.static_tokens]`.

    Attributes:
        tokens: tokens by provider id, such as "github", or by the `id` of a tool's requirement. `{ secret = "NAME" }`
            takes a token from a secret store. Other tokens are secrets such as GITHUB_TOKEN for "github", for the
            operator only.
        users: authenticated users who may use `tokens`, in addition to the operator: a name, or `{ subject = "...",
            issuer = "..." }` for a token of an authorization server.
    """

    tokens: Annotated[Mapping[str, SecretStr | SecretName], WidensAccess("gives these tokens to tools")] = {}
    users: Annotated[tuple[str | IssuersUser, ...], WidensAccess("lets these users use the tokens")] = ()


class StaticTokensPlugin(Plugin):
    """A source of tokens."""

    Config = StaticTokensConfig

    @hookimpl
    def register_token_sources(self, context: PluginContext) -> Iterable[TokenSource]:
        return [StaticTokens(self.config, context.get_secret)]


class StaticTokens(TokenSource):
    """A source of configured tokens, and of secrets named after a provider.

    Args:
        config: the tokens and users.
        get_secret: a function that returns a secret. It may block.
    """

    def __init__(self, config: StaticTokensConfig, get_secret: Callable[[str], str | None]) -> None:
        self._config = config
        self._get_secret = get_secret

    def secret(self, required: ToolAuthorization) -> str | None:
        configured = self._config.tokens.get(required.name)
        if configured is not None:
            return configured.secret if isinstance(configured, SecretName) else None
        name = required.name.lower()
        return f"{name.replace('-', '_').upper()}_TOKEN" if re.fullmatch(_NAME, name, re.ASCII) else None

    async def state(self, required: ToolAuthorization) -> str:
        """Return that there is a token for the operator only, or ""."""
        is_for_others = bool(self._users(required))
        return "" if is_for_others or await self._authorization(required) is None else ONLY_OPERATOR

    async def token(self, request: TokenRequest) -> Authorization | None:
        is_allowed = self._is_allowed(request, self._users(request.required))
        return await self._authorization(request.required) if is_allowed else None

    def _users(self, required: ToolAuthorization) -> Sequence[str | IssuersUser]:
        return self._config.users if required.name in self._config.tokens else ()

    async def _authorization(self, required: ToolAuthorization) -> Authorization | None:
        configured = self._config.tokens.get(required.name)
        if isinstance(configured, SecretStr):
            return Authorization(configured.get_secret_value())
        name = self.secret(required)
        token = None if name is None else await asyncio.to_thread(self._get_secret, name)
        return Authorization(token, renewal=f"The operator must renew the secret {name}.") if token else None

    def _is_allowed(self, request: TokenRequest, users: Iterable[str | IssuersUser]) -> bool:
        """Return True if a call is for the operator, or for one of the users at the same issuer."""
        call, caller = request.call, request.call.caller
        supplied = None if call.supplied is None else call.supplied.user_id
        if supplied and not (caller.service or caller.trusted):
            return False  # nothing proves that the caller may name a user
        named = supplied or caller.subject
        if named is None:
            return caller.trusted
        return (named if request.issuer is None else IssuersUser(subject=named, issuer=request.issuer)) in users
