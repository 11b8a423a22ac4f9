"""Introspection of tokens (RFC 7662): requests, responses, failures and floods."""

from __future__ import annotations

import asyncio
import itertools
import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Mapping
from time import time
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from pydantic import ValidationError

from pegboard_plugins.auth.resource_server.introspection import MAX_ASKED_PER_PEER, MAX_CONCURRENT_PER_PEER
from tests.plugins.auth.resource_server.conftest import METADATA, Door, make_config
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, Issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "se+cret/ %:0123456789"


def asking(*issuers: Issuer, settings: Mapping[str, Any] | None = None, **login: Any) -> Door:
    """Return an authenticator that introspects tokens at these issuers."""
    own = {"client_id": "our:tools é", "client_secret": SECRET, **login}
    return Door(*issuers, server={"introspection": own}, **(settings or {}))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def opaque_issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def door(opaque_issuer: Issuer) -> AsyncIterator[Door]:
    async with asking(opaque_issuer, settings={"leeway_seconds": 60}) as door:
        yield door


# --- requests and responses


async def test_the_server_is_asked_once_with_form_and_login() -> None:
    """RFC 7662, section 2.1; RFC 6749, section 2.3.1. The metadata has the URL unless it is configured."""
    async with Issuer("/tenant") as issuer:
        async with asking(issuer) as door:
            token = issuer.opaque("opaque-1")
            assert [(await door.caller(token)).subject for _ in range(2)] == ["ann"] * 2
        ((form, login),) = issuer.questions
        assert form == {"token": token, "token_type_hint": "access_token"}
        scheme, _, pair = login.partition(" ")
        assert (scheme, b64decode(pair)) == ("Basic", b"our%3Atools+%C3%A9:se%2Bcret%2F+%25%3A0123456789")
        assert issuer.asked["/keys"] == 0
        issuer.asked.clear()
        async with asking(issuer, url=f"{issuer.origin}/introspect") as door:
            assert await door.status(issuer.opaque("a")) == 200
        assert set(issuer.asked) == {"/introspect"}


ORDER, AUDIENCE, SUBJECT = "The token is invalid.", "for another audience", "The token lacks sub."
GOOD: dict[str, tuple[dict[str, Any], str]] = {
    "default": ({}, "ann"),
    "one of several audiences": ({"aud": ["https://other.example", RESOURCE]}, "ann"),
    "no iss": ({"iss": None}, "ann"),
    "of a program": ({"sub": None}, "client:desk"),
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "not active": ({"active": False}, "The token is not active."),
    "another issuer": ({"iss": "https://evil.example"}, "from another issuer"),
    "another type": ({"token_type": "DPoP"}, "is not of an accepted type"),
    "bound to a certificate": ({"cnf": {"x5t#S256": "x"}}, "The token is bound to a key"),
    "no aud": ({"aud": None}, "The token lacks aud."),
    "another audience": ({"aud": RESOURCE + "/"}, AUDIENCE),
    "expired": ({"exp": 1}, "The token has expired."),
    **{f"{exp!r:.9} as exp": ({"exp": exp}, ORDER) for exp in ("soon", True, 10**400, float("nan"))},
    "not yet valid": ({"nbf": lambda: int(time()) + 63}, "The token is not valid yet."),
    "no sub, no client_id": ({"sub": None, "client_id": None}, SUBJECT),
    "a sub like that of a program": ({"sub": "client:desk"}, SUBJECT),
}


def make_opaque(issuer: Issuer, token: str, changes: Mapping[str, Any]) -> str:
    """Add a token to an issuer, with changed claims. Functions are called for their value."""
    made = issuer.opaque(token, **{name: value() if callable(value) else value for name, value in changes.items()})
    if changes.get("token_type", "") is None:
        del issuer.known[made]["token_type"]
    return made


@pytest.mark.parametrize(("changes", "who"), GOOD.values(), ids=GOOD)
async def test_active_tokens_are_accepted(door: Door, opaque_issuer: Issuer, changes: dict[str, Any], who: str) -> None:
    caller = await door.caller(make_opaque(opaque_issuer, f"good-{len(opaque_issuer.known)}", changes))
    assert (caller.subject, caller.issuer, sorted(caller.scopes)) == (who, opaque_issuer.url, ["other", "work"])


@pytest.mark.parametrize(("changes", "reason"), BAD.values(), ids=BAD)
async def test_bad_tokens_are_refused(door: Door, opaque_issuer: Issuer, changes: dict[str, Any], reason: str) -> None:
    refused = await door.refusal(make_opaque(opaque_issuer, f"bad-{len(opaque_issuer.known)}", changes))
    challenge = refused.headers["WWW-Authenticate"]
    assert refused.status == 401
    assert challenge.startswith('Bearer error="invalid_token", error_description="The ')
    assert reason in challenge
    assert challenge.endswith(f'resource_metadata="{METADATA}"')


