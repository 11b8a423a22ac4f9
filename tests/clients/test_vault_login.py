"""Clients of others log in at a host with the plugins `login` and `vault`, and a tool has the token of the person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.clients import account_kit
from tests.clients.test_front_door_login import END, said
from tests.plugins.auth.vault.test_commands import pegboard
from tests.support.chromium import Chromium
from tests.support.config import section
from tests.support.http import Served, http_config
from tests.support.login_server import LoginServer
from tests.support.oidc import OidcProvider, free_port
from tests.support.person import Person
from tests.support.pool import make_site

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

CONFIG = """
[plugins.login]
resource = "{url}/mcp"
allowed_users = ["ann"]

[plugins.login.provider]
issuer = "{identity}"
client_id = "vault"
client_secret = "vault-secret-0123456789"

[plugins.vault.callers]
url = "{url}"
issuer = "{identity}"
access_issuer = "{url}"
client_id = "vault"
client_secret = "vault-secret-0123456789"

[plugins.vault.providers.acme]
issuer = "{accounts}"
client_id = "vault"
client_secret = "vault-secret-0123456789"
"""


CLIENTS = (("1", "legacy"), ("2", "legacy"), ("2", "2026-07-28"), ("typescript", "legacy"))


@asynccontextmanager
async def running(folder: Path, more: str = "") -> AsyncIterator[tuple[Served, OidcProvider]]:
    """Serve the toolkit `account`, with one provider for the login of people and another for their tokens."""
    async with OidcProvider(vault=True) as identity, OidcProvider(vault=True) as accounts:
        port = free_port()
        own = CONFIG.format(url=f"http://127.0.0.1:{port}", identity=identity.url, accounts=accounts.url)
        config = http_config(f'host = "127.0.0.1"\nport = {port}', more=own + more)
        state = {"PEGBOARD_STATE_DIR": str(folder / "state")}
        async with Served(make_site(folder, {"account": account_kit}), config, env=state) as served:
            yield served, accounts


@pytest.mark.parametrize("asks", ["asks", "silent"])
@pytest.mark.parametrize(("client", "mode"), CLIENTS)
async def test_a_client_logs_in_and_a_tool_has_the_token(client: str, mode: str, asks: str, tmp_path: Path) -> None:
    """A client without elicitation receives the link in an error, and calls again."""
    async with running(tmp_path) as (served, accounts):
        heard = await said(client, served.url, "account_show", mode, asks)
        assert heard["text"] == f"{accounts.url} ann work"
        assert len(heard["errors"]) == (asks == "silent")
        assert len(heard["pages"]) == 1
        assert "You are logged in at acme" in heard["pages"][0]


@pytest.mark.needs("upstreams")
@pytest.mark.parametrize("asks", ["asks", "silent"])
@pytest.mark.parametrize(("client", "mode"), CLIENTS)
async def test_a_client_logs_in_at_a_mounted_server(client: str, mode: str, asks: str, tmp_path: Path) -> None:
    async with LoginServer() as server:
        mounted = section("plugins.upstreams.servers.cups", {"url": server.url, "identity": "user"})
        async with running(tmp_path, mounted) as (served, _):
            heard = await said(client, served.url, "cups_login", mode, asks)
        assert heard["text"] == "You are logged in at cups. Its tools: cups_cup."
        assert len(heard["errors"]) == (asks == "silent")
        assert "You are logged in at cups" in heard["pages"][-1]


class BrowserUser(Person):
    """A person with Chromium."""

    def __init__(self, browser: Chromium) -> None:
        super().__init__()
        self._browser = browser

    async def open(self, url: str, until: str = "") -> str:
        await self._browser.open(url)
        await self._browser.agree(until or END)
        self.shown = (200, await self._browser.run("document.body.innerText"))
        return url


async def test_the_operator_logs_in_with_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cookie, the redirects and the pages of the loopback server work in Chromium."""
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    async with (
        OidcProvider(vault=True) as accounts,
        Chromium(tmp_path / "browser") as browser,
        BrowserUser(browser) as person,
    ):
        provider = CONFIG[CONFIG.index("[plugins.vault.providers") :].format(accounts=accounts.url)
        (tmp_path / "hostconfig.toml").write_text(provider, "utf-8")
        code, out, messages = await pegboard(tmp_path, "login", "acme", "--scopes", "work", person=person)
        assert (code, out) == (0, "You are logged in at acme.\n"), messages
        assert person.shown[1].startswith("You are logged in at acme")
        assert await browser.run("getComputedStyle(document.querySelector('main')).borderRadius") == "12px"
        assert (await pegboard(tmp_path, "logins"))[1].startswith("acme")
