"""A session belongs to whoever opened it: its id alone opens nothing."""

from __future__ import annotations

import re

import pytest

from tests.support.http import Served
from tests.support.http_mcp import Session, call, message

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("ASK-10", "SEC-02")
async def test_a_session_is_its_callers_alone(served: Served) -> None:
    mine, elsewhere = Session(served), served.proof  # the operator is another caller than nobody
    await mine.open()
    streaming = await mine.begin(call("fixture_wait", {"label": "owned"}, token="p", id=1))
    assert (await mine.post(message("ping"), elsewhere)).refused == (404, -32600)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert (await mine.post(cancel, elsewhere)).status == 404
    assert (await mine.post({"jsonrpc": "2.0", "id": 1, "result": {}}, elsewhere)).status == 404
    takes = ("Accept", "text/event-stream")
    last = ("Last-Event-ID", str(streaming.events[0].id))
    for more in ((), (last,)):
        answer = await served.request("GET", "/mcp", [*mine.fields(takes), *more, elsewhere])
        assert answer.status == 404
    assert (await served.request("DELETE", "/mcp", [*mine.fields(), elsewhere])).status == 404
    await mine.post(call("fixture_release"))
    assert (await streaming.next())["result"]["content"][0]["text"] == "released"


async def test_ids_cannot_be_guessed(served: Served) -> None:
    """Row C-18: 192 random bits, 6 in each place of a text."""
    found = []
    for _ in range(40):
        session = Session(served)
        await session.open()
        found.append(session.id)
        assert (await served.request("DELETE", "/mcp", session.fields())).status == 204
    assert len(set(found)) == len(found)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{32}", one) for one in found)
    assert min(len(set(place)) for place in zip(*found, strict=True)) > 8  # it is 30 of 64 on average


@pytest.mark.parametrize("chosen", ["mine", "x" * 32])
async def test_ids_are_not_taken_from_clients(served: Served, chosen: str) -> None:
    """Row C-18: neither when a session begins, nor at any other time."""
    session = Session(served)
    opened = await session.open(**{"Mcp-Session-Id": chosen})
    assert opened.status == 200
    assert session.id != chosen
    session.id = chosen
    assert (await session.post(message("ping"))).refused == (404, -32600)
