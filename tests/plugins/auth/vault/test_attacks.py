"""Attacks on logins, each with its result."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import parse_qsl, quote, urlsplit

import aiohttp
import pytest

from pegboard_client import LoginFailedError
from pegboard_plugins.auth.vault.login_flows import LoginFlow, LoginFlows
from pegboard_plugins.auth.vault.vault_store import VaultToken
from tests.plugins.auth.vault.conftest import KEY, log_in, logins
from tests.support.issuer import Issuer
from tests.support.person import Person
from tests.support.provider_server import ProviderServer


async def outcome(flow: LoginFlow) -> str:
    with pytest.raises(LoginFailedError) as failed:
        await flow.done
    return str(failed.value)


async def closed(flows: LoginFlows) -> VaultToken | None:
    await flows.aclose()
    return await flows.tokens.load(KEY)


async def test_a_response_of_another_issuer_is_refused_at_once(provider: ProviderServer, person: Person) -> None:
    provider.answer = {"iss": "https://evil.example"}
    _, flow = await log_in(person, provider.settings(provider="google"))
    assert "authorization server" in await outcome(flow)
    assert provider.forms == []


@pytest.mark.parametrize("change", [{"state": "another"}, {"state": ""}])
async def test_another_state_ends_no_login(change: dict[str, str], provider: ProviderServer, person: Person) -> None:
    provider.answer = change
    flows, _ = await log_in(person, provider.settings())
    assert person.shown[0] == 400
    assert provider.forms == []
    assert await closed(flows) is None


async def test_a_stolen_state_is_useless_elsewhere(flows: LoginFlows, provider: ProviderServer, person: Person) -> None:
    """Also login CSRF: an attacker leads the victim's browser to the end of a login that it did not begin."""
    async with Person() as thief:
        flow = await flows.start(KEY, [])
        end = await person.open(flow.url, until=flow.url.partition("/login/")[0] + "/callback")
        await thief.open(end)
        assert thief.shown[0] == 403
        assert provider.forms == []
        await person.open(end)
        assert await flow.done == "You are logged in at acme"


async def test_a_response_is_used_once(flows: LoginFlows, provider: ProviderServer, person: Person) -> None:
    first = await flows.start(KEY, [])
    await flows.start(KEY._replace(subject="other"), [])  # keeps the pages open
    end = await person.open(first.url, until=first.url.partition("/login/")[0] + "/callback")
    await person.open(end)
    await first.done
    await asyncio.gather(*[first.task] if first.task else [])
    await person.open(end)
    assert person.shown[0] == 400
    await person.open(first.url)
    assert person.shown[0] == 404
    assert len(provider.forms) == 1


async def test_an_injected_code_is_refused(flows: LoginFlows, provider: ProviderServer, person: Person) -> None:
    """The code of the thief's own login, with the state of the victim."""
    async with Person() as thief:
        own = await flows.start(KEY._replace(subject="thief"), [])
        stolen = await thief.open(own.url, until=own.url.partition("/login/")[0] + "/callback")
        provider.answer = {"code": dict(parse_qsl(urlsplit(stolen).query))["code"]}
        flow = await flows.start(KEY, [])
        await person.open(flow.url)
        assert "invalid_grant" in await outcome(flow)
        assert await closed(flows) is None


@pytest.mark.parametrize("query", ["?url=https://evil.example", "?redirect_uri=https://evil.example", "?next=//evil"])
async def test_no_open_redirect(query: str, flows: LoginFlows, provider: ProviderServer, person: Person) -> None:
    flow = await flows.start(KEY, [])
    end = flow.url.partition("/login/")[0]
    await person.open(flow.url + query, until=f"{end}/callback")
    assert [url.startswith((end, provider.url)) for url in person.visited] == [True] * 3
    await person.open(f"{end}/login/guessed")
    assert person.shown[0] == 404


@pytest.mark.parametrize("name", ["Origin", "Host"])
async def test_pages_are_served_at_their_own_address_only(name: str, flows: LoginFlows) -> None:
    """A name that an attacker's DNS server binds to this machine, and pages of other programs here."""
    async with aiohttp.ClientSession() as browser:
        url = urlsplit((await flows.start(KEY, [])).url)
        for value in (f"evil.example:{url.port}", f"localhost:{url.port}", "127.0.0.1:1"):
            sent = {name: value if name == "Host" else f"http://{value}"}
            for page in (url.geturl(), url._replace(path="/callback").geturl(), url._replace(path="/x").geturl()):
                async with browser.get(page, headers=sent, allow_redirects=False) as answer:
                    assert (answer.status, answer.cookies) == (403, {})


