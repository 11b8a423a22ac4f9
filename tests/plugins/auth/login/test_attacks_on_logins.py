"""Attacks on logins at the front door, each with its result."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from base64 import urlsafe_b64encode
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard.types import Caller, Request, header_fields
from pegboard_plugins.support import issuer_requests
from tests.plugins.auth.login.front import BACK, CHALLENGE, KEY, Front
from tests.plugins.auth.login.identity_server import IdentityServer
from tests.support.issuer import OTHER_RSA_KEY
from tests.support.person import Person

TRUE_KEY = HKDF(SHA256(), length=32, salt=None, info=b"pegboard login at+jwt").derive(KEY.encode())
"""The key that signs access tokens."""
DEEP = urlsafe_b64encode(b"[" * 100_000).decode()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"iss": "https://evil.example"}, "access_denied"),
        ({"error": "access_denied", "code": ""}, "access_denied"),
        ({"error": "server_error", "code": ""}, "temporarily_unavailable"),
    ],
)
async def test_mix_up_and_errors(front: Front, provider: IdentityServer, answer: dict[str, str], error: str) -> None:
    provider.answer = answer
    assert (await front.log_in(await front.client()))["error"] == error


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claims": {"nonce": "other"}}, "nonce belongs to another login"),
        ({"claims": {"aud": "other"}}, "aud is 'other'"),
        ({"claims": {"aud": ["host", "other"], "azp": "other"}}, "azp is 'other'"),
        ({"claims": {"aud": ["host", "other"]}}, "azp is missing"),
        ({"claims": {"iss": "https://evil.example"}}, "iss is 'https://evil.example'"),
        ({"claims": {"exp": 1}}, "seconds in the past, by the clock of this machine. Check this clock"),
        ({"claims": {"exp": "never"}}, "exp is not a time"),
        ({"claims": {"nbf": 9_000_000_000}}, "nbf is"),
        ({"claims": {"iat": 9_000_000_000}}, "iat is"),
        ({"claims": {"sub": ""}}, "sub is ''"),
        ({"claims": {"sub": "7" * 256}}, "no valid claim sub"),
        ({"claims": {"sub": "7\n8"}}, "no valid claim sub"),
        ({"algorithm": "none", "key": ""}, "alg is 'none'. Let the provider sign with RS256"),
        ({"algorithm": "HS256", "key": "secret-canary-0123456789-0123456789"}, "alg is 'HS256'"),
        ({"key": OTHER_RSA_KEY}, "no key of the issuer has signed it"),
        ({"algorithm": "RS384"}, "no key of the issuer has signed it"),
    ],
)
async def test_an_invalid_id_token(
    front: Front,
    client: str,
    provider: IdentityServer,
    caplog: pytest.LogCaptureFixture,
    changes: dict[str, Any],
    message: str,
) -> None:
    vars(provider).update(changes)
    assert (await front.log_in(client))["error"] == "access_denied"
    assert message in caplog.text


async def test_an_id_token_for_several_clients(front: Front, provider: IdentityServer) -> None:
    provider.claims = {"aud": ["other", "host"], "azp": "host"}
    assert "code" in await front.log_in(await front.client())


@pytest.mark.parametrize("kind", ["openid", "github"])
@pytest.mark.parametrize("down", ["token", "keys", "userinfo", "/user", "/orgs/acme"])
async def test_an_outage_of_the_provider_is_no_refusal(
    provider: IdentityServer, person: Person, caplog: pytest.LogCaptureFixture, kind: str, down: str
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.claims, provider.memberships = {"groups": ["acme"]}, ("user/memberships/orgs/acme",)
    async with Front(provider.url, {"kind": kind}, allowed_groups=["acme"]) as front:
        client = await front.client()
        assert "code" in await front.log_in(client)
        provider.down = down
        answer = await front.log_in(client)
        await person.open(f"{front.url}/login/programs")
    is_asked = down.startswith("/") is (kind == "github") or down == "token"
    assert answer.get("error") == ("temporarily_unavailable" if is_asked else None)
    assert person.shown[0] == (502 if is_asked else 200)
    assert "page-canary" not in caplog.text


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"status": 500, "text": "<html>canary</html>"}, "temporarily_unavailable"),
        ({"status": 429, "text": '{"error": "canary"}'}, "temporarily_unavailable"),
        ({"text": "<html>canary</html>"}, "temporarily_unavailable"),
        ({"text": "[" * 100_000}, "temporarily_unavailable"),
        ({"text": json.dumps({"access_token": "x" * 300_000})}, "access_denied"),
        ({"text": json.dumps({"access_token": "x", "id_token": f"{DEEP}.e30.x"})}, "access_denied"),
        ({"text": json.dumps({"access_token": "x", "id_token": ["canary"]})}, "access_denied"),
        ({"status": 302, "headers": {"Location": "/token"}}, "temporarily_unavailable"),
    ],
)
async def test_a_provider_with_a_broken_token_endpoint(
    front: Front, provider: IdentityServer, caplog: pytest.LogCaptureFixture, answer: dict[str, Any], error: str
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.broken = answer
    assert (await front.log_in(await front.client()))["error"] == error
    assert "Traceback" not in caplog.text
    assert "canary" not in caplog.text


async def test_stolen_state_and_login_csrf(front: Front, client: str, person: Person) -> None:
    """The end of a login works only in the browser that began it, and once."""
    async with Person() as thief:
        end = await person.open(front.url + front.page(client), until=f"{front.url}/login/callback")
        await thief.open(end)
        assert thief.shown[0] == 403
        assert (await person.open(end, until=BACK)).startswith(BACK)
        await person.open(end)
        assert person.shown[0] == 403


async def test_two_logins_at_once_in_one_browser(front: Front, client: str, person: Person) -> None:
    callback = f"{front.url}/login/callback"
    waiting = [await person.open(front.url + front.page(client, state=state), until=callback) for state in "ab"]
    ends = [await person.open(page, until=BACK) for page in waiting]
    for state, end in zip("ab", ends, strict=True):
        assert "code=" in end
        assert f"state={state}&" in end


async def test_logins_that_wait_for_a_slow_provider_are_limited(
    front: Front, provider: IdentityServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise strangers could use up all requests of the host while the provider is slow."""
    monkeypatch.setattr(issuer_requests, "MAX_WAITING_BROWSERS", 1)
    provider.open.clear()
    form, cookie, _ = await front.question(await front.client())
    form["answer"] = "allow"
    slow = asyncio.ensure_future(front.post("/login/consent", form, Cookie=cookie))
    await provider.asked.wait()
    refused = await front.post("/login/consent", form, Cookie=cookie)
    assert "error=temporarily_unavailable" in refused.headers["Location"]
    provider.open.set()
    assert (await slow).headers["Location"].startswith(f"{provider.url}/authorize")
    accepted = await front.post("/login/consent", form, Cookie=cookie)
    assert accepted.headers["Location"].startswith(f"{provider.url}/authorize")


