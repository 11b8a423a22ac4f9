"""What a token must allow, and what its caller is told and shown (row C-15), over sockets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegboard_plugins.worker.jwt_authenticator import create_token
from tests.plugins.resource_server.conftest import METADATA, serve
from tests.support.http import Served
from tests.support.http_mcp import ACCEPT, Exchanged, Session, Streaming, ask, call, message
from tests.support.issuer import Issuer
from tests.support.schemas import MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")

ERAS = pytest.mark.parametrize("era", ["2024-11-05", "2025-11-25", "2026-07-28"])
ACCEPTED = {"both": ACCEPT, "json": "application/json", "events": "text/event-stream"}


class Peer:
    """A client of either era with a token; its session, if it has one, is opened with the first request."""

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


def challenged(era: str, *, has: str, needs: str) -> str:
    """The scopes of a challenge: clients of sessions are reminded of what they have, others remember it."""
    return needs if era in MODERN else " ".join(sorted({*has.split(), *needs.split()}))


# --- a 403 in the place of a stream


@ERAS
@pytest.mark.requirement("AUTH-03")
@pytest.mark.parametrize("accept", ACCEPTED.values(), ids=ACCEPTED)
async def test_scopes_are_decided_before_a_stream_opens(served: Served, issuer: Issuer, era: str, accept: str) -> None:
    """Row C-15: whatever the client takes, and whether or not it wants progress."""
    peer = Peer(served, era, issuer.token(scope="other"))
    asked = challenged(era, has="other", needs="work")
    for one in (call("door_guarded"), call("door_guarded", token="p")):
        done = await peer.ask(one, accept)
        assert done.refused == (403, -32602)
        assert done.last["error"]["data"] == {"requiredScopes": ["work"]}
        assert done.answer.get("WWW-Authenticate") == (
            'Bearer error="insufficient_scope", error_description="This needs a token that allows: work.", '
            f'scope="{asked}", resource_metadata="{METADATA}"'
        )


@ERAS
async def test_who_takes_streams_alone_gets_answers_in_them(served: Served, issuer: Issuer, era: str) -> None:
    peer = Peer(served, era, issuer.token())
    for one in (call("door_guarded"), call("door_guarded", token="p"), message("tools/list")):
        done = await peer.ask(one, ACCEPTED["events"])
        assert done.streamed
        assert "result" in done.last


async def test_the_stream_of_a_quiet_call_can_be_asked_for_again(served: Served, issuer: Issuer) -> None:
    """Sessions of 2025-11-25: it begins with an event that has an id and nothing else, as those of others do."""
    bearer = ("Authorization", f"Bearer {issuer.token()}")
    session = Session(served)
    await session.open(**dict([bearer]))
    fields = [*session.fields(bearer, ("Accept", ACCEPTED["events"]))]
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


# --- lists


async def found(peer: Peer) -> tuple[list[str], str | None]:
    """The names of the tools that a client finds, and who may keep the list."""
    result = (await peer.ask(message("tools/list"))).result
    return [tool["name"].removeprefix("door_") for tool in result["tools"]], result.get("cacheScope")


@ERAS
@pytest.mark.requirement("LIST-09", "AUTH-03")
async def test_what_a_token_does_not_allow_is_not_listed(served: Served, issuer: Issuer, era: str) -> None:
    """Row C-15, both eras: and who calls it nevertheless gets the challenge, not "unknown tool"."""
    for scope, is_listed in (("other", False), ("other work", True), ("", False)):
        peer = Peer(served, era, issuer.token(scope=scope))
        names, keeper = await found(peer)
        assert ("guarded" in names) == is_listed
        assert {"plain", "secretive", "who"} < set(names)
        assert keeper == ("private" if era == "2026-07-28" else None)
        assert (await peer.ask(call("door_guarded"))).status == (200 if is_listed else 403)


@ERAS
async def test_a_better_token_finds_more_in_the_same_session(served: Served, issuer: Issuer, era: str) -> None:
    """The step up: the same person comes back with another token."""
    peer = Peer(served, era, issuer.token(scope="other"))
    assert (await peer.ask(call("door_guarded"))).status == 403
    peer.bearer = f"Bearer {issuer.token(scope='other work')}"
    assert "guarded" in (await found(peer))[0]
    assert (await peer.ask(call("door_guarded"))).result["content"][0]["text"] == "done"


async def test_the_worker_lists_all_that_it_may_call(site: Path, issuer: Issuer) -> None:
    secret = "0123456789abcdef-a-secret-that-is-long-enough"
    async with serve(site, issuer, env={"ARCADE_WORKER_SECRET": secret}) as served:
        assert "guarded" not in (await found(Peer(served, "2026-07-28", issuer.token(scope="other"))))[0]
        bearer = [("Authorization", f"Bearer {create_token(secret, 60)}")]
        tools = (await served.request("GET", "/worker/tools", bearer)).json
        assert "Door.Guarded" in [tool["fully_qualified_name"] for tool in tools]
        body = {"tool": {"name": "Guarded", "toolkit": "Door"}, "inputs": {}, "context": {}}
        answer = await served.request("POST", "/worker/tools/invoke", bearer, json.dumps(body).encode())
        assert answer.json["success"] is True


# --- how a token writes them


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("other work", True),
        ("  work  ", True),
        (["other", "work"], True),
        ("other\twork", False),
        ("other\nwork", False),
        ("other\N{NO-BREAK SPACE}work", False),
        ("work\x0b", False),
        ("other,work", False),
        (["other work"], False),
        ({"work": 1}, False),
    ],
)
async def test_spaces_alone_separate_scopes(served: Served, issuer: Issuer, scope: object, allowed: bool) -> None:
    """RFC 6749, section 3.3: any other white space makes a scope that is none."""
    done = await ask(served, call("door_guarded"), Authorization=f"Bearer {issuer.token(scope=scope)}")
    assert (done.status == 200) is allowed
    who = await ask(served, call("door_who"), Authorization=f"Bearer {issuer.token(scope=scope)}")
    assert all(character not in who.result["content"][0]["text"] for character in "\t\n\x0b\xa0")
