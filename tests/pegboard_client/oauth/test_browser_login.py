"""Logins by a person: discovery, identification, the authorization request and its response."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from pegboard_client.http_auth import LoginRequiredError
from pegboard_client.oauth.browser_login import OAuth
from pegboard_client.oauth.loopback_redirect import LoopbackRedirect
from pegboard_client.oauth.oauth_client import OAuthClient
from tests.support.login_server import Browser, LoginServer

pytestmark = pytest.mark.timeout(30)

UNKNOWN = {"WWW-Authenticate": "Bearer"}


async def logged_in(auth: OAuth, server: LoginServer, **challenge: str) -> str:
    """Log in after a challenge, and return the header of the next request."""
    await auth.headers(server.url)
    parameters = ", ".join(f'{name}="{text}"' for name, text in challenge.items())
    assert await auth.challenged(server.url, 401, {"WWW-Authenticate": f"Bearer {parameters}"})
    return (await auth.headers(server.url))["Authorization"]


async def test_a_person_logs_in(server: LoginServer) -> None:
    browser = Browser()
    auth = OAuth(browser, client_name="desk")
    assert await auth.headers(server.url) == {}
    assert await logged_in(auth, server) == "Bearer token-1"
    (registered,), (page,), (form,) = server.registered, server.pages, server.forms
    redirect_uri = registered["redirect_uris"][0]
    assert registered == {
        "client_name": "desk",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    assert redirect_uri.startswith("http://127.0.0.1:")
    fixed = {"tenant": "one", "response_type": "code", "client_id": "dynamic", "code_challenge_method": "S256"}
    assert page | fixed | {"redirect_uri": redirect_uri, "resource": server.url} == page
    assert "scope" not in page
    assert {"code": "code-1", "client_id": "dynamic", "resource": server.url}.items() <= form.items()
    assert browser.shown[0] == 200
    assert "You can close this page" in browser.shown[1]
    assert await auth.headers(server.url.replace("/mcp", "/other")) == {}


@pytest.mark.parametrize(
    ("path", "resource", "metadata", "named"),
    [
        ("", "/.well-known/oauth-protected-resource", "/.well-known/openid-configuration", False),
        ("/t", "/custom", "/t/.well-known/openid-configuration", True),
        ("/t", "/.well-known/oauth-protected-resource/mcp", "/.well-known/openid-configuration/t", False),
        ("/t", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server/t", False),
    ],
)
async def test_metadata_is_found_in_the_order_of_the_specification(
    path: str, resource: str, metadata: str, named: bool
) -> None:
    well_known = ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]
    addresses = ["/.well-known/oauth-authorization-server" + path, "/.well-known/openid-configuration" + path]
    addresses += [f"{path}/.well-known/openid-configuration"] if path else []
    expected = [resource] if named else well_known[: well_known.index(resource) + 1]
    expected += addresses[: addresses.index(metadata) + 1]
    async with LoginServer(path) as server:
        server.resource_path, server.metadata_path = resource, metadata
        options = {"resource_metadata": server.url.replace("/mcp", resource)} if named else {}
        await logged_in(OAuth(Browser()), server, **options)
        assert server.asked[: len(expected) + 1] == [*(f"GET {url_path}" for url_path in expected), "POST /register"]


async def test_a_server_without_metadata_is_its_own_authorization_server(server: LoginServer) -> None:
    server.resource_path = "/nowhere"  # as in 2025-03-26
    assert await logged_in(OAuth(Browser()), server) == "Bearer token-1"
    assert server.forms[0]["resource"] == server.url


async def test_a_parent_path_may_be_the_resource(server: LoginServer) -> None:
    server.resource["resource"] = server.issuer
    await logged_in(OAuth(Browser()), server)
    assert (server.pages[0]["resource"], server.forms[0]["resource"]) == (server.issuer, server.issuer)


SECRET = "s:e %c"


@pytest.mark.parametrize(
    ("supported", "expected"),
    [
        (None, {"basic": f"own:{SECRET}", "client_id": "own"}),
        (["client_secret_post", "client_secret_basic"], {"basic": f"own:{SECRET}", "client_id": "own"}),
        (["client_secret_post"], {"client_id": "own", "client_secret": SECRET}),
    ],
)
async def test_a_registered_client_authenticates_with_its_secret(
    server: LoginServer, supported: list[str] | None, expected: dict[str, str]
) -> None:
    if supported:
        server.metadata["token_endpoint_auth_methods_supported"] = supported
    await logged_in(OAuth(Browser(), client=OAuthClient("own", SECRET, issuer=server.issuer)), server)
    assert expected.items() <= server.forms[0].items()
    assert server.pages[0]["client_id"] == "own"
    assert server.registered == []


async def test_a_metadata_document_identifies_the_client_where_it_is_supported(server: LoginServer) -> None:
    auth = OAuth(Browser(), client_metadata_url="https://desk.example/client.json")
    await logged_in(auth, server)
    assert server.pages[0]["client_id"] == "dynamic"
    server.metadata["client_id_metadata_document_supported"] = True
    await logged_in(OAuth(Browser(), client_metadata_url="https://desk.example/client.json"), server)
    assert server.pages[1]["client_id"] == server.forms[1]["client_id"] == "https://desk.example/client.json"
    for wrong in ("http://desk.example/client.json", "https://desk.example", "https://desk.example/"):
        with pytest.raises(ValueError, match="https URL with a path"):
            OAuth(None, client_metadata_url=wrong)


async def test_a_registration_follows_the_authorization_server(server: LoginServer) -> None:
    server.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    server.metadata["grant_types_supported"] = ["authorization_code"]
    server.registration = {"client_id": "dynamic", "client_secret": "made"}
    await logged_in(OAuth(Browser()), server)
    assert server.registered[0]["grant_types"] == ["authorization_code"]
    assert server.registered[0]["token_endpoint_auth_method"] == "client_secret_post"
    assert server.forms[0]["client_secret"] == "made"


async def test_scopes_come_from_the_challenge_the_metadata_or_the_program(server: LoginServer) -> None:
    server.resource["scopes_supported"] = ["read", "list"]
    await logged_in(OAuth(Browser()), server)
    await logged_in(OAuth(Browser()), server, scope="now")
    await logged_in(OAuth(Browser(), scopes=["own"]), server, scope="now")
    server.metadata["scopes_supported"] = ["read", "offline_access"]
    await logged_in(OAuth(Browser()), server)
    assert [page["scope"] for page in server.pages] == ["read list", "now", "own now", "read list offline_access"]


HONEST = "https://honest.example"
EVIL = "https://evil.example"
REFUSALS: list[tuple[str, Any, str]] = [
    ("metadata", {"code_challenge_methods_supported": ["plain"]}, "does not support PKCE with S256"),
    ("metadata", {"code_challenge_methods_supported": None}, "does not support PKCE with S256"),
    ("metadata", {"authorization_endpoint": None}, "has no authorization endpoint"),
    ("metadata", {"authorization_endpoint": "http://evil.example/a"}, "is not safe"),
    ("metadata", {"authorization_endpoint": "file:///bin/sh"}, "is not safe"),
    ("metadata", {"token_endpoint": "http://evil.example/token"}, "is not safe"),
    ("metadata", {"token_endpoint": None}, "names no token endpoint"),
    ("metadata", {"issuer": HONEST}, "metadata of another issuer: 'https://honest.example'"),
    ("metadata", {"registration_endpoint": None}, "register one there"),
    ("metadata", {"authorization_response_iss_parameter_supported": True}, "lacks `iss`"),
    ("resource", {"resource": f"{EVIL}/mcp"}, "metadata of another server"),
    ("resource", {"resource": "http://127.0.0.1:1/mcp"}, "metadata of another server"),
    ("resource", {"authorization_servers": []}, "names no authorization server"),
    ("resource", {"authorization_servers": ["http://as.example"]}, "is not safe"),
    ("resource", {"authorization_servers": ["https://[x"]}, "is not safe"),
    ("answer", {"error": "access_denied", "error_description": "no \x1b[31m"}, r"access_denied: no \\x1b\[31m"),
    ("answer", {"code": ""}, "sent no authorization code"),
    ("answer", {"iss": EVIL}, "does not come from the authorization server"),
    ("answer", {"iss": EVIL, "error": "secret"}, "does not come from the authorization server"),
    ("registration", {"error": "invalid_redirect_uri"}, "invalid_redirect_uri"),
    ("tokens", [(400, {"error": "invalid_grant"})], "invalid_grant"),
    ("tokens", [(200, {"access_token": "a\r\nb"})], "no usable access token"),
    ("tokens", [(200, {"token_type": "DPoP"})], "not a bearer token"),
    ("tokens", [(500, {"x": "y" * 300_000})], "more than 262,144 bytes"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
async def test_a_login_that_is_not_safe_fails(server: LoginServer, number: int) -> None:
    place, members, problem = REFUSALS[number]
    setattr(server, place, members if isinstance(members, list) else getattr(server, place) | members)
    auth = OAuth(Browser())
    with pytest.raises(LoginRequiredError, match=problem) as caught:
        await logged_in(auth, server)
    assert "secret" not in str(caught.value)
    assert await auth.headers(server.url) == {}


async def test_a_server_elsewhere_does_not_lead_to_this_machine() -> None:
    for url, named in (("http://a.example/mcp", ""), ("https://a.example/mcp", "http://127.0.0.1:1/m")):
        with pytest.raises(LoginRequiredError, match=r"https://|origin"):
            await OAuth(Browser()).challenged(url, 401, {"WWW-Authenticate": f'Bearer resource_metadata="{named}"'})


async def test_a_client_of_another_authorization_server_is_not_used(server: LoginServer) -> None:
    auth = OAuth(Browser(), client=OAuthClient("own", "secret", issuer="https://other.example"))
    with pytest.raises(LoginRequiredError, match=r"registered at https://other\.example"):
        await logged_in(auth, server)
    assert server.forms == []


async def test_without_a_page_there_is_no_login(server: LoginServer) -> None:
    assert not await OAuth(None).challenged(server.url, 401, UNKNOWN)
    assert server.asked == []


async def test_only_the_response_with_the_state_ends_the_login(server: LoginServer) -> None:
    browser = Browser()
    shown = []

    async def open_page(url: str) -> None:
        browser.opened.append(url)
        target = browser.query["redirect_uri"]
        for other in (f"{target}?state=x&code=evil", target, f"{target}/more", f"{target}?state=a&state=b"):
            foreign = Browser()
            await foreign(other)
            shown.append(foreign.shown[0])
        waiting.append(asyncio.create_task(browser(url)))

    waiting: list[asyncio.Task[None]] = []
    assert await logged_in(OAuth(open_page), server) == "Bearer token-1"
    assert shown == [400, 400, 404, 400]
    assert server.forms[0]["code"] == "code-1"
    await asyncio.gather(*waiting)


@pytest.mark.parametrize("fields", [{"Host": "evil.example"}, {"Origin": "http://localhost:1"}, {"Origin": "null"}])
async def test_a_response_at_another_address_is_refused(fields: dict[str, str]) -> None:
    """A name that an attacker's DNS server binds to this machine, and pages of other programs here."""
    receiver = LoopbackRedirect()
    target = await receiver.start("s", "", "")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{target}?state=s&code=evil", headers=fields) as answer:
            assert answer.status == 403
        async with session.get(f"{target}?state=s&code=own") as answer:
            assert answer.status == 200
    assert (await receiver.receive())["code"] == "own"
    await receiver.close()