async def test_injected_provider_code(front: Front, client: str, provider: IdentityServer, person: Person) -> None:
    """The code of the thief's login ends in the login of another browser, whose PKCE verifier differs."""
    await person.open(front.url + front.page(client), until=f"{front.url}/login/callback")
    provider.answer = {"code": "code-1"}
    assert (await front.log_in(client))["error"] == "access_denied"


async def test_injected_host_code(front: Front) -> None:
    client, other = await front.client(), await front.client(client_name="other")
    code = (await front.log_in(client))["code"]
    for changes in (
        {"code_verifier": "x" * 43},
        {"code_verifier": ""},
        {"redirect_uri": "https://evil.example"},
        {"client_id": other},
        {"resource": "https://other.example/mcp"},
        {"code": f"{code}x"},
    ):
        assert (await front.redeem(client, code, **changes)).status == 400
    assert (await front.redeem(client, code, resource=f"{front.resource}/")).status == 200


@pytest.mark.parametrize("concurrent", [True, False])
async def test_replayed_code_ends_the_login(front: Front, client: str, concurrent: bool) -> None:
    code = (await front.log_in(client))["code"]
    if concurrent:
        answers = list(await asyncio.gather(front.redeem(client, code), front.redeem(client, code)))
    else:
        answers = [await front.redeem(client, code), await front.redeem(client, code)]
    assert sorted(answer.status for answer in answers) == [200, 400]
    tokens = next(answer.json for answer in answers if answer.status == 200)
    assert (await front.refresh(client, tokens["refresh_token"])).json["error"] == "invalid_grant"


@pytest.mark.requirement("AUTH-10")
async def test_replayed_refresh_token_ends_a_login(front: Front, client: str, caplog: pytest.LogCaptureFixture) -> None:
    first = (await front.tokens(client))["refresh_token"]
    second = (await front.refresh(client, first)).json["refresh_token"]
    assert (await front.refresh(client, first)).json["error"] == "invalid_grant"
    assert (await front.refresh(client, second)).json["error"] == "invalid_grant"
    assert "refused: a code or refresh token that was used before" in caplog.text
    assert first not in caplog.text


