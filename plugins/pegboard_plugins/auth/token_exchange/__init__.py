"""Tokens for tools and mounted servers, exchanged for the access token of the caller (RFC 8693).

Each section `[plugins.token_exchange.providers.NAME]` describes the tokens of one upstream. The token of the caller
never reaches the upstream.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING

from pegboard.plugin import Lifespan, Plugin, PluginContext, TokenSource, hookimpl
from pegboard_plugins.auth.token_exchange.settings import TokenExchangeConfig

if TYPE_CHECKING:
    from pegboard_plugins.auth.token_exchange.exchanged_tokens import ExchangedTokens


class TokenExchangePlugin(Plugin):
    """A source of tokens."""

    Config = TokenExchangeConfig

    @cached_property
    def _tokens(self) -> ExchangedTokens:
        from pegboard_plugins.auth.token_exchange.exchanged_tokens import ExchangedTokens

        return ExchangedTokens(self.config.providers)

    @hookimpl
    def register_token_sources(self) -> Iterable[TokenSource]:
        return [self._tokens]

    @hookimpl
    def lifespan(self, context: PluginContext) -> Lifespan:
        """Return the lifespan, which closes the connections to authorization servers."""
        return aclosing(self._tokens)