@pytest.mark.parametrize("error", ["invalid_grant", "temporarily_unavailable"])
async def test_no_secret_is_in_an_error_or_log(
    error: str, caplog: pytest.LogCaptureFixture, flows: LoginFlows, provider: ProviderServer, person: Person
) -> None:
    caplog.set_level(logging.DEBUG)
    heard = ("code-1-canary client-secret-canary", "refresh-0-canary client-secret-canary")
    provider.replies = [(400, {"error": error, "error_description": text}) for text in heard]
    flow = await flows.start(KEY, [])
    await person.open(flow.url)
    shown = await outcome(flow) + person.shown[1]
    assert "***" in shown
    await flows.tokens.save(KEY, VaultToken("access-0-canary", "refresh-0-canary", 0.0))
    (failed,) = await asyncio.gather(flows.tokens.fresh(KEY), return_exceptions=True)
    assert "canary" not in shown + str(failed) + caplog.text


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint"])
@pytest.mark.parametrize("url", ["http://a.example/x", "javascript:alert(1)", "file:///etc/passwd", ""])
async def test_metadata_must_name_addresses_with_https(name: str, url: str) -> None:
    async with Issuer() as issuer:
        issuer.metadata |= {"authorization_endpoint": f"{issuer.url}/a", "token_endpoint": f"{issuer.url}/t", name: url}
        issuer.metadata["code_challenge_methods_supported"] = ["S256"]
        flows = logins({"client_id": "x", "issuer": issuer.url})
        with pytest.raises(LoginFailedError, match=r"requires an https URL|has no authorization|names no token"):
            await flows.start(KEY, [])


@pytest.mark.parametrize("description", ["{}", "https%3A%2F%2Fa%3Ftoken%3D{}", "{:z<30}", "x" * 190 + " {}"])
async def test_tokens_in_descriptions_are_masked(description: str, flows: LoginFlows, provider: ProviderServer) -> None:
    """The description is shortened, and may quote the token."""
    secret = "refresh/0+canary=="
    for text in (secret, quote(secret, safe="")):
        answer = {"error": "invalid_request", "error_description": description.format(text)}
        provider.replies = [(400, answer), (400, {"error": text, "error_description": "no"})]
        await flows.tokens.save(KEY, VaultToken("access-0-canary", secret, 0.0))
        for _ in range(2):
            with pytest.raises(LoginFailedError) as failed:
                await flows.tokens.fresh(KEY)
            assert "refresh" not in str(failed.value)


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "\x1b[31m", ["list"], 7])
async def test_an_unusable_token_is_refused(token: object, provider: ProviderServer, person: Person) -> None:
    provider.reply = {"access_token": token}
    flows, flow = await log_in(person, provider.settings())
    assert "sent no usable token" in await outcome(flow)
    assert await closed(flows) is None


@pytest.mark.parametrize(
    "answer",
    [
        {"verification_uri": "file:///etc/passwd"},
        {"verification_uri": "http://a.example/enter"},
        {"verification_uri": "https://a.example/\x1b[31m"},
        {"user_code": "AB\x1b[31mCD"},
        {"user_code": "x" * 1000},
    ],
)
async def test_a_device_login_shows_only_a_safe_page_and_code(answer: dict[str, str], provider: ProviderServer) -> None:
    provider.device |= answer
    with pytest.raises(LoginFailedError, match=r"https URL|no usable code"):
        await logins(provider.settings()).start(KEY, [], device=True)


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [("soon", 5.0), (True, 5.0), (-5, 1.0), (0, 1.0), (7, 7.0), (1e300, 60.0), (10**400, 60.0)],
)
async def test_device_login_intervals_are_limited(interval: object, seconds: float, provider: ProviderServer) -> None:
    provider.device["interval"] = interval
    login = await logins(provider.settings()).clients["acme"].start_device_login([])
    assert login.seconds == seconds
