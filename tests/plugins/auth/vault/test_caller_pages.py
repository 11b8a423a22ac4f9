"""The pages of callers from the network, which strangers can open too, in the process of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import pytest

from pegboard.types import Request, Response, header_fields
from pegboard_plugins.auth.vault import caller_pages
from pegboard_plugins.auth.vault.caller_pages import CALLBACK, IDENTIFY, LOGINS, OPEN
from pegboard_plugins.auth.vault.login_flows import LoginFlows
from pegboard_plugins.support import issuer_requests
from tests.plugins.auth.vault.conftest import KEY, logins
from tests.support.login_issuer import LoginIssuer
from tests.support.provider_server import ProviderServer


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
        await flows.close()


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
