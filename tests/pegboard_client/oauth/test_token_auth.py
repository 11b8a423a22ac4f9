"""Tokens after a login: renewal, more scopes, other authorization servers, stores; and logins of programs."""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pegboard_client import ClientCredentials, LoginRequiredError, OAuth, OAuthClient
from pegboard_client.aiohttp_exchange import AiohttpExchange
from pegboard_client.oauth import json_requests, token_auth
from tests.support.issuer import made_key
from tests.support.login_server import Browser, LoginServer

pytestmark = pytest.mark.timeout(30)

RENEWABLE = (200, {"refresh_token": "renew-1"})
EXPIRED = (200, {"refresh_token": "renew-1", "expires_in": 0})


async def token(auth: OAuth | ClientCredentials, server: LoginServer) -> str | None:
    return (await auth.headers(server.url)).get("Authorization")


async def refused(auth: OAuth | ClientCredentials, server: LoginServer, status: int = 401, scope: str = "") -> bool:
    """Send a request that the server refuses."""
    await auth.headers(server.url)
    error = 'error="insufficient_scope", ' if status == 403 else ""
    return await auth.challenged(server.url, status, {"WWW-Authenticate": f'Bearer {error}scope="{scope}"'})


class Shelf:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def load(self, server: str) -> Mapping[str, Any] | None:
        return json.loads(self.kept[server]) if server in self.kept else None

    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        self.kept[server] = json.dumps(login)


@pytest.mark.parametrize(("rotated", "next_token"), [({}, "renew-1"), ({"refresh_token": "renew-2"}, "renew-2")])
async def test_an_expired_token_is_renewed_before_its_use(
    server: LoginServer, rotated: dict[str, str], next_token: str
) -> None:
    server.tokens = [EXPIRED, (200, {"expires_in": 0, **rotated}), (200, {"expires_in": 3600})]
    auth = OAuth(browser := Browser())
    assert await refused(auth, server)
    assert await asyncio.gather(*(token(auth, server) for _ in range(3))) == ["Bearer token-2"] + ["Bearer token-3"] * 2
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token", "refresh_token"]
    assert [form.get("refresh_token") for form in server.forms[1:]] == ["renew-1", next_token]
    assert {form["resource"] for form in server.forms} == {server.url}
    assert len(browser.opened) == 1


async def test_a_refused_token_is_renewed_once_before_the_next_login(server: LoginServer) -> None:
    server.tokens = [RENEWABLE]
    auth = OAuth(browser := Browser())
    assert [await refused(auth, server) for _ in range(3)] == [True] * 3
    assert [form["grant_type"] for form in server.forms] == [
        "authorization_code",
        "refresh_token",
        "authorization_code",
    ]
    assert len(browser.opened) == 2
    assert len(server.registered) == 1  # the second login uses the port, and so the registration, of the first


async def test_an_invalid_refresh_token_leads_to_a_login(server: LoginServer) -> None:
    server.tokens = [EXPIRED, (400, {"error": "invalid_grant"})]
    auth = OAuth(browser := Browser())
    assert await refused(auth, server)
    assert await token(auth, server) == "Bearer token-1"  # the server refuses it
    assert await refused(auth, server)
    assert await token(auth, server) == "Bearer token-3"
    assert len(browser.opened) == 2


async def test_a_failure_of_the_server_keeps_the_refresh_token(server: LoginServer) -> None:
    server.tokens = [EXPIRED, (503, {}), (200, {})]
    auth = OAuth(Browser())
    assert await refused(auth, server)
    assert [await token(auth, server) for _ in range(2)] == ["Bearer token-1", "Bearer token-3"]


async def test_an_authorization_server_that_does_not_respond_is_asked_once_for_a_while(
    server: LoginServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_requests, "MAX_LOGIN_REQUEST_SECONDS", 0.2)
    server.tokens = [EXPIRED]
    auth = OAuth(Browser())
    assert await refused(auth, server)
    server.silent.add("/token")
    assert await asyncio.gather(*(token(auth, server) for _ in range(3))) == ["Bearer token-1"] * 3
    for failed in await asyncio.gather(*(refused(auth, server) for _ in range(3)), return_exceptions=True):
        assert isinstance(failed, LoginRequiredError)
    assert server.asked.count("POST /token") == 2
    monkeypatch.setattr(token_auth, "monotonic", lambda: time.monotonic() + token_auth.OUTAGE_SECONDS)
    server.silent.clear()
    assert await token(auth, server) == "Bearer token-2"