async def test_malformed_tokens_are_sent_to_no_server_and_long_ones_are(door: Door, opaque_issuer: Issuer) -> None:
    before = len(opaque_issuer.questions)
    for token in ("two words", "a,b", "=", "\x80", 'quoted"', "a=b"):
        assert await door.status(token) == 401
    assert len(opaque_issuer.questions) == before
    assert await door.status(opaque_issuer.opaque("x" * 32_000)) == 200


async def test_a_server_may_prove_the_audience_itself() -> None:
    """The response must name no audience and the type bearer."""
    cases: list[tuple[dict[str, Any], int]] = [
        ({"aud": None}, 200),
        ({}, 200),
        ({"aud": "https://other.example"}, 401),
        ({"aud": None, "token_type": None}, 401),
    ]
    async with Issuer() as issuer, asking(issuer, proves_audience=True) as door:
        for number, (changes, status) in enumerate(cases):
            assert await door.status(make_opaque(issuer, f"t{number}", changes)) == status


# --- how long a response counts


@pytest.mark.parametrize("seconds", [0.1, 0])
async def test_a_revoked_token_is_refused_after_a_while(seconds: float) -> None:
    async with Issuer() as issuer, asking(issuer, settings={"introspected_seconds": seconds}) as door:
        token = issuer.opaque("own")
        assert await door.status(token) == 200
        issuer.known.clear()
        await door.until(token, 401)


async def test_an_outage_is_503_but_for_recently_accepted_tokens() -> None:
    async with Issuer() as issuer, asking(issuer, settings={"introspected_seconds": 0.3}) as door:
        known, other = issuer.opaque("known"), issuer.opaque("other")
        assert await door.status(known) == 200
        issuer.answer = web.Response(status=500)
        assert [await door.status(token) for token in (known, other)] == [200, 503]
        await door.until(known, 503)
        issuer.answer = None
        assert await door.status(other) == 200


def answer(body: bytes, status: int = 200) -> Callable[[Issuer], Mapping[str, Any]]:
    return lambda issuer: {"answer": web.Response(body=body, status=status)}


def endpoint(url: Any) -> Callable[[Issuer], Mapping[str, Any]]:
    return lambda issuer: {"metadata": issuer.metadata | {"introspection_endpoint": url}}


UNSAFE = "has no introspection_endpoint that is safe to use"
FAULTS: dict[str, tuple[Callable[[Issuer], Mapping[str, Any]], str]] = {
    "an error": (answer(b"", 500), "returned status 500"),
    "a redirect": (lambda issuer: {"redirects": {"/introspect": f"{issuer.origin}/elsewhere"}}, "status 302"),
    "not JSON": (answer(b"<html>"), "is not JSON"),
    "no active": (answer(b'{"sub": "ann"}'), "no valid member 'active'"),
    "a string as active": (answer(b'{"active": "true"}'), "no valid member 'active'"),
    "a URL in a private network": (endpoint("http://169.254.169.254/introspect"), UNSAFE),
    "a URL of a file": (endpoint("file:///etc/passwd"), UNSAFE),
}


@pytest.mark.parametrize(("fault", "problem"), FAULTS.values(), ids=FAULTS)
async def test_without_a_usable_response_tokens_are_503(
    caplog: pytest.LogCaptureFixture, fault: Callable[[Issuer], Mapping[str, Any]], problem: str
) -> None:
    async with Issuer() as issuer, asking(issuer) as door:
        for name, value in fault(issuer).items():
            setattr(issuer, name, value)
        for token in ("one-0123", "two-0123"):
            refused = await door.refusal(token)
            assert (refused.status, refused.headers) == (503, {"Retry-After": "10"})
        assert caplog.text.count("cannot validate tokens: ") == 1
        assert problem in caplog.text
        for hidden in (SECRET, "one-0123", "two-0123"):
            assert hidden not in caplog.text
        assert issuer.asked["/elsewhere"] == 0


# --- floods


async def test_concurrent_requests_with_one_token_ask_once() -> None:
    async with Issuer() as issuer, asking(issuer) as door:
        token = issuer.opaque("shared")
        issuer.gate.clear()
        requests = [asyncio.create_task(door.status(token)) for _ in range(50)]
        await issuer.until_asked(1)
        issuer.gate.set()
        assert set(await asyncio.gather(*requests)) == {200}
        assert len(issuer.questions) == 1
        assert {await door.status("invented") for _ in range(3)} == {401}  # a refusal is remembered for a moment
        assert len(issuer.questions) == 2


