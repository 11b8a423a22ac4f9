"""Scopes of a token: parsing, lists, calls and challenges."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from pegboard_plugins.protocols.worker.jwt_authenticator import create_token
from tests.plugins.auth.auth_token.conftest import ADA, BEN, CALLERS, ENV
from tests.plugins.auth.resource_server.conftest import METADATA, Door, listed, serve
from tests.support.http import Served
from tests.support.http_mcp import ACCEPT, Exchanged, Session, ask, call, message
from tests.support.issuer import Issuer
from tests.support.schemas import MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")

ERAS = pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
EVENTS = "text/event-stream"


class Peer:
    """A client with a token. It opens a session with its first request if its revision has sessions."""

    def __init__(self, served: Served, era: str, token: str) -> None:
        self.served = served
        self.bearer = f"Bearer {token}"
        self.session = None if era == "2026-07-28" else Session(served, era)

    async def ask(self, request: dict[str, object], accept: str = ACCEPT) -> Exchanged:
        if self.session is None:
            return await ask(self.served, request, Authorization=self.bearer, Accept=accept)
        if not self.session.id:
            await self.session.open(Authorization=self.bearer)
        return await self.session.post(request, ("Authorization", self.bearer), ("Accept", accept))


@ERAS
@pytest.mark.requirement("AUTH-03")
async def test_missing_scopes_are_refused_before_a_stream_opens(served: Served, issuer: Issuer, era: str) -> None:
    peer = Peer(served, era, issuer.token(scope="other"))
    scope = "work" if era in MODERN else "other work"  # clients of sessions are told the scopes that they have
    for accept in (ACCEPT, "application/json", EVENTS):
        for request in (call("door_guarded"), call("door_guarded", token="p")):
            done = await peer.ask(request, accept)
            assert done.refused == (403, -32602)
            assert done.last["error"]["data"] == {"requiredScopes": ["work"]}
            assert done.answer.get("WWW-Authenticate") == (
                'Bearer error="insufficient_scope", error_description="This needs a token that allows: work.", '
                f'scope="{scope}", resource_metadata="{METADATA}"'
            )
    peer.bearer = f"Bearer {issuer.token()}"  # the step up, in the same session
    for request in (call("door_guarded"), call("door_guarded", token="p"), message("tools/list")):
        done = await peer.ask(request, EVENTS)
        assert done.streamed
        assert "result" in done.last


async def test_the_worker_has_its_own_tokens_and_lists_and_calls_all_tools(site: Path, issuer: Issuer) -> None:
    secret = "0123456789abcdef-a-secret-that-is-long-enough"
    async with serve(site, issuer, env={"ARCADE_WORKER_SECRET": secret}) as served:
        for token, mcp, worker in ((create_token(secret, 60), 401, 200), (issuer.token(), 200, 401)):
            bearer = [("Authorization", f"Bearer {token}")]
            assert (await listed(served, token)).status == mcp
            assert (await served.request("GET", "/worker/tools", bearer)).status == worker
        bearer = [("Authorization", f"Bearer {create_token(secret, 60)}")]
        tools = (await served.request("GET", "/worker/tools", bearer)).json
        assert "Door.Guarded" in [tool["fully_qualified_name"] for tool in tools]
        body = {"tool": {"name": "Guarded", "toolkit": "Door"}, "inputs": {}, "context": {}}
        answer = await served.request("POST", "/worker/tools/invoke", bearer, json.dumps(body).encode())
        assert answer.json["success"] is True


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "  work  a"}, ["a", "work"]),
        ({"scope": ["other", "work"]}, ["other", "work"]),
        ({"scope": None, "scp": ["a", 5, "b"]}, ["a", "b"]),
        ({"scope": None}, []),
        *(({"scope": scope}, []) for scope in ("a\tb", "a\N{NO-BREAK SPACE}b", ["a b"], {"a": 1}, 5)),
    ],
    ids=str,
)
async def test_spaces_separate_scopes(issuer: Issuer, claims: dict[str, Any], scopes: list[str]) -> None:
    """RFC 6749, section 3.3."""
    async with Door(issuer) as door:
        assert (await door.caller(issuer.token(**claims))).scopes == set(scopes)


IMPLIED = {"files:admin": ["write"], "write": ["read", "work"], "read": ["write"]}


@pytest.mark.parametrize(
    ("scope", "scopes"),
    [
        ("files:admin", {"files:admin", "read", "work", "write"}),
        ("write", {"read", "work", "write"}),
        ("work", None),
        ("files", None),
    ],
)
async def test_implied_and_required_scopes(issuer: Issuer, scope: str, scopes: set[str] | None) -> None:
    async with Door(issuer, required_scopes=["read", "work"], implied_scopes=IMPLIED) as door:
        token = issuer.token(scope=scope)
        if scopes is not None:
            assert (await door.caller(token)).scopes == scopes
            return
        refused = await door.refusal(token)
        challenge = refused.headers["WWW-Authenticate"]
        assert refused.status == 403
        assert challenge.startswith('Bearer error="insufficient_scope"')
        assert 'scope="read work"' in challenge


# --- static tokens and tokens of an authorization server at one endpoint


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def broken() -> AsyncIterator[Issuer]:
    async with Issuer("/broken") as issuer:
        issuer.answer = web.Response(status=500)
        yield issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def both(site: Path, issuer: Issuer, broken: Issuer) -> AsyncIterator[Served]:
    settings = f'challenge_scopes = ["door"]\nrequired_scopes = ["other"]\n{CALLERS}'
    async with serve(site, issuer, broken, settings=settings, env=ENV) as served:
        yield served


async def test_either_token_is_accepted_even_during_an_outage(both: Served, issuer: Issuer, broken: Issuer) -> None:
    for token, who in ((ADA, "ada ['work']"), (issuer.token(), "ann ['other', 'work']")):
        done = await ask(both, call("door_who"), Authorization=f"Bearer {token}")
        assert done.result["content"][0]["text"] == who
    answer = await listed(both, broken.token())
    assert (answer.status, answer.get("Retry-After")) == (503, "10")


async def test_each_refusal_has_the_challenge_of_the_authorization_server(both: Served, issuer: Issuer) -> None:
    where = f'resource_metadata="{METADATA}"'
    invalid, insufficient = 'Bearer error="invalid_token", error_description=', 'Bearer error="insufficient_scope", '
    for token, status, start, end in (
        (None, 401, "Bearer ", f'{where}, scope="door other"'),
        (issuer.token(exp=1), 401, f'{invalid}"The token has expired.", ', f'{where}, scope="door other"'),
        ("x", 401, f'{invalid}"The token is not a JWT.", ', f'{where}, scope="door other"'),
        (issuer.token(scope="work"), 403, insufficient, f'{where}, scope="other"'),
    ):
        answer = await listed(both, token)
        challenge = answer.get("WWW-Authenticate") or ""
        assert answer.status == status
        assert challenge.startswith(start)
        assert challenge.endswith(end)
    done = await ask(both, call("door_guarded"), Authorization=f"Bearer {BEN}")
    challenge = done.answer.get("WWW-Authenticate") or ""
    assert done.refused == (403, -32602)
    assert challenge.startswith(insufficient)
    assert challenge.endswith(f'scope="work", {where}')