async def test_more_scopes_are_requested_with_the_earlier_ones(server: LoginServer) -> None:
    auth = OAuth(Browser())
    assert await refused(auth, server, scope="read")
    assert await refused(auth, server, 403, "write")
    assert await refused(auth, server, 403, "delete")
    assert [page["scope"] for page in server.pages] == ["read", "read write", "read write delete"]


async def test_logins_for_the_same_scope_are_limited(server: LoginServer) -> None:
    auth = OAuth(browser := Browser())
    assert await refused(auth, server)
    assert [await refused(auth, server, 403, "write") for _ in range(2)] == [True, True]
    with pytest.raises(LoginRequiredError, match="still requires write after 2 logins"):
        await refused(auth, server, 403, "write")
    assert len(browser.opened) == 3


async def test_another_authorization_server_gets_no_credentials_of_the_first(server: LoginServer) -> None:
    server.tokens = [RENEWABLE]
    auth = OAuth(Browser())
    async with LoginServer() as other:
        other.registration = {"client_id": "other"}
        assert await refused(auth, server)
        server.resource["authorization_servers"] = [other.issuer]
        assert await refused(auth, server)
        assert [form["grant_type"] for form in other.forms] == ["authorization_code"]
        assert (other.pages[0]["client_id"], len(other.registered), len(server.forms)) == ("other", 1, 1)


async def test_credentials_of_a_program_stay_with_the_first_authorization_server(server: LoginServer) -> None:
    client = OAuthClient("own", "the-secret")
    for auth in (OAuth(Browser(), client=client), ClientCredentials(client)):
        async with LoginServer() as other:
            server.resource["authorization_servers"] = [server.issuer]
            assert await refused(auth, server)
            server.resource["authorization_servers"] = [other.issuer]
            for _ in range(2):
                with pytest.raises(LoginRequiredError, match=f"registered at {server.issuer}, but"):
                    await refused(auth, server)
            assert (other.pages, other.forms) == ([], [])


async def test_a_login_outlasts_the_program(server: LoginServer) -> None:
    server.tokens = [EXPIRED, (200, {"refresh_token": "renew-2", "expires_in": 3600})]
    shelf = Shelf()
    first, second, third = OAuth(Browser(), store=shelf), OAuth(None, store=shelf), OAuth(None, store=shelf)
    assert await refused(first, server)
    assert await token(second, server) == "Bearer token-2"
    assert await token(third, server) == "Bearer token-2"
    assert await token(first, server) == "Bearer token-2"  # which another program has renewed
    assert len(server.forms) == 2


async def test_a_renewal_by_another_program_does_not_replace_a_new_login(server: LoginServer) -> None:
    """It has the next token of the earlier login when the person logs in, and saves it later."""
    lock, renewed, may_save = asyncio.Lock(), asyncio.Event(), asyncio.Event()

    class SlowShelf(Shelf):
        async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
            renewed.set()
            await may_save.wait()
            await super().save(server, login)

    @asynccontextmanager
    async def renewing(_: str) -> AsyncIterator[None]:
        if lock.locked():
            may_save.set()
        async with lock:
            yield

    shelf, slow = Shelf(), SlowShelf()
    slow.kept = shelf.kept
    renewals: list[asyncio.Future[str | None]] = []

    async def open_page(url: str) -> None:
        renewals.append(asyncio.ensure_future(token(OAuth(None, store=slow, renewing=renewing), server)))
        await renewed.wait()
        await Browser()(url)

    server.tokens = [EXPIRED, EXPIRED]
    await OAuth(Browser(), store=shelf).log_in(server.url, {})
    await OAuth(open_page, store=shelf, renewing=renewing).log_in(server.url, {})
    may_save.set()
    assert [await renewal for renewal in renewals] == ["Bearer token-3"]
    assert await token(OAuth(None, store=shelf), server) == "Bearer token-4"


