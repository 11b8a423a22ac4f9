"""Login of people for MCP clients, with an identity provider that need not support MCP.

The host is a small OAuth 2.1 authorization server for its own MCP endpoint. It delegates the login of people to an
identity provider. This module only describes the plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

from pegboard.plugin import Authenticator, Plugin, PluginContext, RecordStore, Route, hookimpl
from pegboard_plugins.auth.login.settings import LoginConfig

if TYPE_CHECKING:
    from pegboard_plugins.auth.login.grant_store import GrantStore
    from pegboard_plugins.auth.login.login_signing import LoginSigner


class LoginPlugin(Plugin):
    """An authenticator for the MCP endpoint, and the authorization server that issues its tokens."""

    Config = LoginConfig
    excludes: ClassVar[Mapping[str, str]] = {
        "resource_server": "both serve the metadata of the endpoint. Keep resource_server if your identity provider "
        "issues tokens for this resource, or login if it does not, and remove the other section"
    }

    @cached_property
    def _signer(self) -> LoginSigner:
        from pegboard_plugins.auth.login.login_signing import LoginSigner

        return LoginSigner(self.config)

    def _grants(self, context: PluginContext) -> GrantStore:
        from pegboard_plugins.auth.login.grant_store import GrantStore, grants_in_file

        if self.config.store is None:
            return grants_in_file(self.config.database)
        return GrantStore(partial(context.store, RecordStore, self.config.store))

    @hookimpl
    def register_authenticators(self, context: PluginContext) -> Iterable[Authenticator]:
        from pegboard_plugins.auth.login.login_authenticator import LoginAuthenticator

        return [LoginAuthenticator(self.config, self._signer, self._grants(context))]

    @hookimpl
    def register_routes(self, context: PluginContext) -> Iterable[Route]:
        """Return the routes of the authorization server, and those of the metadata."""
        from pegboard_plugins.auth.login.login_routes import login_routes

        return login_routes(self.config, self._signer, self._grants(context))
