"""Tokens that their server is asked about (RFC 7662): questions, answers that open, faults, storms; over sockets."""

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
from tests.plugins.resource_server.conftest import METADATA, listed, serve, storm
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, message
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, Issuer
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "se+cret/ %:0123456789"
ASKED = 'introspection = { client_id = "our:tools é", client_secret = { env = "INTROSPECTION_SECRET" } }'
PROVING = ASKED.removesuffix(" }") + ", proves_audience = true }"
SERVER = f"""
[plugins.resource_server]
resource = "{RESOURCE}"

[[plugins.resource_server.authorization_servers]]
issuer = "https://auth.example"

[plugins.resource_server.authorization_servers.introspection]
client_id = "tools"
"""
ENV = {"INTROSPECTION_SECRET": SECRET}


def asking(site: Path, *issuers: Issuer, settings: str = "", server: str = ASKED, http: str = "") -> Served:
    """A server that asks these issuers about tokens."""
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


# --- what is asked, and what an answer says


async def test_the_server_is_asked_once_as_it_wants_to_be(site: Path) -> None:
    """Form and login as RFC 7662 and RFC 6749, section 2.3.1 have them; the place is in the metadata."""
    async with Issuer("/tenant") as issuer, asking(site, issuer) as served:
        token = issuer.opaque("opaque-1")
        for _ in range(2):
            done = await ask(served, call("door_who"), Authorization=f"Bearer {token}")
            assert done.result["content"][0]["text"] == "ann ['other', 'work']"
        ((form, login),) = issuer.questions
        assert form == {"token": token, "token_type_hint": "access_token"}
        scheme, _, pair = login.partition(" ")
        assert (scheme, b64decode(pair)) == ("Basic", b"our%3Atools+%C3%A9:se%2Bcret%2F+%25%3A0123456789")
        assert issuer.asked["/keys"] == 0


async def test_a_place_that_is_configured_needs_no_metadata(site: Path) -> None:
    async with Issuer() as issuer:
        placed = ASKED.replace("introspection = {", f'introspection = {{ url = "{issuer.origin}/introspect",')
        async with asking(site, issuer, server=placed) as served:
            assert (await listed(served, issuer.opaque("a"))).status == 200
        assert set(issuer.asked) == {"/introspect"}


GOOD: dict[str, tuple[dict[str, Any], str]] = {
    "as it should be": ({}, "ann"),
    "an audience among several": ({"aud": ["https://other.example", RESOURCE]}, "ann"),
    "without an end": ({"exp": None}, "ann"),
    "without an issuer": ({"iss": None}, "ann"),
    "of no type": ({"token_type": None}, "ann"),
    "a type in small letters": ({"token_type": "bearer"}, "ann"),
    "ended less than the leeway ago": ({"exp": lambda: now() - 55}, "ann"),
    "begins sooner than the leeway": ({"nbf": lambda: now() + 58}, "ann"),
    "made sooner than the leeway": ({"iat": lambda: now() + 58}, "ann"),
    "a program's own": ({"sub": None}, "client:desk"),
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "not active": ({"active": False}, "The token is not active."),
    "another issuer": ({"iss": "https://evil.example"}, "of another issuer"),
    "no issuer": ({"iss": 5}, "of another issuer"),
    "bound to a key": ({"token_type": "DPoP"}, "of another type"),
    "a number as type": ({"token_type": 5}, "of another type"),
    "bound to a certificate": ({"cnf": {"x5t#S256": "x"}}, "The token is bound to a key"),
    "no audience": ({"aud": None}, "The token lacks aud."),
    "another audience": ({"aud": RESOURCE + "/"}, "for another audience"),
    "no audience in the list": ({"aud": []}, "for another audience"),
    "an object as audience": ({"aud": {RESOURCE: 1}}, "for another audience"),
    "ended": ({"exp": lambda: now() - 61}, "The token has expired."),
    "an end that is no time": ({"exp": "soon"}, "The token is not in order."),
    "an end that is true": ({"exp": True}, "The token is not in order."),
    "an end beyond all times": ({"exp": 10**400}, "The token is not in order."),
    "an end that is no number": ({"exp": float("nan")}, "The token is not in order."),
    "not begun": ({"nbf": lambda: now() + 63}, "The token is not valid yet."),
    "of the future": ({"iat": lambda: now() + 63}, "The token is not valid yet."),
    "nobody's": ({"sub": None, "client_id": None}, "The token lacks sub."),
    "an empty subject": ({"sub": ""}, "The token lacks sub."),
    "a number as subject": ({"sub": 5}, "The token lacks sub."),
    "a subject that is called like a program": ({"sub": "client:desk"}, "The token lacks sub."),
    "a number as program": ({"sub": None, "client_id": 5}, "The token lacks sub."),
}


