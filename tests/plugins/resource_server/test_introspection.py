"""Introspection of tokens (RFC 7662): requests, responses, failures and floods, over sockets."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from time import time
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from pydantic import ValidationError

from pegboard_plugins.resource_server.documents import MAX_DOCUMENT_BYTES
from pegboard_plugins.resource_server.introspection import MAX_CONCURRENT_PER_PEER
from pegboard_plugins.resource_server.introspection_queue import MAX_ASKED_PER_PEER
from pegboard_plugins.resource_server.servers import AuthorizationServer
from tests.plugins.resource_server.conftest import METADATA, listed, serve, storm, until
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, message
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, Issuer
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "se+cret/ %:0123456789"
ASKED = 'introspection = { client_id = "our:tools é", client_secret = { env = "INTROSPECTION_SECRET" } }'
ENV = {"INTROSPECTION_SECRET": SECRET}


def asking(site: Path, *issuers: Issuer, settings: str = "", server: str = ASKED, http: str = "") -> Served:
    """Start a server that introspects tokens at these issuers."""
    return serve(site, *issuers, settings=settings, server=server, http=http, env=ENV)


def now() -> int:
    return int(time())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def asked() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def door(site: Path, asked: Issuer) -> AsyncIterator[Served]:
    async with asking(site, asked, settings="leeway_seconds = 60") as served:
        yield served


# --- requests and responses


async def test_the_server_is_asked_once_with_form_and_login(site: Path) -> None:
    """RFC 7662, section 2.1; RFC 6749, section 2.3.1. The metadata has the URL unless it is configured."""
    async with Issuer("/tenant") as issuer:
        async with asking(site, issuer) as served:
            token = issuer.opaque("opaque-1")
            for _ in range(2):
                done = await ask(served, call("door_who"), Authorization=f"Bearer {token}")
                assert done.result["content"][0]["text"] == "ann ['other', 'work']"
        ((form, login),) = issuer.questions
        assert form == {"token": token, "token_type_hint": "access_token"}
        scheme, _, pair = login.partition(" ")
        assert (scheme, b64decode(pair)) == ("Basic", b"our%3Atools+%C3%A9:se%2Bcret%2F+%25%3A0123456789")
        assert issuer.asked["/keys"] == 0
        issuer.asked.clear()
        placed = ASKED.replace("introspection = {", f'introspection = {{ url = "{issuer.origin}/introspect",')
        async with asking(site, issuer, server=placed) as served:
            assert (await listed(served, issuer.opaque("a"))).status == 200
        assert set(issuer.asked) == {"/introspect"}


ORDER, AUDIENCE, SUBJECT = "The token is invalid.", "for another audience", "The token lacks sub."
GOOD: dict[str, tuple[dict[str, Any], str]] = {
    "default": ({}, "ann"),
    "one of several audiences": ({"aud": ["https://other.example", RESOURCE]}, "ann"),
    "no exp": ({"exp": None}, "ann"),
    "no iss": ({"iss": None}, "ann"),
    "no token_type": ({"token_type": None}, "ann"),
    "token_type in small letters": ({"token_type": "bearer"}, "ann"),
    "of a program": ({"sub": None}, "client:desk"),
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "not active": ({"active": False}, "The token is not active."),
    "another issuer": ({"iss": "https://evil.example"}, "from another issuer"),
    "a number as iss": ({"iss": 5}, "from another issuer"),
    "another type": ({"token_type": "DPoP"}, "has another type"),
    "a number as type": ({"token_type": 5}, "has another type"),
    "bound to a certificate": ({"cnf": {"x5t#S256": "x"}}, "The token is bound to a key"),
    "no aud": ({"aud": None}, "The token lacks aud."),
    "another audience": ({"aud": RESOURCE + "/"}, AUDIENCE),
    "an empty list as aud": ({"aud": []}, AUDIENCE),
    "an object as aud": ({"aud": {RESOURCE: 1}}, AUDIENCE),
    "expired": ({"exp": 1}, "The token has expired."),
    **{f"{exp!r:.9} as exp": ({"exp": exp}, ORDER) for exp in ("soon", True, 10**400, float("nan"))},
    "not yet valid": ({"nbf": lambda: now() + 63}, "The token is not valid yet."),
    "issued in the future": ({"iat": lambda: now() + 63}, "The token is not valid yet."),
    "no sub, no client_id": ({"sub": None, "client_id": None}, SUBJECT),
    "an empty sub": ({"sub": ""}, SUBJECT),
    "a number as sub": ({"sub": 5}, SUBJECT),
    "a sub like that of a program": ({"sub": "client:desk"}, SUBJECT),
    "a number as client_id": ({"sub": None, "client_id": 5}, SUBJECT),
}


def told(issuer: Issuer, token: str, changes: Mapping[str, Any]) -> str:
    """Add a token to an issuer, with changed claims. Functions are called for their value."""
    made = issuer.opaque(token, **{name: value() if callable(value) else value for name, value in changes.items()})
    if changes.get("token_type", "") is None:
        del issuer.known[made]["token_type"]
    return made


@pytest.mark.parametrize(("changes", "who"), GOOD.values(), ids=GOOD)
async def test_active_tokens_are_accepted(door: Served, asked: Issuer, changes: dict[str, Any], who: str) -> None:
    token = told(asked, f"good-{len(asked.known)}", changes)
    done = await ask(door, call("door_who"), Authorization=f"bearer {token}")
    assert done.result["content"][0]["text"] == f"{who} ['other', 'work']"


@pytest.mark.parametrize(("changes", "reason"), BAD.values(), ids=BAD)
async def test_other_tokens_are_refused(door: Served, asked: Issuer, changes: dict[str, Any], reason: str) -> None:
    answer = await listed(door, told(asked, f"bad-{len(asked.known)}", changes))
    assert answer.status == 401
    challenge = answer.get("WWW-Authenticate") or ""
    assert challenge.startswith('Bearer error="invalid_token", error_description="The ')
    assert reason in challenge
    assert challenge.endswith(f'resource_metadata="{METADATA}"')


async def test_malformed_tokens_are_sent_to_no_server_and_long_ones_are(door: Served, asked: Issuer) -> None:
    before = len(asked.questions)
    for token in ("two words", "a,b", "=", "\x80", 'quoted"', "a=b"):
        assert (await listed(door, token)).status == 401
    assert len(asked.questions) == before
    assert (await listed(door, asked.opaque("x" * 32_000))).status == 200
    assert (await listed(door, asked.opaque("x" * 33_000))).status == 431


async def test_a_server_may_prove_the_audience_itself(site: Path) -> None:
    """The response must name no audience and the type bearer."""
    proving = ASKED.removesuffix(" }") + ", proves_audience = true }"
    cases: list[tuple[dict[str, Any], int]] = [
        ({"aud": None}, 200),
        ({}, 200),
        ({"aud": "https://other.example"}, 401),
        ({"aud": None, "token_type": None}, 401),
    ]
    async with Issuer() as issuer, asking(site, issuer, server=proving) as served:
        for number, (changes, status) in enumerate(cases):
            assert (await listed(served, told(issuer, f"t{number}", changes))).status == status


async def test_scopes_and_sessions_belong_to_the_caller(door: Served, asked: Issuer) -> None:
    own, other = (("Authorization", f"Bearer {asked.opaque(f'of-{who}', sub=who)}") for who in ("ann", "ben"))
    refused = await ask(door, call("door_guarded"), Authorization=f"Bearer {asked.opaque('weak', scope='other')}")
    assert (refused.status, refused.last["error"]["data"]) == (403, {"requiredScopes": ["work"]})
    session = Session(door)
    await session.open(**dict([own]))
    assert (await session.post(call("door_guarded"), own)).status == 200
    assert (await session.post(message("ping"), other)).refused == (404, -32600)


# --- how long a response counts


async def test_a_revoked_token_is_refused_after_a_while(site: Path) -> None:
    async with Issuer() as issuer:
        for seconds in (0.2, 0):
            token = issuer.opaque("own")
            async with asking(site, issuer, settings=f"introspected_seconds = {seconds}") as served:
                assert (await listed(served, token)).status == 200
                issuer.known.clear()
                await until(served, token, 401)
        async with asking(site, issuer) as served:  # a refusal is remembered for a moment
            before = len(issuer.questions)
            assert {(await listed(served, "invented")).status for _ in range(3)} == {401}
            assert len(issuer.questions) == before + 1


async def test_an_outage_is_503_but_for_recently_accepted_tokens(site: Path) -> None:
    async with Issuer() as issuer:
        known, other = issuer.opaque("known"), issuer.opaque("other")
        async with asking(site, issuer) as served:
            assert (await listed(served, known)).status == 200
            issuer.answer = web.Response(status=500)
            assert [(await listed(served, token)).status for token in (known, other)] == [200, 503]
            issuer.answer = None
            assert (await listed(served, other)).status == 200
        async with asking(site, issuer, settings="introspected_seconds = 0.1") as served:
            assert (await listed(served, known)).status == 200
            issuer.answer = web.Response(status=500)
            await until(served, known, 503)


async def test_a_server_that_moves_is_found_again_but_not_with_each_token(site: Path) -> None:
    async with Issuer() as issuer:
        async with asking(site, issuer) as served:
            assert (await listed(served, issuer.opaque("one"))).status == 200
            issuer.moved = "/elsewhere"
            issuer.metadata["introspection_endpoint"] = issuer.origin + issuer.moved
            assert [(await listed(served, issuer.opaque("two"))).status for _ in range(2)] == [503, 200]
        issuer.asked.clear()
        async with asking(site, issuer, settings="fetch_seconds = 0.2") as served:
            assert (await listed(served, issuer.opaque("known"))).status == 200
            issuer.gate.clear()
            assert {(await listed(served, f"invented-{number}")).status for number in range(3)} == {503}
            assert issuer.asked[issuer.where] == 1
            await served.said(r"it took longer than 0.2 seconds")


# --- responses that cannot be used


FAULTS: dict[str, Callable[[Issuer], web.Response]] = {
    "an error": lambda issuer: web.Response(status=500),
    "an unknown client": lambda issuer: web.json_response({"error": "invalid_client"}, status=401),
    "a redirect": lambda issuer: web.Response(status=307, headers={"Location": f"{issuer.origin}/elsewhere"}),
    "too large": lambda issuer: web.Response(body=b'{"active": true}' + b" " * MAX_DOCUMENT_BYTES),
    "not JSON": lambda issuer: web.Response(body=b"<html>"),
    "too deep": lambda issuer: web.Response(body=b"[" * 100_000),
    "a list": lambda issuer: web.Response(body=b"[true]"),
    "no active": lambda issuer: web.Response(body=b'{"sub": "ann"}'),
    "a string as active": lambda issuer: web.Response(body=b'{"active": "true"}'),
    "a number as active": lambda issuer: web.Response(body=b'{"active": 1}'),
}


@pytest.mark.parametrize("answer", FAULTS.values(), ids=FAULTS)
async def test_an_unusable_response_is_503(site: Path, answer: Callable[[Issuer], web.Response]) -> None:
    async with Issuer() as issuer, asking(site, issuer) as served:
        issuer.answer = answer(issuer)
        for token in ("one-0123", "two-0123"):
            refused = await listed(served, token)
            assert (refused.status, refused.get("Retry-After")) == (503, "10")
            assert refused.get("WWW-Authenticate") is None
        await served.said(r"cannot be asked about tokens")
        assert served.stderr.count("cannot be asked about tokens") == 1
        for hidden in (SECRET, "one-0123", "two-0123"):
            assert hidden not in served.stderr
        assert issuer.asked["/elsewhere"] == 0


async def test_tokens_are_sent_to_safe_urls_only(site: Path) -> None:
    for place in ("http://169.254.169.254/introspect", "file:///etc/passwd", "http://tools.example.com/x", None, 5):
        async with Issuer() as issuer:
            issuer.metadata["introspection_endpoint"] = place
            async with asking(site, issuer) as served:
                assert (await listed(served, issuer.opaque("x"))).status == 503
                await served.said("has no introspection_endpoint that is safe to use")


# --- floods

PROXIED = 'trusted_proxies = ["127.0.0.0/8"]'
ENDLESS = "introspected_seconds = 0\nfetch_seconds = 600"
"""Each request introspects its token, however long the response takes."""


async def test_concurrent_requests_with_one_token_ask_once(site: Path) -> None:
    async with Issuer() as issuer, asking(site, issuer) as served:
        token = issuer.opaque("shared")
        issuer.gate.clear()
        requests = [asyncio.create_task(listed(served, token)) for _ in range(50)]
        await issuer.until_asked(1)
        issuer.gate.set()
        assert {answer.status for answer in await asyncio.gather(*requests)} == {200}
        assert len(issuer.questions) == 1


@pytest.mark.parametrize("peer", ["192.0.2.1", "2001:db8:0:1::{number:x}"], ids=["an address", "a network"])
async def test_a_flood_of_invented_tokens_keeps_no_valid_caller_out(site: Path, peer: str) -> None:
    """A known caller is accepted even from the peer of the flood, a new caller from other peers."""
    async with Issuer() as issuer, asking(site, issuer, settings=ENDLESS, http=PROXIED) as served:
        issuer.prompt = {issuer.opaque("known"), issuer.opaque("new")}
        assert (await listed(served, "known")).status == 200
        issuer.gate.clear()
        flood = [
            asyncio.create_task(listed(served, f"invented-{number}", X_Forwarded_For=peer.format(number=number)))
            for number in range(260)
        ]
        turned = [await answer for answer in itertools.islice(asyncio.as_completed(flood), 260 - MAX_ASKED_PER_PEER)]
        assert {(answer.status, answer.get("Retry-After")) for answer in turned} == {(503, "1")}
        await issuer.until_asked(1 + MAX_CONCURRENT_PER_PEER)
        assert (await listed(served, "known", X_Forwarded_For=peer.format(number=1))).status == 200
        assert (await listed(served, "new", X_Forwarded_For="192.0.2.2")).status == 200
        issuer.gate.set()
        assert [answer.status for answer in await asyncio.gather(*flood)].count(401) == MAX_ASKED_PER_PEER
        assert set(await storm(served, [f"worse-{number}" for number in range(500)], 50)) == {401}
        assert issuer.most <= MAX_CONCURRENT_PER_PEER + 1


# --- several servers


async def test_a_token_is_shown_to_its_own_server_only(site: Path) -> None:
    async with Issuer() as signing, Issuer("/asked") as asked:
        servers = f'introspection = {{ client_id = "x", client_secret = "{SECRET}" }}'
        more = f'[[plugins.resource_server.authorization_servers]]\nissuer = "{signing.url}"'
        async with asking(site, asked, server=f"{servers}\n{more}") as served:
            assert (await listed(served, signing.token())).status == 200
            head, claims, signature = signing.token().split(".")
            odd = [f"{_header(**more)}.{claims}.{signature}" for more in ({"crit": ["x"]}, {"b64": False}, {"kid": 1})]
            foreign = [signing.token(key=OTHER_RSA_KEY), signing.token(iss="https://evil.example")]
            for token in (*foreign, *odd, f"{head}.{claims}.!"):
                assert (await listed(served, token)).status == 401
            assert not asked.questions
            assert (await listed(served, asked.opaque(asked.token(key=OTHER_RSA_KEY)))).status == 200
            assert (await listed(served, asked.opaque("opaque"))).status == 200
            assert (await listed(served, asked.token())).status == 401  # its signature does not count
            assert len(asked.questions) == 3
            assert (await listed(served, asked.opaque("its", iss=signing.url))).status == 401


def _header(**header: Any) -> str:
    return urlsafe_b64encode(json.dumps({"alg": "RS256", "kid": "one", **header}).encode()).rstrip(b"=").decode()


async def test_servers_are_asked_about_an_opaque_token_in_turn(site: Path) -> None:
    async with Issuer("/one") as one, Issuer("/two") as two, asking(site, one, two) as served:
        assert (await listed(served, two.opaque("of-two"))).status == 200
        assert (len(one.questions), len(two.questions)) == (1, 1)
        assert (await listed(served, one.opaque("of-one"))).status == 200
        assert (await listed(served, one.opaque("bad-of-one", aud="x"))).status == 401
        assert (await listed(served, one.opaque(one.token()))).status == 200
        assert len(two.questions) == 1  # the server that has the token is the last that sees it
        before = len(one.questions)
        assert (await listed(served, two.opaque(two.token()))).status == 200
        assert len(one.questions) == before
        one.answer = web.Response(status=500)
        assert (await listed(served, two.opaque("more"))).status == 200
        assert (await listed(served, "unknown")).status == 503  # it may be one of the first server
        one.answer = None
        assert (await listed(served, "unknown")).status == 401


# --- settings


def server(**changes: Any) -> AuthorizationServer:
    login = {"client_id": "tools", "client_secret": SECRET, **changes.pop("login", {})}
    return AuthorizationServer.model_validate({"issuer": "https://auth.example", "introspection": login, **changes})


async def test_invalid_settings_are_refused_without_the_secret() -> None:
    changes: Any
    logins = ({"client_id": ""}, {"client_secret": ""}, {"client_secret": None}, {"url": "http://x.example/"}, {"x": 1})
    keys = ({"jwks_uri": "https://auth.example/keys"}, {"algorithms": ["RS256"]})
    for changes in (*keys, *({"login": login} for login in logins)):
        with pytest.raises(ValidationError) as refused:
            server(**changes)
        assert SECRET not in str(refused.value)
    assert SECRET not in repr(server())


async def test_the_secret_is_shown_nowhere(site: Path, door: Served, asked: Issuer) -> None:
    assert (await listed(door, asked.opaque("one-more"))).status == 200
    assert SECRET not in door.stderr
    literal = ASKED.replace('{ env = "INTROSPECTION_SECRET" }', f'"{SECRET}"')
    text = (door.cwd / "hostconfig.toml").read_text("utf-8")
    for shown_text in (text, text.replace(ASKED, literal)):
        (door.cwd / "shown.toml").write_text(shown_text, "utf-8")
        command = [str(PEGBOARD), "config", "show", "--config", str(door.cwd / "shown.toml")]
        shown = await asyncio.to_thread(subprocess.run, command, env={**os.environ, **ENV}, capture_output=True)
        assert b"client_secret" in shown.stdout
        assert SECRET.encode() not in shown.stdout + shown.stderr
    servers = [{"issuer": "https://auth.example", "introspection": {"client_id": "tools", "client_secret": SECRET}}]
    env = {
        "MCP_RESOURCE_SERVER_CANONICAL_URL": RESOURCE,
        "MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS": json.dumps(servers),
    }
    async with Served(site, http_config(), env=env, ready=False) as refused:
        assert await refused.wait() == 3
        assert "introspection has a secret" in refused.stderr
        assert SECRET not in refused.stderr