@pytest.mark.parametrize("path", ["/callback", "/callback/other"])
async def test_a_response_at_the_address_of_another_issuer_is_refused(path: str) -> None:
    receiver = LoopbackRedirect()
    own = await receiver.start("s", "", "own")
    wrong = f"{own.removesuffix('/callback/own')}{path}?state=s&code=other"
    async with aiohttp.ClientSession() as session, session.get(wrong) as answer:
        assert (answer.status, receiver.paste(wrong)) == (404, False)
    assert receiver.paste(f"{own}?state=s&code=own")
    await receiver.close()


async def test_each_issuer_has_its_own_redirect_uri(server: LoginServer) -> None:
    metadata = "https://desk.example/{issuer}"
    async with LoginServer() as other:
        for each in (server, other, other):
            each.metadata["client_id_metadata_document_supported"] = len(other.pages) == 1
            await logged_in(OAuth(Browser(), client_metadata_url=metadata), each)
    ends = [page["redirect_uri"].partition("/callback/")[2] for page in (*server.pages, *other.pages)]
    assert (len(set(ends)), ends[1]) == (2, ends[2])
    assert other.pages[1]["client_id"] == f"https://desk.example/{ends[2]}"


class Elsewhere:
    """A receiver that returns the response to another login."""

    async def start(self, state: str, earlier: str, issuer: str) -> str:
        return "https://desk.example/back"

    async def receive(self) -> dict[str, str]:
        return {"code": "code-1", "state": "other"}

    async def close(self) -> None:
        """Nothing is open."""