def told(issuer: Issuer, token: str, changes: Mapping[str, Any]) -> str:
    """A token of which the issuer says that; what is a function is called now."""
    made = issuer.opaque(token, **{name: value() if callable(value) else value for name, value in changes.items()})
    if changes.get("token_type", "") is None:
        del issuer.known[made]["token_type"]
    return made


@pytest.mark.parametrize(("changes", "who"), GOOD.values(), ids=GOOD)
async def test_answers_that_open(door: Served, asked: Issuer, changes: dict[str, Any], who: str) -> None:
    token = told(asked, f"good-{len(asked.known)}", changes)
    done = await ask(door, call("door_who"), Authorization=f"bearer {token}")
    assert done.result["content"][0]["text"] == f"{who} ['other', 'work']"


@pytest.mark.parametrize(("changes", "reason"), BAD.values(), ids=BAD)
async def test_answers_that_do_not(door: Served, asked: Issuer, changes: dict[str, Any], reason: str) -> None:
    answer = await listed(door, told(asked, f"bad-{len(asked.known)}", changes))
    assert answer.status == 401
    challenge = answer.get("WWW-Authenticate") or ""
    assert challenge.startswith('Bearer error="invalid_token", error_description="The ')
    assert reason in challenge
    assert challenge.endswith(f'resource_metadata="{METADATA}"')


@pytest.mark.parametrize("token", ["two words", "a,b", "=", "\x80", 'quoted"', "a=b"])
async def test_what_no_token_looks_like_is_asked_of_nobody(door: Served, asked: Issuer, token: str) -> None:
    before = len(asked.questions)
    assert (await listed(door, token)).status == 401
    assert len(asked.questions) == before


async def test_a_server_may_prove_the_audience_itself(site: Path) -> None:
    """Only where it is told none: what names an audience must name ours, and what has no type may renew tokens."""
    async with Issuer() as issuer, asking(site, issuer, server=PROVING) as served:
        cases: list[tuple[dict[str, Any], int]] = [
            ({"aud": None}, 200),
            ({}, 200),
            ({"aud": "https://other.example"}, 401),
            ({"aud": None, "token_type": None}, 401),
        ]
        for number, (changes, status) in enumerate(cases):
            assert (await listed(served, told(issuer, f"t{number}", changes))).status == status


async def test_scopes_and_sessions_are_the_tokens(door: Served, asked: Issuer) -> None:
    mine, theirs = (("Authorization", f"Bearer {asked.opaque(f'of-{who}', sub=who)}") for who in ("ann", "ben"))
    weak = asked.opaque("weak", scope="other")
    refused = await ask(door, call("door_guarded"), Authorization=f"Bearer {weak}")
    assert (refused.status, refused.last["error"]["data"]) == (403, {"requiredScopes": ["work"]})
    session = Session(door)
    await session.open(**dict([mine]))
    assert (await session.post(call("door_guarded"), mine)).status == 200
    assert (await session.post(message("ping"), theirs)).refused == (404, -32600)


async def test_a_long_token_opens(door: Served, asked: Issuer) -> None:
    assert (await listed(door, asked.opaque("x" * 32_000))).status == 200
    assert (await listed(door, asked.opaque("x" * 33_000))).status == 431


# --- for how long an answer counts