async def test_scope_escalation(front: Front, client: str) -> None:
    tokens = await front.tokens(client, scope="work")
    assert (await front.refresh(client, tokens["refresh_token"], scope="work other")).json["error"] == "invalid_scope"
    assert (await front.log_in(client, scope="admin"))["error"] == "invalid_scope"


ELSEWHERE = ("", "https://evil.example", f"{BACK}/x", f"{BACK}?x=1", f"{BACK}#", "http://localhost:1/callback")


@pytest.mark.requirement("AUTH-11")
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        *(({"redirect_uri": uri}, 400) for uri in ELSEWHERE),
        ({"redirect_uri": BACK.replace(":1/", ":40001/")}, 200),  # the port of a loopback redirect is free
        ({"state": "x" * 3000}, 400),  # it fits into no cookie
    ],
)
async def test_open_redirect(front: Front, changes: dict[str, str], status: int) -> None:
    page = await front.get(front.page(await front.client(), **changes))
    assert (page.status, page.headers.get("Location")) == (status, None)


async def test_an_invalid_request_of_a_stranger_is_not_redirected(front: Front) -> None:
    uri = "https://evil.example/"
    client = await front.client(redirect_uris=[uri])
    page = await front.get(front.page(client, redirect_uri=uri, response_type="token"))
    assert (page.status, page.headers.get("Location")) == (400, None)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": ""}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"response_type": "code&state=2"}, "invalid_request"),
    ],
)
async def test_unsafe_requests(front: Front, changes: dict[str, str], error: str) -> None:
    assert (await front.log_in(await front.client(), **changes))["error"] == error


@pytest.mark.requirement("AUTH-12")
async def test_consent_bypass(front: Front, client: str, provider: IdentityServer) -> None:
    """A page of another site has no form of this browser, cannot frame the page, and cannot forge the form."""
    form, cookie, _ = await front.question(client)
    _, other, _ = await front.question(client)
    for fields, sent in ((form, ""), (form, other), ({**form, "request": "x"}, cookie), ({"answer": "allow"}, cookie)):
        assert (await front.post("/login/consent", fields, Cookie=sent)).status == 403
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):  # cookies do not depend on the port
        assert (await front.post("/login/consent", form, Cookie=cookie, Origin=origin)).status == 403
    denied = await front.post("/login/consent", {**form, "answer": "deny"}, Cookie=cookie, Origin=front.url)
    assert "error=access_denied" in denied.headers["Location"]
    assert provider.pages == []
    page = await front.get(front.page(client))
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"
    assert "HttpOnly; SameSite=Lax" in page.headers["Set-Cookie"]


