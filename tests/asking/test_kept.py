"""What is said of results that asked, and what questions leave out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asking.conftest import Modern

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("LIST-12")
@pytest.mark.parametrize("uri", ["asks://card", "asks://cards/7"])
async def test_a_read_that_asked_is_kept_by_nobody(client: Modern, uri: str) -> None:
    """What a person answered is in it."""
    reply = await client.play("resources/read", {"uri": uri})
    assert len(client.rounds) == 1
    assert (reply.result["ttlMs"], reply.result["cacheScope"]) == (0, "private")


@pytest.mark.requirement("ASK-19")
async def test_nobody_is_asked_for_the_context_of_servers(client: Modern) -> None:
    for arguments in ({}, {"tools": True}):
        await client.finish("sample", arguments)
        (asked,) = client.rounds[0].values()
        assert asked["params"].get("includeContext", "none") == "none"


@pytest.mark.requirement("ASK-26")
async def test_a_page_has_no_id_since_the_newest_revision(client: Modern) -> None:
    await client.finish("page")
    (asked,) = client.rounds[0].values()
    assert asked["params"].keys() == {"mode", "message", "url"}


@pytest.mark.requirement("ERA-20")
@pytest.mark.parametrize("meta", [{"progressToken": 0}, {"io.modelcontextprotocol/logLevel": "debug"}])
async def test_who_wants_to_be_told_more_learns_what_is_missing_by_the_status_too(client: Modern, meta: Any) -> None:
    reply = await client.request("tools/call", {"name": "asks_name", "arguments": {}, "_meta": meta}, {})
    assert (reply.status, reply.error["code"]) in ((None, -32021), (400, -32021))
