"""Logins of callers from the network: the browser that ends a login must belong to the caller who started it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import pytest
from aiohttp import web
from pydantic import ValidationError

from pegboard.types import Caller, Request, Response, header_fields
from pegboard_plugins.auth.vault import caller_pages
from pegboard_plugins.auth.vault.caller_pages import CALLBACK, IDENTIFY, LOGINS, OPEN
from pegboard_plugins.auth.vault.login_flows import LoginFlows, login_flows
from pegboard_plugins.auth.vault.server_logins import ServerLogins
from pegboard_plugins.auth.vault.settings import CallerSettings, VaultConfig
from pegboard_plugins.support import issuer_requests
from tests.plugins.auth.vault import network_kit
from tests.plugins.auth.vault.conftest import KEY, logins
from tests.support.callers import Network, caller_sections
from tests.support.config import section
from tests.support.http import Served, http_config
from tests.support.http_mcp import call, opened
from tests.support.issuer import OTHER_RSA_KEY, public
from tests.support.login_issuer import LoginIssuer
from tests.support.oidc import free_port
from tests.support.person import Person
from tests.support.pool import make_site
from tests.support.provider_server import ProviderServer

USE = call("network_use", {})


@pytest.fixture
async def network(tmp_path: Path, provider: ProviderServer) -> AsyncIterator[Network]:
    async with running(tmp_path, provider) as network:
        yield network


@asynccontextmanager
async def running(tmp_path: Path, provider: ProviderServer, **more: str) -> AsyncIterator[Network]:
    """Start a host whose callers may log in at a provider."""
    async with LoginIssuer() as issuer:
        port = free_port()
        sections = caller_sections(issuer.url, **{"url": f"http://127.0.0.1:{port}", **more})
        sections += section("plugins.vault.providers.acme", provider.settings(device=True))  # from the network: none
        config = http_config(f'host = "127.0.0.1"\nport = {port}', more=sections)
        state = {"PEGBOARD_STATE_DIR": str(tmp_path / "state")}
        async with Served(make_site(tmp_path, {"network": network_kit}), config, env=state) as served:
            yield Network(served, issuer, USE)


async def token(network: Network, user: str) -> str | None:
    """Return the token that the tool of a user receives; None without one."""
    result = await network.ask(user)
    return None if result["isError"] else result["content"][0]["text"]


async def test_each_caller_logs_in_and_receives_the_own_token(network: Network) -> None:
    for number, user in enumerate(("ann", "bob"), start=1):
        person = await network.log_in(user)
        assert person.shown[0] == 200, person.shown
        assert "You are logged in at acme" in person.shown[1]
        assert await token(network, user) == f"access-{number}-canary"
    assert await token(network, "ann") == "access-1-canary"
    assert await token(network, "eve") is None
    bearer = f"Bearer {network.issuer.token()}"
    session = await opened(network.served, Authorization=bearer)
    done = await session.post(USE, ("Authorization", bearer))
    assert done.result["content"][0]["text"] == "access-1-canary"
    assert "canary" not in network.served.stderr


async def test_a_caller_ends_the_own_login(network: Network, person: Person) -> None:
    page = f"http://127.0.0.1:{network.served.port}/vault/logins"
    for user in ("ann", "bob"):
        network.issuer.user = user
        await person.open(await network.link(user))
    await person.open(page)
    assert "The login at acme is removed." in person.shown[1]
    assert [await token(network, user) for user in ("ann", "bob")] == ["access-1-canary", None]
    network.issuer.changed = {"sub": ["bob"]}
    await person.open(page)
    assert person.shown[0] in (400, 403)


async def test_phished_links_give_no_token(network: Network, provider: ProviderServer, person: Person) -> None:
    network.issuer.user = "bob"
    await person.open(await network.link("eve"))
    assert person.shown[0] == 403
    assert "Another user has started this login" in person.shown[1]
    assert provider.pages == []
    assert await token(network, "eve") is None


async def test_pages_are_served_at_their_own_address_only(network: Network) -> None:
    port = network.served.port
    for path in ("login", "identity", "callback", "logins"):
        for name, value in (("Host", f"localhost:{port}"), ("Origin", f"http://localhost:{port}")):
            refused = await network.served.request("GET", f"/vault/{path}", [(name, value)])
            assert (refused.status, b"belongs to http://127.0.0.1" in refused.body) == (403, True), path


async def test_a_browser_without_the_callers_login_cannot_end_it(network: Network, provider: ProviderServer) -> None:
    """The sender logs in, and sends the page of the provider or the end of the login to another person."""
    async with Person() as eve, Person() as bob:
        network.issuer.user = "eve"
        link = await network.link("eve")
        origin = link.partition("/vault/")[0]
        end = await eve.open(link, until=f"{origin}/vault/callback")
        network.issuer.user = "bob"
        await bob.open(link)  # the browser now has a cookie of this login
        await bob.open(end)
        assert bob.shown[0] == 403
        assert provider.forms == []


async def test_the_proof_of_another_browser_is_refused(network: Network, provider: ProviderServer) -> None:
    async with Person() as eve, Person() as bob:
        network.issuer.user = "eve"
        link = await network.link("eve")
        proof = await eve.open(link, until=f"{link.partition('/vault/')[0]}/vault/identity")
        network.issuer.user = "bob"
        await bob.open(link)
        await bob.open(proof)
        assert bob.shown[0] == 403
        await eve.open(proof, until=provider.url)
        await eve.open(proof)
        assert eve.shown[0] == 400  # a proof is used once


@pytest.mark.parametrize(("claim", "value"), [("nonce", "other"), ("aud", "other"), ("exp", 1)])
async def test_foreign_id_tokens_fail(network: Network, provider: ProviderServer, claim: str, value: str | int) -> None:
    network.issuer.changed = {claim: value}
    assert (await network.log_in("ann")).shown[0] == 400
    assert provider.pages == []
    await network.served.wait_for_stderr(f"a caller cannot be identified: the ID token is invalid: {claim} ")


async def test_id_tokens_need_a_key_of_the_issuer(network: Network, provider: ProviderServer, person: Person) -> None:
    link = await network.link("ann")
    network.issuer.keys = [public(OTHER_RSA_KEY, "one", "RS256")]
    await person.open(link)
    assert person.shown[0] == 400
    assert provider.pages == []
    network.issuer.answer = web.Response(status=503, text="page-canary")
    await person.open(link)
    assert (person.shown[0], "cannot be reached" in person.shown[1]) == (502, True)
    assert "canary" not in network.served.stderr


async def test_another_claim_names_the_subject(tmp_path: Path, provider: ProviderServer) -> None:
    async with running(tmp_path, provider, subject_claim="oid") as network:
        network.issuer.changed = {"sub": "of-this-client", "oid": "ann"}
        person = await network.log_in("ann")
        assert person.shown[0] == 200, person.shown


async def test_a_host_with_https_serves_a_client_metadata_document(tmp_path: Path, provider: ProviderServer) -> None:
    async with running(tmp_path, provider, url="https://tools.example.com") as network:
        answer = await network.served.request("GET", "/vault/client/one", [("Host", "tools.example.com")])
        document = json.loads(answer.body)
        assert answer.status == 200
        assert answer.get("Content-Type") == "application/json"
        assert document["client_id"] == "https://tools.example.com/vault/client/one"
        assert document["redirect_uris"] == ["https://tools.example.com/vault/callback/one"]


@pytest.mark.parametrize(
    ("url", "document"),
    [("https://tools.example.com", "https://tools.example.com/vault/client/{issuer}"), ("http://127.0.0.1:9", "")],
)
def test_only_logins_of_callers_use_the_metadata_document(url: str, document: str) -> None:
    settings = {"url": url, "issuer": "https://i.example", "client_id": "vault"}
    logins = ServerLogins(login_flows(VaultConfig.model_validate({"callers": settings})))
    own = logins.of(Caller("ann", issuer="https://i.example"))
    assert own is not None
    assert (own.client_metadata_url, logins.client_metadata_url) == (document, "")
    others = [
        Caller("ann"),
        Caller("ann", issuer="https://other.example"),
        Caller("ann", issuer="https://i.example", service=True),
        Caller(client_id="program", issuer="https://i.example"),
    ]
    assert [logins.of(caller) for caller in others] == [None] * 4


def test_a_host_that_issues_no_id_tokens_cannot_identify_callers() -> None:
    with pytest.raises(
        ValidationError, match=r"set issuer to the issuer in \[plugins.login.provider\], and access_issuer"
    ):
        CallerSettings(url="https://t.example", issuer="https://t.example/", client_id="vault")


@pytest.mark.parametrize(
    "url",
    ["http://tools.example.com", "https://tools.example.com/mcp", "ftp://a", "https://a?b", "https://a@b", "https://"],
)
def test_an_unsafe_address_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match=r"without a path|must be https|invalid URL"):
        CallerSettings(url=url, issuer="https://i.example", client_id="vault")


# --- the pages, which strangers can open too, in the process of the test


class Pages(NamedTuple):
    flows: LoginFlows
    issuer: LoginIssuer

    async def get(self, path: str, cookie: str = "", **query: str) -> Response | None:
        assert self.flows.caller_pages is not None
        return await self.flows.caller_pages.own(Request("GET", path, query, header_fields({"Cookie": cookie})))


@pytest.fixture
async def pages(provider: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pages]:
    monkeypatch.setattr(caller_pages, "MAX_BROWSERS", 1)
    monkeypatch.setattr(issuer_requests, "MAX_WAITING_BROWSERS", 1)
    async with LoginIssuer() as issuer:
        callers = {"url": "http://127.0.0.1:9", "issuer": issuer.url, "client_id": "vault"}
        flows = logins(provider.settings(), callers=callers)
        assert flows.caller_pages is not None
        flows.caller_pages.routes(flows)
        yield Pages(flows, issuer)
        await flows.aclose()


async def test_strangers_and_other_cookies_do_not_end_the_login_of_a_caller(
    pages: Pages, provider: ProviderServer
) -> None:
    flow = await pages.flows.start(KEY._replace(issuer=pages.issuer.url, subject="ann"), [])
    opened = await pages.get(OPEN, id=flow.id)
    assert await pages.get(LOGINS) is not None
    assert await pages.get(CALLBACK, state="\udcff") is None
    assert opened is not None
    url = opened.headers["Location"]
    async with aiohttp.ClientSession() as browser, browser.get(url, allow_redirects=False) as answer:
        proof = dict(parse_qsl(urlsplit(answer.headers["Location"]).query))
    cookie = 'other={"name": "value"}; ' + opened.headers["Set-Cookie"].partition(";")[0]
    proved = await pages.get(IDENTIFY, cookie, **proof)
    assert proved is not None
    assert proved.headers.get("Location", "").startswith(provider.url), proved


async def test_strangers_who_wait_for_a_slow_issuer_are_limited(pages: Pages) -> None:
    """Otherwise they could use up all requests of the host."""
    pages.issuer.silent = True
    slow = asyncio.ensure_future(pages.get(LOGINS))
    await pages.issuer.noticed.wait()
    refused = await pages.get(LOGINS)
    assert refused is not None
    assert refused.status == 502
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
    pages.issuer.silent = False
    accepted = await pages.get(LOGINS)
    assert accepted is not None
    assert accepted.status == 303