async def test_the_response_to_another_login_is_refused(server: LoginServer) -> None:
    opened: list[str] = []
    with pytest.raises(LoginRequiredError, match="the response belongs to another login"):
        await logged_in(OAuth(opened.append, redirect=Elsewhere()), server)
    assert "redirect_uri=https%3A%2F%2Fdesk.example%2Fback" in opened[0]
    assert server.forms == []


async def test_a_fixed_redirect_uri_is_used(server: LoginServer) -> None:
    first = LoopbackRedirect()
    taken = await first.start("", "", "")
    with pytest.raises(LoginRequiredError, match="another program uses it"):
        await logged_in(OAuth(Browser(), redirect=LoopbackRedirect(taken)), server)
    await first.close()
    fixed = taken.replace("127.0.0.1", "localhost").replace("/callback", "/own")
    await logged_in(OAuth(Browser(), redirect=LoopbackRedirect(fixed)), server)
    assert server.pages[-1]["redirect_uri"] == fixed
    for wrong in ("https://127.0.0.1:1/", "http://a.example:1/", "http://localhost/callback"):
        with pytest.raises(ValueError, match="redirect URI must"):
            LoopbackRedirect(wrong)


async def test_requests_that_wait_share_one_login(server: LoginServer) -> None:
    browser = Browser()
    auth = OAuth(browser)

    async def request() -> str:
        return await logged_in(auth, server)

    assert await asyncio.gather(*(request() for _ in range(3))) == ["Bearer token-1"] * 3
    assert len(browser.opened) == 1
