"""Scopes of a token: parsing, lists, calls and challenges, over sockets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard_plugins.worker.jwt_authenticator import create_token
from tests.plugins.resource_server.conftest import METADATA, listed, serve
from tests.support.http import Served
from tests.support.http_mcp import ACCEPT, Exchanged, Session, Streaming, ask, call, message
from tests.support.issuer import Issuer
from tests.support.schemas import MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")

ERAS = pytest.mark.parametrize("era", ["2024-11-05", "2025-11-25", "2026-07-28"])
EVENTS = "text/event-stream"


class Peer:
    """A client with a token. It opens a session with its first request if its revision has sessions."""

    def __init__(self, served: Served, era: str, token: str) -> None:
        self.served = served
        self.bearer = f"Bearer {token}"
        self.session = None if era == "2026-07-28" else Session(served, era)

    async def ask(self, one: dict[str, object], accept: str = ACCEPT) -> Exchanged:
        if self.session is None:
            return await ask(self.served, one, Authorization=self.bearer, Accept=accept)
        if not self.session.id:
            await self.session.open(Authorization=self.bearer)
        return await self.session.post(one, ("Authorization", self.bearer), ("Accept", accept))

    async def tools(self) -> tuple[list[str], str | None]:
        """Return the names of the listed tools, and the scope of the cache."""
        result = (await self.ask(message("tools/list"))).result
        return [tool["name"].removeprefix("door_") for tool in result["tools"]], result.get("cacheScope")


@ERAS
@pytest.mark.requirement("AUTH-03")
async def test_missing_scopes_are_refused_before_a_stream_opens(served: Served, issuer: Issuer, era: str) -> None:
    peer = Peer(served, era, issuer.token(scope="other"))
    scope = "work" if era in MODERN else "other work"  # clients of sessions are told the scopes that they have
    for accept in (ACCEPT, "application/json", EVENTS):
        for one in (call("door_guarded"), call("door_guarded", token="p")):
            done = await peer.ask(one, accept)
            assert done.refused == (403, -32602)
            assert done.last["error"]["data"] == {"requiredScopes": ["work"]}
            assert done.answer.get("WWW-Authenticate") == (
                'Bearer error="insufficient_scope", error_description="This needs a token that allows: work.", '
                f'scope="{scope}", resource_metadata="{METADATA}"'
            )
    peer.bearer = f"Bearer {issuer.token()}"  # the step up, in the same session
    for one in (call("door_guarded"), call("door_guarded", token="p"), message("tools/list")):
        done = await peer.ask(one, EVENTS)
        assert done.streamed
        assert "result" in done.last


async def test_the_stream_of_a_quiet_call_can_be_resumed(served: Served, issuer: Issuer) -> None:
    bearer = ("Authorization", f"Bearer {issuer.token()}")
    session = Session(served)
    await session.open(**dict([bearer]))
    fields = [*session.fields(bearer, ("Accept", EVENTS))]
    begun = Streaming(await served.connect(), session.conversation, session.seen)
    await begun.begin(call("door_plain"), fields)
    first, answer = begun.events
    assert (first.data, first.retry is not None) == (b"", True)
    assert None not in (first.id, answer.id)
    assert [one async for one in begun.rest()] == []
    again = Streaming(await served.connect(), session.conversation, session.seen)
    resumed = [field for field in fields if field[0] != "Content-Type"]
    await again.open([*resumed, ("Last-Event-ID", str(first.id))])
    assert [one async for one in again.rest()] == [begun.first]


@ERAS
@pytest.mark.requirement("LIST-09", "AUTH-03")
async def test_tools_that_a_token_does_not_allow_are_not_listed(served: Served, issuer: Issuer, era: str) -> None:
    for scope, is_listed in (("other", False), ("other work", True), ("", False)):
        peer = Peer(served, era, issuer.token(scope=scope))
        names, keeper = await peer.tools()
        assert ("guarded" in names) == is_listed
        assert {"plain", "secretive", "who"} < set(names)
        assert keeper == ("private" if era == "2026-07-28" else None)
        assert (await peer.ask(call("door_guarded"))).status == (200 if is_listed else 403)


async def test_the_worker_lists_and_calls_all_tools(site: Path, issuer: Issuer) -> None:
    secret = "0123456789abcdef-a-secret-that-is-long-enough"
    async with serve(site, issuer, env={"ARCADE_WORKER_SECRET": secret}) as served:
        bearer = [("Authorization", f"Bearer {create_token(secret, 60)}")]
        tools = (await served.request("GET", "/worker/tools", bearer)).json
        assert "Door.Guarded" in [tool["fully_qualified_name"] for tool in tools]
        body = {"tool": {"name": "Guarded", "toolkit": "Door"}, "inputs": {}, "context": {}}
        answer = await served.request("POST", "/worker/tools/invoke", bearer, json.dumps(body).encode())
        assert answer.json["success"] is True


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "other work"}, ["other", "work"]),
        ({"scope": "  work  a"}, ["a", "work"]),
        ({"scope": ["other", "work"]}, ["other", "work"]),
        ({"scope": None, "scp": ["a", 5, "b"]}, ["a", "b"]),
        ({"scope": None, "scp": "a b"}, ["a", "b"]),
        ({"scope": None}, []),
        *(({"scope": scope}, []) for scope in ("a\tb", "a\nb", "a\N{NO-BREAK SPACE}b", "a\x0b", ["a b"], {"a": 1}, 5)),
        ({"scope": "a,b"}, ["a,b"]),
    ],
    ids=str,
)
async def test_spaces_separate_scopes(
    served: Served, issuer: Issuer, claims: dict[str, Any], scopes: list[str]
) -> None:
    """RFC 6749, section 3.3."""
    token = f"Bearer {issuer.token(**claims)}"
    done = await ask(served, call("door_who"), Authorization=token)
    assert done.result["content"][0]["text"] == f"ann {scopes}"
    assert ((await ask(served, call("door_guarded"), Authorization=token)).status == 200) is ("work" in scopes)


async def test_implied_and_required_scopes(site: Path, issuer: Issuer) -> None:
    implied = 'implied_scopes = { "files:admin" = ["write"], write = ["read", "work"], read = ["write"] }'
    told = {
        "files:admin": "['files:admin', 'read', 'work', 'write']",
        "write": "['read', 'work', 'write']",
        "work": None,
        "files": None,
    }
    async with serve(site, issuer, settings=f'required_scopes = ["read", "work"]\n{implied}') as served:
        for scope, scopes in told.items():
            done = await ask(served, call("door_who"), Authorization=f"Bearer {issuer.token(scope=scope)}")
            assert done.status == (403 if scopes is None else 200)
            assert scopes is None or done.result["content"][0]["text"] == f"ann {scopes}"
        challenge = (await listed(served, issuer.token())).get("WWW-Authenticate") or ""
        assert challenge.startswith('Bearer error="insufficient_scope"')
        assert 'scope="read work"' in challenge