async def until(served: Served, token: str, status: int) -> None:
    """Ask until the answer has this status."""
    async with asyncio.timeout(20):
        while (await listed(served, token)).status != status:
            pass


async def test_a_token_that_was_taken_back_opens_no_longer(site: Path) -> None:
    async with Issuer() as issuer:
        token = issuer.opaque("mine")
        async with asking(site, issuer, settings="introspected_seconds = 0.2") as served:
            assert (await listed(served, token)).status == 200
            issuer.known.clear()
            await until(served, token, 401)
        issuer.opaque("mine")
        async with asking(site, issuer, settings="introspected_seconds = 0") as served:
            assert (await listed(served, token)).status == 200
            issuer.known.clear()
            assert (await listed(served, token)).status == 401


async def test_an_outage_is_told_and_lets_nobody_in(site: Path) -> None:
    """Never 401, for the token may be good; what was found good serves while its answer is young."""
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


async def test_a_server_that_moves_is_found_again(site: Path) -> None:
    async with Issuer() as issuer, asking(site, issuer) as served:
        assert (await listed(served, issuer.opaque("one"))).status == 200
        issuer.moved = "/elsewhere"
        issuer.metadata["introspection_endpoint"] = issuer.origin + issuer.moved
        assert [(await listed(served, issuer.opaque("two"))).status for _ in range(2)] == [503, 200]


async def test_a_slow_server_is_not_looked_for_again_with_each_token(site: Path) -> None:
    """Invented tokens that it takes long for would make known callers wait for its metadata."""
    async with Issuer() as issuer, asking(site, issuer, settings="fetch_seconds = 0.2") as served:
        assert (await listed(served, issuer.opaque("known"))).status == 200
        issuer.gate.clear()
        assert {(await listed(served, f"invented-{number}")).status for number in range(3)} == {503}
        assert issuer.asked[issuer.where] == 1


# --- what cannot be used


FAULTS: dict[str, Callable[[Issuer], web.Response]] = {
    "an error": lambda issuer: web.Response(status=500),
    "an unknown client": lambda issuer: web.json_response({"error": "invalid_client"}, status=401),
    "a redirect": lambda issuer: web.Response(status=307, headers={"Location": f"{issuer.origin}/elsewhere"}),
    "a redirect to the cloud's own": lambda issuer: web.Response(
        status=302, headers={"Location": "http://169.254.169.254/latest/meta-data"}
    ),
    "too much": lambda issuer: web.Response(body=b'{"active": true}' + b" " * MAX_DOCUMENT_BYTES),
    "no JSON": lambda issuer: web.Response(body=b"<html>"),
    "too deep": lambda issuer: web.Response(body=b"[" * 100_000),
    "a list": lambda issuer: web.Response(body=b"[true]"),
    "nothing about the token": lambda issuer: web.Response(body=b'{"sub": "ann"}'),
    "a text as active": lambda issuer: web.Response(body=b'{"active": "true"}'),
    "a number as active": lambda issuer: web.Response(body=b'{"active": 1}'),
}


@pytest.mark.parametrize("answer", FAULTS.values(), ids=FAULTS)
async def test_what_is_no_answer_opens_nothing(site: Path, answer: Callable[[Issuer], web.Response]) -> None:
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


async def test_an_answer_that_does_not_come_is_not_waited_for(site: Path) -> None:
    async with Issuer() as issuer, asking(site, issuer, settings="fetch_seconds = 0.2") as served:
        issuer.silent = True
        assert (await listed(served, "x")).status == 503
        await served.said(r"it took longer than 0.2 seconds")


@pytest.mark.parametrize(
    "place", ["http://169.254.169.254/introspect", "file:///etc/passwd", "http://tools.example.com/x", None, 5]
)
async def test_a_token_is_sent_to_no_place_that_is_not_safe(site: Path, place: Any) -> None:
    async with Issuer() as issuer:
        issuer.metadata["introspection_endpoint"] = place
        async with asking(site, issuer) as served:
            assert (await listed(served, issuer.opaque("x"))).status == 503
            await served.said("has no introspection_endpoint that is safe to use")