@pytest.mark.parametrize("peer", ["192.0.2.1", "2001:db8:0:1::{number:x}"], ids=["an address", "a network"])
async def test_a_flood_of_invented_tokens_keeps_no_valid_caller_out(peer: str) -> None:
    """A known caller is accepted even from the peer of the flood, a new caller from other peers."""
    endless = {"introspected_seconds": 0, "fetch_seconds": 600}  # each request introspects its token
    async with Issuer() as issuer, asking(issuer, settings=endless) as door:
        issuer.prompt = {issuer.opaque("known"), issuer.opaque("new")}
        assert await door.status("known") == 200
        issuer.gate.clear()
        flood = [
            asyncio.create_task(door.ask(f"invented-{number}", peer.format(number=number))) for number in range(100)
        ]
        turned: list[Any] = [
            await waiting for waiting in itertools.islice(asyncio.as_completed(flood), 100 - MAX_ASKED_PER_PEER)
        ]
        assert {(response.status, response.headers["Retry-After"]) for response in turned} == {(503, "1")}
        await issuer.until_asked(1 + MAX_CONCURRENT_PER_PEER)
        assert await door.status("known", peer.format(number=1)) == 200
        assert await door.status("new", "192.0.2.2") == 200
        issuer.gate.set()
        done: list[Any] = await asyncio.gather(*flood)
        assert [response.status for response in done].count(401) == MAX_ASKED_PER_PEER
        assert issuer.most <= MAX_CONCURRENT_PER_PEER + 1


# --- several servers


async def test_a_token_is_shown_to_its_own_server_only() -> None:
    def header(**changes: Any) -> str:
        members = json.dumps({"alg": "RS256", "kid": "one", **changes}).encode()
        return urlsafe_b64encode(members).rstrip(b"=").decode()

    async with Issuer() as signing, Issuer("/asked") as introspected:
        login = {"client_id": "x", "client_secret": SECRET}
        servers = [{"issuer": introspected.url, "introspection": login}, {"issuer": signing.url}]
        async with Door(authorization_servers=servers) as door:
            assert await door.status(signing.token()) == 200
            head, claims, signature = signing.token().split(".")
            odd = [f"{header(**more)}.{claims}.{signature}" for more in ({"crit": ["x"]}, {"b64": False}, {"kid": 1})]
            foreign = [signing.token(key=OTHER_RSA_KEY), signing.token(iss="https://evil.example")]
            for token in (*foreign, *odd, f"{head}.{claims}.!"):
                assert await door.status(token) == 401
            assert not introspected.questions
            assert await door.status(introspected.opaque(introspected.token(key=OTHER_RSA_KEY))) == 200
            assert await door.status(introspected.opaque("opaque")) == 200
            assert await door.status(introspected.token()) == 401  # its signature does not count
            assert len(introspected.questions) == 3
            assert await door.status(introspected.opaque("its", iss=signing.url)) == 401


async def test_servers_are_asked_about_an_opaque_token_in_turn() -> None:
    async with Issuer("/one") as one, Issuer("/two") as two, asking(one, two) as door:
        assert await door.status(two.opaque("of-two")) == 200
        assert (len(one.questions), len(two.questions)) == (1, 1)
        assert await door.status(one.opaque("of-one")) == 200
        assert await door.status(one.opaque("bad-of-one", aud="x")) == 401
        assert await door.status(one.opaque(one.token())) == 200
        assert len(two.questions) == 1  # the server that has the token is the last that sees it
        before = len(one.questions)
        assert await door.status(two.opaque(two.token())) == 200
        assert len(one.questions) == before
        one.answer = web.Response(status=500)
        assert await door.status(two.opaque("more")) == 200
        assert await door.status("unknown") == 503  # it may be one of the first server
        one.answer = None
        assert await door.status("unknown") == 401


def server(**changes: Any) -> dict[str, Any]:
    login = {"client_id": "tools", "client_secret": SECRET, **changes.pop("login", {})}
    return {"issuer": "https://auth.example", "introspection": login, **changes}


@pytest.mark.parametrize(
    "changes",
    [
        {"jwks_uri": "https://auth.example/keys"},
        {"algorithms": ["RS256"]},
        {"login": {"client_secret": ""}},
        {"login": {"url": "http://x.example/"}},
    ],
    ids=str,
)
async def test_invalid_settings_are_refused_without_the_secret(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        make_config(authorization_servers=[server(**changes)])
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(make_config(authorization_servers=[server()]))
    with pytest.raises(ValidationError, match="introspection has a secret") as refused:  # a variable must not hold it
        make_config(authorization_servers=json.dumps([server()]))
    assert SECRET not in str(refused.value)
