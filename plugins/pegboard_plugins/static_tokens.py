"""Tokens that the operator has written down, for tools that require them: for a host with one user, the operator.

Where no settings name a token it is the secret of the provider's name: GITHUB_TOKEN for "github". Tokens are given to
calls of this machine's user, and those of the settings to the users that the operator names as well; to nobody else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

from pydantic import Field, SecretStr

from pegboard import Authorization, PluginConfig
from pegboard.plugin import Plugin, PluginContext, TokenSource, WidensAccess, hookimpl
from pegboard.types import TokenRequest, ToolAuthorization

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
"""Names of which a secret's can be made."""


class SecretName(PluginConfig):
    """A secret of the host's stores.

    Attributes:
        secret: its name.
    """

    secret: str


class IssuersUser(PluginConfig):
    """One of `[plugins.static_tokens] users` who comes with a token of an authorization server.

    Attributes:
        subject: who it is, as the server says.
        issuer: which server; others may call somebody else so.
    """

    subject: str = Field(min_length=1)
    issuer: str = Field(min_length=1)


class StaticTokensConfig(PluginConfig):
    """`[plugins.static_tokens]`.

    Attributes:
        tokens: by the provider's id, such as "github", or by the `id` of what a tool requires. `{ env = "NAME" }` is a
            variable, `{ secret = "NAME" }` a secret of the stores. What is not there is the secret GITHUB_TOKEN for
            "github", and so on, and for this machine's user alone.
        users: the authenticated users who may have those of `tokens`, besides this machine's: a name, or
            `{ subject = "...", issuer = "..." }` for one who comes with a token of an authorization server.
    """

    tokens: Annotated[Mapping[str, SecretStr | SecretName], WidensAccess("gives these tokens to tools")] = {}
    users: Annotated[tuple[str | IssuersUser, ...], WidensAccess("lets these users use the tokens")] = ()


class StaticTokensPlugin(Plugin):
    """One source of tokens."""

    Config = StaticTokensConfig

    @hookimpl
    def register_token_sources(self, context: PluginContext) -> Iterable[TokenSource]:
        """What the settings say."""
        return [StaticTokens(self.config, context.get_secret)]


class StaticTokens:
    """Gives the tokens of a mapping, and those of secrets that bear a provider's name.

    Args:
        config: which, and to whom.
        get_secret: finds a secret by its name; may block.
    """

    def __init__(self, config: StaticTokensConfig, get_secret: Callable[[str], str | None]) -> None:
        self._config = config
        self._get_secret = get_secret

    def secret(self, required: ToolAuthorization) -> str | None:
        """The secret in which a token is looked for, None where the settings hold the token itself."""
        kept = self._config.tokens.get(required.name)
        if kept is not None:
            return kept.secret if isinstance(kept, SecretName) else None
        name = required.name.lower()
        return f"{name.replace('-', '_').upper()}_TOKEN" if _NAME.fullmatch(name) else None

    async def token(self, request: TokenRequest) -> Authorization | None:
        """The token for what a tool requires, None where there is none for this caller."""
        kept = self._config.tokens.get(request.required.name)
        if not self._may_have(request, () if kept is None else self._config.users):
            return None
        if isinstance(kept, SecretStr):
            return Authorization(kept.get_secret_value())
        name = self.secret(request.required)
        token = None if name is None else await asyncio.to_thread(self._get_secret, name)
        return Authorization(token) if token else None

    def _may_have(self, request: TokenRequest, users: Iterable[str | IssuersUser]) -> bool:
        """Whether a call is the operator's: who is named in it must be one of the users, by the same issuer's word."""
        call = request.call
        named = (call.supplied.user_id if call.supplied is not None else None) or call.caller.subject
        if named is None:
            return call.caller.trusted
        return (named if request.issuer is None else IssuersUser(subject=named, issuer=request.issuer)) in users
