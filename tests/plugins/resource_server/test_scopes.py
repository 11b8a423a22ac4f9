"""What a token must allow, and what its caller is told and shown (row C-15), over sockets."""

from __future__ import annotations

import pytest

from tests.plugins.resource_server.conftest import METADATA
from tests.support.http import Served
from tests.support.http_mcp import ACCEPT, Exchanged, Session, Streaming, ask, call, message
from tests.support.issuer import Issuer

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


# --- a 403 in the place of a stream


@ERAS
@pytest.mark.parametrize("accept", ACCEPTED.values(), ids=ACCEPTED)
async def test_scopes_are_decided_before_a_stream_opens(served: Served, issuer: Issuer, era: str, accept: str) -> None:
    """Row C-15: whatever the client takes, and whether or not it wants progress."""
    peer = Peer(served, era, issuer.token(scope="other"))
    for one in (call("door_guarded"), call("door_guarded", token="p")):
        done = await peer.ask(one, accept)
        assert done.refused == (403, -32602)
        assert done.last["error"]["data"] == {"requiredScopes": ["work"]}
        assert done.answer.get("WWW-Authenticate") == (
            'Bearer error="insufficient_scope", error_description="This needs a token that allows: work.", '
            f'scope="work", resource_metadata="{METADATA}"'
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
