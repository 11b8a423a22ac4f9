"""The vault: the host obtains, keeps and refreshes the tokens that tools require, for its operator.

Each section `[plugins.vault.providers.NAME]` is a registration at a provider. Tokens are kept encrypted, in one file or
in the state that processes share.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from pegboard.plugin import (
    Lifespan,
    LoginStore,
    Middleware,
    Plugin,
    PluginContext,
    RecordStore,
    Route,
    Store,
    TokenSource,
    hookimpl,
)
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.support.login_questions import LoginQuestions

if TYPE_CHECKING:
    from pegboard_plugins.auth.vault.login_flows import LoginFlows


class VaultPlugin(Plugin):
    """A source of tokens, the questions for logins, and the commands for logins."""

    Config = VaultConfig
    _flows: LoginFlows | None = None

    def _logins(self, context: PluginContext) -> LoginFlows:
        from pegboard_plugins.auth.vault.login_flows import login_flows

        if self._flows is None:
            store = self.config.store
            self._flows = login_flows(self.config, store and partial(context.store, RecordStore, store))
        return self._flows

    @hookimpl
    def register_token_sources(self, context: PluginContext) -> Iterable[TokenSource]:
        from pegboard_plugins.auth.vault.vault_source import VaultSource

        return [VaultSource(self._logins(context))]

    @hookimpl
    def register_stores(self, context: PluginContext) -> Iterable[Store]:
        """Return the store of logins at MCP servers."""
        return [Store(contract=LoginStore, open=lambda: nullcontext(self._server_logins(context)))]

    def _server_logins(self, context: PluginContext) -> LoginStore:
        from pegboard_plugins.auth.vault.server_logins import ServerLogins

        return ServerLogins(self._logins(context))

    @hookimpl
    def register_routes(self, context: PluginContext) -> Iterable[Route]:
        """Return the pages for logins of callers from the network, if they are configured."""
        pages = None if self.config.callers is None else self._logins(context).caller_pages
        return [] if pages is None else pages.routes(self._logins(context))

    @hookimpl
    def register_middleware(self, context: PluginContext) -> Iterable[Middleware]:
        """Return the middleware that asks the user to log in."""
        return [LoginQuestions(self._logins(context).pending, self.config.wait_seconds)]

    @hookimpl
    def lifespan(self, context: PluginContext) -> Lifespan:
        """Return the lifespan, which ends the logins that still wait."""
        flows = self._logins(context)
        if self.config.store is not None:
            flows.share(context.bus)
        return aclosing(flows)