# --- many at once


async def test_fifty_with_one_token_are_one_question(site: Path) -> None:
    async with Issuer() as issuer, asking(site, issuer) as served:
        token = issuer.opaque("shared")
        issuer.gate.clear()
        requests = [asyncio.create_task(listed(served, token)) for _ in range(50)]
        await issuer.until_asked(1)
        issuer.gate.set()
        assert {answer.status for answer in await asyncio.gather(*requests)} == {200}
        assert len(issuer.questions) == 1


async def test_a_storm_of_bad_tokens_is_none_at_the_server(site: Path) -> None:
    """A few are asked about, some wait, the others are told to come back; whom it knows already is let in."""
    async with Issuer() as issuer, asking(site, issuer, settings="fetch_seconds = 600") as served:
        known = issuer.opaque("known")
        assert (await listed(served, known)).status == 200
        issuer.gate.clear()
        tokens = [f"bad-{number}" for number in range(MAX_ASKED_PER_PEER + 20)]
        requests = [asyncio.create_task(listed(served, token)) for token in tokens]
        turned = [await answer for answer in itertools.islice(asyncio.as_completed(requests), 20)]
        assert {(answer.status, answer.get("Retry-After")) for answer in turned} == {(503, "1")}
        assert (await listed(served, known)).status == 200
        await issuer.until_asked(1 + MAX_CONCURRENT_PER_PEER)
        issuer.gate.set()
        assert [answer.status for answer in await asyncio.gather(*requests)].count(401) == MAX_ASKED_PER_PEER
        assert set(await storm(served, [f"worse-{number}" for number in range(1000)], 50)) == {401}
        assert issuer.most == MAX_CONCURRENT_PER_PEER


PROXIED = 'trusted_proxies = ["127.0.0.0/8"]'
"""Peers are then the addresses that X-Forwarded-For names."""
ENDLESS = "introspected_seconds = 0\nfetch_seconds = 600"
"""Every token is asked about at each request, however long the answer takes."""


@pytest.mark.parametrize("peer", ["192.0.2.1", "2001:db8:0:1::{number:x}"], ids=["an address", "a network"])
async def test_a_flood_of_invented_tokens_keeps_no_valid_caller_out(site: Path, peer: str) -> None:
    """A known caller gets in from the peer of the flood too, a new one from another peer."""
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


async def test_a_refusal_is_remembered_for_a_moment(site: Path) -> None:
    async with Issuer() as issuer, asking(site, issuer) as served:
        assert {(await listed(served, "invented")).status for _ in range(3)} == {401}
        assert len(issuer.questions) == 1
        assert (await listed(served, issuer.opaque("other"))).status == 200


# --- several servers


async def test_each_token_goes_to_whose_it_is(site: Path) -> None:
    async with Issuer() as signing, Issuer("/asked") as asked:
        servers = f'introspection = {{ client_id = "x", client_secret = "{SECRET}" }}'
        more = f'[[plugins.resource_server.authorization_servers]]\nissuer = "{signing.url}"'
        async with asking(site, asked, server=f"{servers}\n{more}") as served:
            assert (await listed(served, signing.token())).status == 200
            assert (await listed(served, signing.token(key=OTHER_RSA_KEY))).status == 401
            assert (await listed(served, signing.token(iss="https://evil.example"))).status == 401
            assert not asked.questions
            assert (await listed(served, asked.opaque(asked.token(key=OTHER_RSA_KEY)))).status == 200
            assert (await listed(served, asked.opaque("opaque"))).status == 200
            assert (await listed(served, asked.token())).status == 401  # whatever its signature is
            assert len(asked.questions) == 3
            assert (await listed(served, asked.opaque("its", iss=signing.url))).status == 401


