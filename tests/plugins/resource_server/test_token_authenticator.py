"""Remembered tokens: their number, time and end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import time
from typing import Any

import jwt
import pytest
import pytest_asyncio

from pegboard.types import Caller, Request
from pegboard_plugins.resource_server import ResourceServerConfig, introspection, token_authenticator
from pegboard_plugins.resource_server.token_authenticator import ResourceServerAuthenticator
from tests.support.fields import Fields
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, RSA_KEY, Issuer, public
from tests.support.peer import WAIT

pytestmark = pytest.mark.asyncio(loop_scope="session")


def asked_with(token: str) -> Request:
    """Return a request with a token."""
    return Request("POST", "/mcp", {}, Fields([("Authorization", f"Bearer {token}")]))


class Door:
    """An authenticator that counts checks of signatures."""

    def __init__(self, issuer: Issuer, *, asks: bool = False, **settings: Any) -> None:
        login = {"client_id": "tools", "client_secret": "x", "url": f"{issuer.origin}/introspect"}
        way: dict[str, Any] = {"introspection": login} if asks else {"jwks_uri": f"{issuer.origin}/keys"}
        servers = [{"issuer": issuer.url, **way}]
        given = {"resource": RESOURCE, "authorization_servers": servers, **settings}
        self.bearer = ResourceServerAuthenticator(ResourceServerConfig.model_validate(given))
        self.checked = 0

    async def ask(self, token: str) -> int:
        """Return 200, or the status of the refusal."""
        found = await self.bearer.authenticate(asked_with(token))
        return 200 if isinstance(found, Caller) else found.status


@pytest_asyncio.fixture(loop_scope="session")
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest.fixture
def make(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Door]:
    decode = jwt.decode

    def make(**settings: Any) -> Door:
        door = Door(issuer, **settings)

        def counted(*given: Any, **more: Any) -> Any:
            door.checked += 1
            return decode(*given, **more)

        monkeypatch.setattr(jwt, "decode", counted)
        return door

    return make


async def test_valid_tokens_are_checked_once_and_invalid_ones_each_time(
    issuer: Issuer, make: Callable[..., Door]
) -> None:
    door = make()
    token, other, bad = issuer.token(), issuer.token(sub="ben"), issuer.token(key=OTHER_RSA_KEY)
    assert [await door.ask(one) for one in (token, token, other, token, other)] == [200] * 5
    assert door.checked == 2
    assert [await door.ask(bad) for _ in range(3)] == [401] * 3
    assert door.checked == 5


async def test_the_number_of_remembered_tokens_is_limited(issuer: Issuer, make: Callable[..., Door]) -> None:
    door = make(max_verified=2)
    some = [issuer.token(jti=str(number)) for number in range(3)]
    assert [await door.ask(token) for token in (*some, some[2], some[1], some[0])] == [200] * 6
    assert door.checked == 4
    none = make(max_verified=0)
    assert [await none.ask(some[0]) for _ in range(2)] == [200] * 2
    assert none.checked == 2


async def test_remembered_tokens_expire(
    issuer: Issuer, make: Callable[..., Door], monkeypatch: pytest.MonkeyPatch
) -> None:
    door = make(leeway_seconds=0)
    token = issuer.token(exp=int(time()) + 100)
    assert await door.ask(token) == 200
    now = time() + 101
    monkeypatch.setattr(token_authenticator, "time", lambda: now)
    assert door.checked == 1
    await door.ask(token)
    assert door.checked == 2


async def test_tokens_are_checked_again_after_a_while(
    issuer: Issuer, make: Callable[..., Door], monkeypatch: pytest.MonkeyPatch
) -> None:
    door = make(verified_seconds=60)
    token = issuer.token()
    assert await door.ask(token) == 200
    now = time()
    for later, checked in ((58, 1), (61, 2)):
        monkeypatch.setattr(token_authenticator, "time", lambda later=later: now + later)
        assert await door.ask(token) == 200
        assert door.checked == checked


async def test_a_response_counts_no_longer_than_its_token(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door(issuer, asks=True, introspected_seconds=30, max_verified=2)
    start = time()
    soon, late = issuer.opaque("soon", exp=int(start) + 15), issuer.opaque("late")
    for later, asked in ((0, 2), (10, 2), (20, 3), (25, 4), (31, 6)):
        monkeypatch.setattr(token_authenticator, "time", lambda later=later: start + later)
        monkeypatch.setattr(introspection, "time", lambda later=later: start + later)
        assert [await door.ask(token) for token in (soon, late)] == [200, 200]
        assert len(issuer.questions) == asked
    others = [issuer.opaque(str(number)) for number in range(2)]
    assert [await door.ask(token) for token in (*others, *others, late)] == [200] * 5
    assert len(issuer.questions) == asked + 3
    await door.bearer.close()


async def test_the_caller_has_the_facts_of_the_response(issuer: Issuer) -> None:
    bearer = Door(issuer, asks=True).bearer
    for changes, end in (({"exp": 4e9}, 4e9), ({"exp": None}, None)):
        token = issuer.opaque(str(end), username="Ann", **changes)
        caller = await bearer.authenticate(asked_with(token))
        assert caller == Caller(
            "ann",
            scopes=frozenset(("work", "other")),
            client_id="desk",
            expires_at=end,
            resource=RESOURCE,
            extra={"username": "Ann"},
            issuer=issuer.url,
        )


async def test_a_cancelled_request_does_not_cancel_the_introspection(issuer: Issuer) -> None:
    door = Door(issuer, asks=True)
    issuer.gate.clear()
    token = issuer.opaque("one")
    going, staying = (asyncio.create_task(door.ask(token)) for _ in range(2))
    await issuer.until_asked(1)
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    issuer.gate.set()
    assert await staying == 200
    assert len(issuer.questions) == 1


async def test_introspection_ends_with_the_host(issuer: Issuer) -> None:
    door = Door(issuer, asks=True)
    issuer.gate.clear()
    asking = asyncio.create_task(door.ask("one"))
    await issuer.until_asked(1)
    await door.bearer.close()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_fetching_keys_ends_with_the_host(issuer: Issuer) -> None:
    issuer.silent = True
    door = Door(issuer, fetch_seconds=3600)
    asking = asyncio.create_task(door.ask(issuer.token()))
    await issuer.noticed.wait()
    await door.bearer.close()
    async with asyncio.timeout(WAIT):
        await asyncio.wait((asking,))


async def test_tokens_are_checked_again_after_keys_change(issuer: Issuer, make: Callable[..., Door]) -> None:
    door = make(refresh_interval_seconds=0.001)
    token = issuer.token()
    assert await door.ask(token) == 200
    issuer.keys = [public(OTHER_RSA_KEY, "two", "RS256")]
    while await door.ask(issuer.token(key=OTHER_RSA_KEY, header={"kid": "two"})) != 200:
        pass
    assert await door.ask(token) == 401
    issuer.keys = [public(RSA_KEY, "one", "RS256")]
    await door.bearer.close()
