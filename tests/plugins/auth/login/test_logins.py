"""Logins: metadata, registration, consent, codes, renewal, revocation, and clients with a web address."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from pegboard_client import Client, Endpoint, OAuth
from pegboard_plugins.auth.login import login_clients
from pegboard_plugins.auth.login.login_clients import ClientRefusedError, LoginClients
from pegboard_plugins.auth.login.login_signing import LoginSigner
from pegboard_plugins.auth.login.settings import LoginConfig
from tests.plugins.auth.login.front import BACK, KEY, Front
from tests.plugins.auth.login.identity_server import IdentityServer
from tests.support.documents import Documents
from tests.support.mcp_client import text_of
from tests.support.person import Person


async def test_a_client_finds_the_login_and_calls_a_tool(front: Front, person: Person) -> None:
    async with Client(Endpoint(front.resource, auth=OAuth(person.open))) as client:
        assert text_of(await client.call("guarded")) == "done"
        assert text_of(await client.call("who")) == "7 ['work'] {'email': 'ann@example.com', 'name': 'Ann'}"


async def test_metadata(front: Front) -> None:
    refused = await front.post("/mcp", {})
    assert refused.status == 401
    known = f"{front.url}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{known}", scope="work"' in refused.headers["WWW-Authenticate"]
    resource = (await front.get("/.well-known/oauth-protected-resource/mcp")).json
    assert resource["resource"] == front.resource
    assert resource["authorization_servers"] == [front.url]
    server = (await front.get("/.well-known/oauth-authorization-server")).json
    assert server["issuer"] == front.url
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["client_id_metadata_document_supported"] is True


async def test_metadata_without_scopes(provider: IdentityServer) -> None:
    """Empty lists are omitted (RFC 8414, section 3.2, and RFC 9728, section 3.2)."""
    async with Front(provider.url, scopes=[], challenge_scopes=[]) as front:
        for path in ("oauth-protected-resource", "oauth-authorization-server"):
            assert [] not in (await front.get(f"/.well-known/{path}")).json.values()


@pytest.mark.parametrize(
    ("requested", "granted"),
    [("", "work"), ("other", "other"), ("work other openid", "work other"), ("work work", "work")],
)
async def test_granted_scopes(front: Front, requested: str, granted: str) -> None:
    assert (await front.tokens(await front.client(), scope=requested))["scope"] == granted


async def test_scopes_of_groups(provider: IdentityServer) -> None:
    async with Front(provider.url, scope_groups={"other": ["ops"]}) as front:
        client = await front.client()
        assert (await front.tokens(client, scope="work other"))["scope"] == "work"
        provider.userinfo = {"groups": ["ops"], "sub": "8"}
        assert (await front.tokens(client, scope="work other"))["scope"] == "work"
        provider.userinfo = {"groups": ["ops", "staff"]}
        assert (await front.tokens(client, scope="work other"))["scope"] == "work other"


@pytest.mark.parametrize(
    ("settings", "claims", "admitted"),
    [
        ({"allowed_users": ["7"]}, {}, True),
        ({"allowed_users": ["ANN@example.com"]}, {}, True),
        ({"allowed_users": ["ann@example.com"]}, {"email_verified": False}, False),
        ({"allowed_users": ["ann@example.com"]}, {"sub": "ann@example.com", "email": "b@example.com"}, False),
        ({"allowed_users": ["8"]}, {}, False),
        ({"allowed_domains": ["example.com"]}, {"email_verified": "true"}, False),
        ({"allowed_domains": ["ample.com"]}, {}, False),
        ({"allowed_domains": ["EXAMPLE.com"]}, {}, True),
        ({"allowed_domains": ["example.com"]}, {"email": "ann@sub.example.com"}, False),
        ({"allowed_domains": ["example.com"]}, {"email": "ann@example.com@evil.example"}, False),
        ({"allowed_domains": ["example.com"]}, {"email": "example.com"}, False),
        ({"allowed_domains": ["none"]}, {"email": None}, False),
        ({"allowed_groups": ["ops"]}, {"groups": ["ops"]}, True),
        ({"allowed_groups": ["ops"]}, {"groups": "ops"}, False),
        ({"everyone": True}, {}, True),
    ],
)
async def test_only_listed_people_log_in(
    provider: IdentityServer, settings: dict[str, Any], claims: dict[str, Any], admitted: bool
) -> None:
    provider.claims |= claims
    async with Front(provider.url, **settings) as front:
        answer = await front.log_in(await front.client())
        assert ("code" in answer, answer.get("error")) == (admitted, None if admitted else "access_denied")


@pytest.mark.parametrize(("user", "admitted"), [("boss@example.com", False), ("eve@example.com", True)])
async def test_an_address_is_verified_by_its_own_document(provider: IdentityServer, user: str, admitted: bool) -> None:
    provider.claims = {"email": "boss@example.com"}
    provider.userinfo = {"email": "eve@example.com", "email_verified": True}
    async with Front(provider.url, allowed_users=[user]) as front:
        assert ("code" in await front.log_in(await front.client())) is admitted


@pytest.mark.parametrize(
    ("settings", "admitted"),
    [
        ({"allowed_users": ["octocat"]}, True),
        ({"allowed_users": ["583231"]}, False),
        ({"allowed_groups": ["acme"]}, True),
        ({"allowed_groups": ["acme/ops"]}, True),
        ({"allowed_groups": ["evil"]}, False),
    ],
)
async def test_github(provider: IdentityServer, settings: dict[str, Any], admitted: bool) -> None:
    provider.memberships = ("user/memberships/orgs/acme", "orgs/acme/teams/ops/memberships/Octocat")
    async with Front(provider.url, {"kind": "github"}, **settings) as front:
        assert ("code" in await front.log_in(await front.client())) is admitted
        assert provider.pages[0].get("scope") == ("read:org" if "allowed_groups" in settings else None)


async def test_a_refresh_token_is_replaced_and_loses_no_scope(front: Front, client: str) -> None:
    first = await front.tokens(client, scope="work other")
    narrow = (await front.refresh(client, first["refresh_token"], scope="other")).json
    assert narrow["scope"] == "other"
    wide = (await front.refresh(client, narrow["refresh_token"])).json
    assert wide["scope"] == "work other"
    assert await front.status(wide["access_token"]) == 200


async def test_logins_survive_a_restart_and_a_new_key(provider: IdentityServer) -> None:
    async with Front(provider.url) as front:
        client = await front.client()
        tokens = await front.tokens(client)
    async with Front(provider.url, port=front.port, keys=[KEY[::-1], KEY]) as front:
        assert await front.status(tokens["access_token"]) == 200
        fresh = (await front.refresh(client, tokens["refresh_token"])).json
        assert "code" in await front.log_in(client)
    async with Front(provider.url, port=front.port, keys=[KEY[::-1]]) as front:
        assert await front.status(tokens["access_token"]) == 401
        assert await front.status(fresh["access_token"]) == 200
        # with this code, clients remove their registration and register again
        assert (await front.refresh(client, fresh["refresh_token"])).json["error"] == "invalid_client"


async def test_processes_share_logins(provider: IdentityServer, state: Path) -> None:
    async with (
        Front(provider.url, checked_seconds=0) as front,
        Front(provider.url, checked_seconds=0, resource=front.resource, database=str(state / "login.db")) as other,
    ):
        client = await front.client()
        first = await front.tokens(client)
        assert await other.status(first["access_token"]) == 200
        second = (await other.refresh(client, first["refresh_token"])).json
        assert (await front.refresh(client, first["refresh_token"])).json["error"] == "invalid_grant"
        assert await other.status(second["access_token"]) == 401


async def test_a_checked_token_is_remembered_for_a_while(front: Front, client: str) -> None:
    tokens = [(await front.tokens(client))["access_token"] for _ in range(2)]
    assert await front.status(tokens[0]) == 200
    for token in tokens:
        await front.post("/login/revoke", {"token": token, "client_id": client})
    assert [await front.status(token) for token in tokens] == [200, 401]


async def test_cookies_of_a_public_host_are_bound_to_it(provider: IdentityServer) -> None:
    async with Front(provider.url, resource="https://tools.example.com/mcp") as front:
        page = await front.get(front.page(await front.client(), resource=""), Host="tools.example.com")
        assert page.headers["Set-Cookie"].startswith("__Host-pegboard-login=")
        assert page.headers["Set-Cookie"].endswith("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure")


async def test_a_page_behind_a_trusted_proxy_that_has_another_host(provider: IdentityServer) -> None:
    async with Front(provider.url, resource="https://tools.example.com/mcp", proxies=["127.0.0.1"]) as front:
        path = front.page(await front.client(), resource="")
        for named, status in (("tools.example.com", 200), ("tools.example.com:443", 200), ("localhost", 403)):
            assert (await front.get(path, **{"X-Forwarded-Host": named})).status == status


async def test_a_provider_that_cannot_be_reached() -> None:
    async with Front("http://127.0.0.1:1") as front:
        assert (await front.log_in(await front.client()))["error"] == "temporarily_unavailable"


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"grant_type": "authorization_code"}, "invalid_request"),
        ({"grant_type": "refresh_token", "refresh_token": ""}, "invalid_request"),
        ({}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
    ],
)
async def test_a_token_request_without_a_required_field(front: Front, form: dict[str, str], error: str) -> None:
    """RFC 6749, section 5.2."""
    answer = await front.post("/login/token", {"client_id": await front.client(), **form})
    assert (answer.status, answer.json["error"]) == (400, error)


async def test_revocation_ends_the_login(front: Front, client: str) -> None:
    for form in ({"client_id": client}, {"token": "x"}):
        assert (await front.post("/login/revoke", form)).json["error"] == "invalid_request"
    for kind in ("refresh_token", "access_token"):
        tokens = await front.tokens(client)
        for token, other, status in (("x", client, 200), (tokens[kind], "other", 400)):
            assert (await front.post("/login/revoke", {"token": token, "client_id": other})).status == status
        tokens = (await front.refresh(client, tokens["refresh_token"])).json
        assert (await front.post("/login/revoke", {"token": tokens[kind], "client_id": client})).status == 200
        assert (await front.refresh(client, tokens["refresh_token"])).json["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": [BACK] * 11}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://evil.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["cursor://cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/cb#x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/cb#"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://127.0.0.1.evil.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://0.0.0.0/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example\\@b.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://user@a.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"https://a.example/{'a' * 450}{number}" for number in range(9)]}, "invalid_redirect_uri"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"client_name": 7}, "invalid_client_metadata"),
    ],
)
async def test_an_invalid_registration_is_refused(front: Front, metadata: dict[str, Any], error: str) -> None:
    answer = await front.register(**metadata)
    assert (answer.status, answer.json["error"]) == (400, error)


@pytest.mark.parametrize("body", ["", "[]", "{", "[" * 100_000])
async def test_a_registration_that_is_no_object(front: Front, body: str) -> None:
    answer = await front._send("POST", "/login/register", data=body)
    assert answer.json["error"] == "invalid_client_metadata"


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("cursor://cb", "the application for cursor"),
        ("cursor:///cb", "the application for cursor"),
        ("cursor://localhost/cb", "the application for cursor"),
        ("http://localhost:9/cb", "a program on your own computer"),
        ("http://[::1]/cb", "a program on your own computer"),
        ("https://localhost/cb", "a program on your own computer"),
        ("https://a.example/cb?a=1", "<dd>a.example</dd>"),
        ("https://a.example/cb?", "<dd>a.example</dd>"),
    ],
)
async def test_redirect_uris_of_applications(provider: IdentityServer, uri: str, shown: str) -> None:
    async with Front(provider.url, redirect_schemes=["cursor"]) as front:
        form, cookie, page = await front.question(await front.client(redirect_uris=[uri]), redirect_uri=uri)
        assert shown in page
        denied = await front.post("/login/consent", {**form, "answer": "deny"}, Cookie=cookie)
        assert re.match(re.escape(uri) + "[?&]?error=access_denied&", denied.headers["Location"])


URL = "https://desk.example/.well-known/client.json"
PEER = "192.0.2.1"
DOCUMENT = {
    "client_id": URL,
    "client_name": "Desk",
    "redirect_uris": ["http://127.0.0.1/callback", "https://desk.example/cb"],
}


def clients(exchange: Documents | None, **settings: Any) -> LoginClients:
    provider = {"issuer": "https://login.example.com", "client_id": "host"}
    fields = {"resource": "https://tools.example.com/mcp", "provider": provider, "everyone": True, "keys": [KEY]}
    config = LoginConfig.model_validate({**fields, **settings})
    return LoginClients(config, LoginSigner(config), exchange)


async def test_a_client_with_a_document_logs_in(front: Front, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        login_clients, "AiohttpExchange", lambda public_only: Documents(DOCUMENT) if public_only else None
    )
    page = await front.get(front.page(URL, redirect_uri="https://desk.example/cb"))
    assert f"its web address, {URL}" in page.text
    page = await front.get(front.page(URL, redirect_uri="http://127.0.0.1:9/callback"))
    assert f"none: it claims to be {URL}" in page.text
    auth = OAuth(person.open, client_metadata_url=URL)
    async with Client(Endpoint(front.resource, auth=auth)) as client:
        assert (await client.call("guarded", {}))["content"][0]["text"] == "done"


async def test_a_document_is_kept_for_a_while() -> None:
    documents = Documents(DOCUMENT)
    known = clients(documents)
    assert await known.find(URL, PEER) == await known.find(URL, PEER)
    assert documents.asked == [URL]


async def test_slow_documents_of_one_peer_do_not_stop_others() -> None:
    documents = Documents(DOCUMENT)
    known = clients(documents)
    async with asyncio.TaskGroup() as group:
        slow = [group.create_task(known.find(f"https://slow.example/{number}", PEER)) for number in range(30)]
        await documents.is_slow.wait()
        assert (await known.find(URL, "192.0.2.2")).name == "Desk"
        for task in slow:
            task.cancel()


@pytest.mark.requirement("AUTH-14")
@pytest.mark.parametrize(
    ("url", "changes", "status"),
    [
        (URL, {"client_id": "https://other.example/client.json"}, 200),
        (URL, {"client_id": None}, 200),
        (URL, {"client_name": ""}, 200),
        (URL, {"token_endpoint_auth_method": "private_key_jwt"}, 200),
        (URL, {"redirect_uris": ["http://evil.example/cb"]}, 200),
        (URL, {}, 404),
        (URL, {}, 302),
        ("https://desk.example/", {}, 200),
        ("https://desk.example", {}, 200),
        (f"{URL}?x=1", {}, 200),
        (f"{URL}#x", {}, 200),
        ("https://user@desk.example/client.json", {}, 200),
        ("https://desk.example/a/../client.json", {}, 200),
        ("http://desk.example/client.json", {}, 200),
    ],
)
async def test_client_impersonation(url: str, changes: dict[str, Any], status: int) -> None:
    with pytest.raises(ClientRefusedError):
        await clients(Documents({**DOCUMENT, "client_id": url, **changes}, status)).find(url, PEER)


async def test_documents_can_be_turned_off() -> None:
    documents = Documents(DOCUMENT)
    with pytest.raises(ClientRefusedError, match="not registered"):
        await clients(documents, client_metadata_documents=False).find(URL, PEER)
    assert documents.asked == []


@pytest.mark.requirement("AUTH-15")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433"])
async def test_ssrf(host: str) -> None:
    """No connection is made to an address that is not public, by whichever name."""
    connected = asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        with pytest.raises(ClientRefusedError, match="cannot be fetched"):
            await clients(None).find(f"https://{host}:{server.sockets[0].getsockname()[1]}/client.json", PEER)
        await asyncio.sleep(0)
        assert not connected.is_set()