@pytest.mark.parametrize("path", ["/login/authorize", "/login/callback", "/login/programs", "/login/consent"])
async def test_pages_are_served_at_their_own_address_only(front: Front, path: str) -> None:
    """Other programs of this machine have other origins, and share its cookies."""
    method = "POST" if path == "/login/consent" else "GET"
    own = await front._send(method, path)
    port = front.url.rpartition(":")[2]
    for foreign in (
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": f"http://localhost:{port}"},
        {"Origin": f"https://127.0.0.1:{port}"},
        {"Host": f"localhost:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"X-Forwarded-Host": f"localhost:{port}", "Host": f"[::1]:{port}"},
    ):
        page = await front._send(method, path, headers=foreign)
        assert (page.status, f"belongs to {front.url}" in page.text) == (403, True), foreign
    same = await front._send(method, path, headers={"Origin": front.url, "Host": f"127.0.0.1:{port}"})
    assert (same.status, "belongs to" in same.text) == (own.status, False)
    assert (await front.get("/.well-known/oauth-authorization-server", Origin="http://127.0.0.1:1")).status == 200


@pytest.mark.requirement("AUTH-13")
async def test_the_question_shows_the_client_and_runs_none_of_its_text(front: Front) -> None:
    client = await front.client(client_name="<script>alert(1)</script>", redirect_uris=["https://a.example/cb"])
    _, _, page = await front.question(client, redirect_uri="https://a.example/cb", scope="work other")
    assert "<script>" not in page
    for shown in ("&lt;script&gt;", "a.example", "<code>work</code><code>other</code>", "the program named itself"):
        assert shown in page


async def test_unfinished_logins_do_not_fill_the_header_of_cookies(front: Front) -> None:
    form, cookie, _ = await front.question(await front.client(), state="x" * 1000)
    jar, sent = dict([cookie.split("=", 1)]), ""
    for _ in range(9):
        sent = "; ".join(f"{name}={value}" for name, value in jar.items())
        answer = await front.post("/login/consent", {**form, "answer": "allow"}, Cookie=sent)
        assert answer.status == 303
        for name, value, age in re.findall(r"(?m)^([^=]+)=([^;]*); Path=/; Max-Age=(\d+)", answer.cookies):
            jar.pop(name, None)
            jar |= {name: value} if age != "0" else {}
    assert len(sent) < 8192
    assert len(jar) > 2


@pytest.mark.filterwarnings("ignore:The HMAC key")
@pytest.mark.parametrize(
    ("algorithm", "key", "claims"),
    [
        ("none", "", {}),
        ("HS256", KEY, {}),
        ("HS512", TRUE_KEY, {}),
        ("HS256", TRUE_KEY, {"exp": 1}),
        ("HS256", TRUE_KEY, {"nbf": 9_000_000_000}),
        ("HS256", TRUE_KEY, {"iat": 9_000_000_000}),
        ("HS256", TRUE_KEY, {"aud": "https://other.example/mcp"}),
        ("HS256", TRUE_KEY, {"iss": "https://other.example"}),
        ("HS256", TRUE_KEY, {"grant": "other"}),
    ],
)
async def test_forged_access_tokens(front: Front, algorithm: str, key: str | bytes, claims: dict[str, Any]) -> None:
    token = (await front.tokens(await front.client()))["access_token"]
    own = jwt.decode(token, options={"verify_signature": False})
    assert await front.status(jwt.encode({**own, "jti": "2"}, TRUE_KEY, "HS256")) == 200
    assert await front.status(jwt.encode({**own, **claims}, key, algorithm)) == 401


async def test_the_stored_login_names_the_caller(front: Front, client: str) -> None:
    """Who has the key can sign every token, but cannot add a person, a client or a scope to a login."""
    own = jwt.decode((await front.tokens(client, scope="work"))["access_token"], options={"verify_signature": False})
    claims = {"sub": "8", "email": "eve@example.com", "name": "Eve", "client_id": "evil", "scope": "work other"}
    request = Request(
        "POST", "/mcp", {}, header_fields({"Authorization": f"Bearer {jwt.encode(own | claims, TRUE_KEY)}"})
    )
    caller = await front.host.for_protocols.authenticate(request, "mcp")
    assert isinstance(caller, Caller)
    assert (caller.subject, caller.client_id, *caller.scopes) == ("7", own["client_id"], "work")
    assert caller.extra == {"email": "ann@example.com", "name": "Ann"}


async def test_the_issuer_is_compared_exactly(
    front: Front, client: str, provider: IdentityServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the library compares: PyJWT 2.10.0 accepts parts of the issuer."""
    own = jwt.decode((await front.tokens(client))["access_token"], options={"verify_signature": False})
    monkeypatch.setattr(jwt.PyJWT, "_validate_iss", lambda *_, **__: None)
    assert await front.status(jwt.encode({**own, "iss": front.url[:-1]}, TRUE_KEY, "HS256")) == 401
    provider.claims = {"iss": provider.url[:-1]}
    assert (await front.log_in(client))["error"] == "access_denied"


async def test_a_token_of_one_kind_is_not_valid_as_another(front: Front, client: str) -> None:
    tokens = await front.tokens(client)
    for token in (tokens["refresh_token"], client, "x"):
        assert await front.status(token) == 401
    assert (await front.get(front.page(tokens["access_token"]))).status == 400


async def test_a_person_who_is_no_longer_listed(provider: IdentityServer) -> None:
    async with Front(provider.url, allowed_users=["7"]) as front:
        client = await front.client()
        tokens = await front.tokens(client)
    async with Front(provider.url, port=front.port, allowed_users=["8"]) as front:
        assert await front.status(tokens["access_token"]) == 401
        assert (await front.refresh(client, tokens["refresh_token"])).json["error"] == "invalid_grant"


async def test_no_token_is_in_the_log(
    front: Front, client: str, provider: IdentityServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = await front.tokens(client)
    code = (await front.log_in(client))["code"]
    provider.refusal = {"error": "invalid_grant", "error_description": "code-canary secret-canary"}
    await front.log_in(client)
    await front.refresh(client, tokens["refresh_token"], scope="evil")
    assert "the provider refuses the code: invalid_grant" in caplog.text
    assert "login: ann@example.com uses the client" in caplog.text
    for secret in ("canary", code, CHALLENGE, *(tokens[name] for name in ("access_token", "refresh_token"))):
        assert secret not in caplog.text
