"""The vault keeps the contract of token sources."""

from __future__ import annotations

from pegboard.plugin import TokenSource
from pegboard.types import ToolAuthorization
from pegboard_plugins.auth.auth_providers import OAuth2
from pegboard_plugins.auth.vault.vault_source import VaultSource
from pegboard_plugins.auth.vault.vault_store import VaultToken
from pegboard_testing import TokenSourceContract
from tests.plugins.auth.vault.conftest import KEY, logins


class TestVault(TokenSourceContract):
    user = None

    async def make(self) -> TokenSource:
        endpoints = {"authorization_endpoint": "https://a.example/a", "token_endpoint": "https://a.example/t"}
        flows = logins({"client_id": "pegboard", **endpoints})
        await flows.tokens.save(KEY, VaultToken("access-0-canary", scopes=("read",)))
        return VaultSource(flows)

    def required(self) -> ToolAuthorization:
        return OAuth2(id="acme", scopes=["read"])
