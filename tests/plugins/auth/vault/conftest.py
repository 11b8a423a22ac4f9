"""Hosts with a vault, in the process of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Host
from pegboard_plugins.auth.auth_providers import OAuth2
from pegboard_plugins.auth.vault.login_flows import LoginFlow, LoginFlows, login_flows
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultToken
from tests.plugins.auth.conftest import token_kit
from tests.support.person import Person
from tests.support.provider_server import ProviderServer

KEY = TokenKey("", "", "acme")


@pytest.fixture
async def provider() -> AsyncIterator[ProviderServer]:
    async with ProviderServer() as server:
        yield server


def vault_host(settings: dict[str, Any], *scopes: str, more: tuple[str, ...] = ()) -> Host:
    """Return a host whose tools `use` and `use_more` return their token of the provider "acme"."""
    kit = token_kit(use=OAuth2(id="acme", scopes=scopes), use_more=OAuth2(id="acme", scopes=[*scopes, *more]))
    host = {"autoload": False, "transports": [], "secret_stores": []}
    return Host({"host": host, "plugins": {"vault": {"providers": {"acme": settings}}}}, toolkits={"t": kit})


def logins(settings: dict[str, Any], **vault: Any) -> LoginFlows:
    """Return the logins of a process at the provider "acme"."""
    return login_flows(VaultConfig.model_validate({"providers": {"acme": settings}, **vault}))


async def log_in(person: Person, settings: dict[str, Any], *scopes: str) -> tuple[LoginFlows, LoginFlow]:
    """Let a person open the link of a login. Return the logins and this login."""
    flows = logins(settings)
    flow = await flows.start(KEY, scopes)
    await person.open(flow.url)
    return flows, flow


@pytest.fixture
async def flows(provider: ProviderServer) -> AsyncIterator[LoginFlows]:
    flows = logins(provider.settings())
    yield flows
    await flows.aclose()


async def fresh_token(flows: LoginFlows, *scopes: str) -> VaultToken:
    """Return the token of the owner, renewed if it has expired."""
    token = await flows.tokens.fresh(KEY, scopes)
    assert token is not None
    return token