@pytest.mark.parametrize("saved", [{}, {"token": 1}, {"client": {"x": 1}, "token": {"access_token": ""}}, None])
async def test_an_unusable_saved_login_is_ignored(server: LoginServer, saved: Any) -> None:
    shelf = Shelf()
    await shelf.save(server.url, saved)
    assert await token(OAuth(None, store=shelf), server) is None


async def test_credentials_of_the_program_are_not_saved(server: LoginServer) -> None:
    shelf, client = Shelf(), OAuthClient("own", "the-secret")
    server.tokens = [EXPIRED]
    assert await refused(OAuth(Browser(), client=client, store=shelf), server)
    assert "the-secret" not in shelf.kept[server.url]
    assert await token(OAuth(None, client=OAuthClient("else"), store=shelf), server) is None
    assert await token(OAuth(None, client=client, store=shelf), server) == "Bearer token-2"
    assert server.forms[1]["basic"] == "own:the-secret"


async def test_a_program_logs_in_with_its_secret(server: LoginServer) -> None:
    server.resource["scopes_supported"] = ["read"]
    auth = ClientCredentials(OAuthClient("job", "the-secret"))
    assert await refused(auth, server)
    assert await refused(auth, server, 403, "write")
    assert await token(auth, server) == "Bearer token-2"
    common = {"grant_type": "client_credentials", "resource": server.url, "basic": "job:the-secret", "client_id": "job"}
    assert server.forms == [common | {"scope": "read"}, common | {"scope": "read write"}]
    with pytest.raises(ValueError, match="needs a client_secret or a private_key"):
        ClientCredentials(OAuthClient("job"))


async def test_a_program_logs_in_with_its_key(server: LoginServer) -> None:
    key = made_key("ES256")
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    assert await refused(ClientCredentials(OAuthClient("job", private_key=pem)), server)
    claims = jwt.decode(
        server.forms[0]["client_assertion"], key.public_key(), ["ES256"], audience=server.issuer, issuer="job"
    )
    assert (claims["sub"], claims["exp"] - claims["iat"]) == ("job", 60)
    assert server.forms[0]["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    with pytest.raises(LoginRequiredError, match="not a PEM key for ES256"):
        await refused(ClientCredentials(OAuthClient("job", private_key="-----nonsense")), server)


async def test_no_credential_is_shown(server: LoginServer) -> None:
    server.tokens = [RENEWABLE, (400, {"error": "invalid_grant"}), (500, {})]
    client = OAuthClient("own", "the-secret", private_key="the-key")
    auth = OAuth(Browser(), client=client._replace(private_key=None))
    assert await refused(auth, server)
    with pytest.raises(LoginRequiredError) as caught:
        await refused(auth, server)
    shown = "".join(traceback.TracebackException.from_exception(caught.value).format())
    shown += repr([client, auth, vars(auth)])
    assert [text for text in ("the-secret", "the-key", "token-1", "renew-1") if text in shown] == []


async def test_the_end_of_a_request_does_not_lose_the_next_refresh_token(server: LoginServer) -> None:
    server.tokens = [EXPIRED, (200, {"refresh_token": "renew-2", "expires_in": 3600})]
    real = AiohttpExchange()

    def exchange(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Any:
        if b"renew-1" in (body or b""):
            first.cancel()  # the request ends while the server replaces the token
        return real(method, url, headers, body)

    exchange.close = real.close  # type: ignore[attr-defined]
    auth = OAuth(Browser(), exchange=exchange)  # type: ignore[arg-type]
    first = asyncio.create_task(asyncio.sleep(0))
    assert await refused(auth, server)
    first = asyncio.create_task(token(auth, server))  # type: ignore[arg-type]
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await token(auth, server) == "Bearer token-2"
    assert len(server.forms) == 2
    await real.close()


async def test_the_query_of_a_server_is_not_in_errors(server: LoginServer) -> None:
    auth = OAuth(Browser())
    server.resource["resource"] = "https://elsewhere.example/mcp"
    for named in (f"{server.issuer}/other", "https://elsewhere.example/metadata"):
        challenge = {"WWW-Authenticate": f'Bearer resource_metadata="{named}"'}
        with pytest.raises(LoginRequiredError, match="another server") as caught:
            await auth.challenged(f"{server.url}?key=secret", 401, challenge)
        assert "secret" not in str(caught.value)