@pytest.mark.parametrize(
    "header",
    [{"crit": ["x"], "x": 1}, {"crit": []}, {"b64": False}, {"kid": 1}],
    ids=["what must be understood", "nothing that must be", "other claims", "a number as key"],
)
async def test_a_token_that_names_another_issuer_is_not_shown_however_odd_it_is(
    site: Path, header: dict[str, Any]
) -> None:
    async with Issuer() as signing, Issuer("/asked") as asked:
        servers = f'introspection = {{ client_id = "x", client_secret = "{SECRET}" }}'
        more = f'[[plugins.resource_server.authorization_servers]]\nissuer = "{signing.url}"'
        async with asking(site, asked, server=f"{servers}\n{more}") as served:
            head, claims, signature = signing.token().split(".")
            odd = _encoded({"alg": "RS256", "kid": "one", **header})
            for token in (f"{odd}.{claims}.{signature}", f"{head}.{claims}.!"):
                assert (await listed(served, token)).status == 401
            assert not asked.questions


def _encoded(header: dict[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()


async def test_an_opaque_token_is_asked_of_one_after_the_other(site: Path) -> None:
    async with Issuer("/one") as one, Issuer("/two") as two, asking(site, one, two) as served:
        assert (await listed(served, two.opaque("of-two"))).status == 200
        assert (len(one.questions), len(two.questions)) == (1, 1)
        assert (await listed(served, one.opaque("of-one"))).status == 200
        assert (await listed(served, one.opaque("bad-of-one", aud="x"))).status == 401
        assert (await listed(served, one.opaque(one.token()))).status == 200
        assert len(two.questions) == 1  # who knows a token is the last that sees it
        before = len(one.questions)
        assert (await listed(served, two.opaque(two.token()))).status == 200
        assert len(one.questions) == before  # nor is one that names its issuer shown to others
        one.answer = web.Response(status=500)
        assert (await listed(served, two.opaque("more"))).status == 200
        assert (await listed(served, "nobody")).status == 503  # it may be one of the first's
        one.answer = None
        assert (await listed(served, "nobody")).status == 401


# --- settings


def server(**changes: Any) -> AuthorizationServer:
    login = {"client_id": "tools", "client_secret": SECRET, **changes.pop("login", {})}
    return AuthorizationServer.model_validate({"issuer": "https://auth.example", "introspection": login, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"jwks_uri": "https://auth.example/keys"},
        {"algorithms": ["RS256"]},
        {"login": {"client_id": ""}},
        {"login": {"client_secret": ""}},
        {"login": {"client_secret": None}},
        {"login": {"url": "http://auth.example/introspect"}},
        {"login": {"method": "none"}},
    ],
)
async def test_settings_that_cannot_be_meant(changes: dict[str, Any]) -> None:
    assert server().introspection
    with pytest.raises(ValidationError) as refused:
        server(**changes)
    assert SECRET not in str(refused.value)


async def test_its_secret_is_shown_nowhere(door: Served, asked: Issuer) -> None:
    assert (await listed(door, asked.opaque("one-more"))).status == 200
    assert SECRET not in door.stderr
    assert SECRET not in repr(server())
    for text in ((door.cwd / "hostconfig.toml").read_text("utf-8"), f'{SERVER}\nclient_secret = "{SECRET}"\n'):
        (door.cwd / "shown.toml").write_text(text, "utf-8")
        command = [str(PEGBOARD), "config", "show", "--config", str(door.cwd / "shown.toml")]
        shown = await asyncio.to_thread(subprocess.run, command, env={**os.environ, **ENV}, capture_output=True)
        assert b"client_secret" in shown.stdout
        assert SECRET.encode() not in shown.stdout + shown.stderr


async def test_json_in_a_variable_holds_no_secret(site: Path) -> None:
    login = {"client_id": "tools", "client_secret": SECRET}
    servers = json.dumps([{"issuer": "https://auth.example", "introspection": login}])
    env = {"MCP_RESOURCE_SERVER_CANONICAL_URL": RESOURCE, "MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS": servers}
    async with Served(site, http_config(), env=env, ready=False) as refused:
        assert await refused.wait() == 3
        assert "introspection has a secret" in refused.stderr
        assert SECRET not in refused.stderr
