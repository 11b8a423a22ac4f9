"""Attacks on logins, each with the expected result of docs/vault.md."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import parse_qsl, urlsplit

import pytest

from pegboard.client import LoginFailedError
from pegboard_plugins.vault.login_flows import LoginFlow, LoginFlows
from pegboard_plugins.vault.vault_store import VaultToken
from tests.plugins.vault.conftest import KEY, logins
from tests.support.person import Person
from tests.support.provider_server import ProviderServer


async def outcome(flow: LoginFlow) -> str:
    """Return the reason why a login failed."""
    with pytest.raises(LoginFailedError) as failed:
        await flow.done
    return str(failed.value)


async def closed(flows: LoginFlows) -> VaultToken | None:
    """End the logins that wait, and return the token."""
    await flows.close()
    return await flows.tokens.load(KEY)


@pytest.mark.parametrize("answer", [{"iss": "https://evil.example"}, {"iss": "http://127.0.0.1:1"}])
async def test_a_response_of_another_issuer_is_refused_before_the_code_is_used(answer: dict[str, str]) -> None:
    async with ProviderServer() as provider, Person() as person:
        provider.answer = answer
        flows = logins(provider.settings(provider="google"))
        flow = await flows.start(KEY, [])
        await person.open(flow.url)
        assert "authorization server" in await outcome(flow)
        assert provider.forms == []


@pytest.mark.parametrize("change", [{"state": "another"}, {"state": ""}])
async def test_another_state_ends_no_login(change: dict[str, str]) -> None:
    async with ProviderServer() as provider, Person() as person:
        provider.answer = change
        flows = logins(provider.settings())
        flow = await flows.start(KEY, [])
        await person.open(flow.url)
        assert person.shown[0] == 400
        assert provider.forms == []
        assert await closed(flows) is None


async def test_a_stolen_state_is_useless_in_another_browser() -> None:
    """Also login CSRF: an attacker leads the victim's browser to the end of a login that it did not begin."""
    async with ProviderServer() as provider, Person() as person, Person() as thief:
        flows = logins(provider.settings())
        flow = await flows.start(KEY, [])
        end = await person.open(flow.url, until=flow.url.partition("/login/")[0] + "/callback")
        await thief.open(end)
        assert thief.shown[0] == 403
        assert provider.forms == []
        await person.open(end)
        assert await flow.done == "You are logged in at acme"


async def test_a_response_is_used_once() -> None:
    async with ProviderServer() as provider, Person() as person:
        flows = logins(provider.settings())
        first = await flows.start(KEY, [])
        other = await flows.start(KEY._replace(subject="other"), [])  # keeps the pages open
        end = await person.open(first.url, until=first.url.partition("/login/")[0] + "/callback")
        await person.open(end)
        await first.done
        await asyncio.gather(*[first.task] if first.task else [])
        await person.open(end)
        assert person.shown[0] == 400
        await person.open(first.url)
        assert person.shown[0] == 404
        assert len(provider.forms) == 1
        assert other.url
        await flows.close()


async def test_an_injected_code_is_refused() -> None:
    """The code of the thief's own login, with the state of the victim."""
    async with ProviderServer() as provider, Person() as person, Person() as thief:
        flows = logins(provider.settings())
        own = await flows.start(KEY._replace(subject="thief"), [])
        stolen = await thief.open(own.url, until=own.url.partition("/login/")[0] + "/callback")
        provider.answer = {"code": dict(parse_qsl(urlsplit(stolen).query))["code"]}
        flow = await flows.start(KEY, [])
        await person.open(flow.url)
        assert "invalid_grant" in await outcome(flow)
        assert await closed(flows) is None


@pytest.mark.parametrize("query", ["?url=https://evil.example", "?redirect_uri=https://evil.example", "?next=//evil"])
async def test_the_link_redirects_to_the_provider_only(query: str) -> None:
    async with ProviderServer() as provider, Person() as person:
        flows = logins(provider.settings())
        flow = await flows.start(KEY, [])
        end = flow.url.partition("/login/")[0]
        await person.open(flow.url + query, until=f"{end}/callback")
        assert [url.startswith((end, provider.url)) for url in person.visited] == [True] * 3
        await person.open(f"{end}/login/guessed")
        assert person.shown[0] == 404
        await flows.close()


@pytest.mark.parametrize("error", ["invalid_grant", "temporarily_unavailable"])
async def test_no_secret_is_in_an_error_or_log(error: str, caplog: pytest.LogCaptureFixture) -> None:
    """A provider that repeats what it received."""
    caplog.set_level(logging.DEBUG)
    async with ProviderServer() as provider, Person() as person:
        flows = logins(provider.settings())
        heard = ("code-1-canary client-secret-canary", "refresh-0-canary client-secret-canary")
        provider.replies = [(400, {"error": error, "error_description": text}) for text in heard]
        flow = await flows.start(KEY, [])
        await person.open(flow.url)
        said = await outcome(flow) + person.shown[1]
        assert "***" in said
        await flows.tokens.save(KEY, VaultToken("access-0-canary", "refresh-0-canary", 0.0))
        (failed,) = await asyncio.gather(flows.tokens.fresh(KEY), return_exceptions=True)
        assert "canary" not in said + str(failed) + caplog.text


async def test_a_provider_must_use_https() -> None:
    settings = {
        "client_id": "x",
        "authorization_endpoint": "http://a.example/a",
        "token_endpoint": "http://a.example/t",
    }
    flows = logins(settings)
    flow = await flows.start(KEY, [])
    assert flow.request is not None
    with pytest.raises(LoginFailedError, match="requires an https URL"):
        await flows.clients["acme"].redeem(flow.request, {"state": flow.request.state, "code": "x"}, [])
    await flows.close()
