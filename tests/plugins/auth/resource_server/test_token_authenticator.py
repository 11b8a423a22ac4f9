"""Remembered tokens: their number, time and end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import time
from typing import Any

import jwt
import pytest
import pytest_asyncio

from pegboard.types import Caller
from pegboard_plugins.auth.resource_server import introspection, token_authenticator
from tests.plugins.auth.resource_server.conftest import Door
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, Issuer
from tests.support.peer import WAIT

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKING = {"introspection": {"client_id": "tools", "client_secret": "x"}}


@pytest_asyncio.fixture(loop_scope="session")
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    decode, tokens = jwt.decode, []

    def counted(token: str, *arguments: Any, **more: Any) -> Any:
        tokens.append(token)
        return decode(token, *arguments, **more)

    monkeypatch.setattr(jwt, "decode", counted)
    return tokens


async def test_a_limited_number_of_valid_tokens_is_remembered(issuer: Issuer, checked: list[str]) -> None:
    one, two, three = (issuer.token(jti=str(number)) for number in range(3))
    bad = issuer.token(key=OTHER_RSA_KEY)
    async with Door(issuer, max_verified=2) as door:
        assert [await door.status(token) for token in (one, one, two, three, two, one)] == [200] * 6
        assert checked == [one, two, three, one]
        assert [await door.status(bad) for _ in range(2)] == [401] * 2
        assert checked[4:] == [bad] * 2


@pytest.mark.parametrize(("lifetime", "until"), [(100, 100), (600, 60)], ids=["of the token", "of the settings"])
async def test_tokens_are_remembered_for_a_limited_time(
    issuer: Issuer, checked: list[str], monkeypatch: pytest.MonkeyPatch, lifetime: int, until: int
) -> None:
    now = time()
    token = issuer.token(exp=int(now) + lifetime)
    async with Door(issuer, leeway_seconds=0, verified_seconds=60 if until == 60 else 300) as door:
        for later, count in ((0, 1), (until - 2, 1), (until + 1, 2)):
            monkeypatch.setattr(token_authenticator, "time", lambda later=later: now + later)
            await door.ask(token)
            assert len(checked) == count


async def test_a_response_counts_no_longer_than_its_token(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    start = time()
    soon, late = issuer.opaque("soon", exp=int(start) + 15), issuer.opaque("late")
    async with Door(issuer, server=ASKING, introspected_seconds=30, max_verified=2) as door:
        for later, count in ((0, 2), (10, 2), (20, 3), (25, 4), (31, 6)):
            for module in (token_authenticator, introspection):
                monkeypatch.setattr(module, "time", lambda later=later: start + later)
            assert [await door.status(token) for token in (soon, late)] == [200, 200]
            assert len(issuer.questions) == count
        others = [issuer.opaque(str(number)) for number in range(2)]
        assert [await door.status(token) for token in (*others, *others, late)] == [200] * 5
        assert len(issuer.questions) == count + 3


async def test_the_caller_has_the_facts_of_the_response(issuer: Issuer) -> None:
    end = 4e9
    async with Door(issuer, server=ASKING) as door:
        assert await door.caller(issuer.opaque("one", username="Ann", exp=end)) == Caller(
            "ann",
            scopes=frozenset(("work", "other")),
            client_id="desk",
            expires_at=end,
            resource=RESOURCE,
            extra={"username": "Ann"},
            issuer=issuer.url,
        )


async def test_a_cancelled_request_does_not_cancel_the_introspection(issuer: Issuer) -> None:
    async with Door(issuer, server=ASKING) as door:
        issuer.gate.clear()
        token = issuer.opaque("one")
        going, staying = (asyncio.create_task(door.status(token)) for _ in range(2))
        await issuer.until_asked(1)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        issuer.gate.set()
        assert await staying == 200
        assert len(issuer.questions) == 1


@pytest.mark.parametrize("server", [{}, ASKING], ids=["keys", "introspection"])
async def test_requests_to_issuers_end_with_the_authenticator(issuer: Issuer, server: dict[str, Any]) -> None:
    """It ends with the host, and after a reload with other settings. The client may repeat its request."""
    issuer.silent = True
    async with Door(issuer, server=server, fetch_seconds=3600) as door:
        asking = asyncio.create_task(door.status(issuer.token()))
        await issuer.noticed.wait()
        await door.authenticator.close()
        async with asyncio.timeout(WAIT):
            assert await asking == 503
