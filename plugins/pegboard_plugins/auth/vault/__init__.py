"""The vault: the host obtains, keeps and refreshes the tokens that tools require, for its operator.

Each section `[plugins.vault.providers.NAME]` is a registration at a provider. Tokens are kept encrypted in one file.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack, nullcontext
from typing import TYPE_CHECKING

from pegboard.plugin import (
    Lifespan,
    LoginStore,
    Middleware,
    Plugin,
    PluginContext,
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

    def __init__(self, config: VaultConfig) -> None:
        super().__init__(config)
        self._flows: LoginFlows | None = None

    def _logins(self) -> LoginFlows:
        from pegboard_plugins.auth.vault.login_flows import login_flows

        if self._flows is None:
            self._flows = login_flows(self.config)
        return self._flows

    @hookimpl
    def register_token_sources(self) -> Iterable[TokenSource]:
        """Return the source of the tokens in the vault."""
        from pegboard_plugins.auth.vault.vault_source import VaultSource

        return [VaultSource(self._logins())]

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        """Return the store of logins at MCP servers."""
        return [Store(contract=LoginStore, open=lambda: nullcontext(self._server_logins()))]

    def _server_logins(self) -> LoginStore:
        from pegboard_plugins.auth.vault.server_logins import ServerLogins

        return ServerLogins(self._logins())

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the pages for logins of callers from the network, if they are configured."""
        pages = None if self.config.callers is None else self._logins().caller_pages
        return [] if pages is None else pages.routes()

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware that asks the user to log in."""
        return [LoginQuestions(self._logins().pending, self.config.wait_seconds)]

    @hookimpl
    def lifespan(self, context: PluginContext) -> Lifespan:
        """Return the lifespan, which ends the logins that still wait."""
        ends = AsyncExitStack()
        ends.push_async_callback(self._logins().close)
        return ends
