"""Tokens that the operator has written down, for tools that require them: for a host with one user, the operator.

They are given to calls of this machine's user, and of the users that the operator names; to nobody else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping

from pydantic import SecretStr

from pegboard import Authorization, Plugin, PluginConfig, PluginContext, TokenRequest, TokenSource, hookimpl

logger = logging.getLogger("pegboard.plugins.static_tokens")


class SecretName(PluginConfig):
    """A secret of the host's stores.

    Attributes:
        secret: its name.
    """

    secret: str


class StaticTokensConfig(PluginConfig):
    """`[plugins.static_tokens]`.

    Attributes:
        tokens: by the provider's id, such as "github", or by the `id` of what a tool requires. `{ env = "NAME" }` is a
            variable, `{ secret = "NAME" }` a secret of the stores.
        users: the authenticated users who may have them, besides this machine's.
    """

    tokens: Mapping[str, SecretStr | SecretName] = {}
    users: tuple[str, ...] = ()


class StaticTokensPlugin(Plugin):
    """One source of tokens."""

    Config = StaticTokensConfig

    @hookimpl
    def register_token_sources(self, context: PluginContext) -> Iterable[TokenSource]:
        """What the settings say."""
        return [StaticTokens(self.config, context.get_secret)]


class StaticTokens:
    """Gives the tokens of a mapping.

    Args:
        config: which, and to whom.
        get_secret: finds a secret by its name; may block.
    """

    def __init__(self, config: StaticTokensConfig, get_secret: Callable[[str], str | None]) -> None:
        self._config = config
        self._get_secret = get_secret

    async def token(self, request: TokenRequest) -> Authorization | None:
        """The token for what a tool requires, None where there is none for this caller."""
        name = request.required.name
        kept = self._config.tokens.get(name)
        if kept is None or not self._may_have(request):
            return None
        if isinstance(kept, SecretStr):
            return Authorization(kept.get_secret_value())
        token = await asyncio.to_thread(self._get_secret, kept.secret)
        if not token:
            logger.warning("the secret %s, which should be the token of %s, is not set", kept.secret, name)
            return None
        return Authorization(token)

    def _may_have(self, request: TokenRequest) -> bool:
        """Whether a call is the operator's: whoever is named in it must be one of the users."""
        call = request.call
        named = (call.supplied.user_id if call.supplied is not None else None) or call.caller.subject
        return call.caller.trusted if named is None else named in self._config.users
