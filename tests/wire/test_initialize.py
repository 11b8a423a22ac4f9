"""The handshake of the legacy era: sections 1.4, 1.5, 2.4 and 2.5 of the requirements, clients.md 14."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.pool import Pool
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLIENT = {"capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}}

INTRODUCTION = {"name": "wire-tests", "version": "9.8.7"}
"""What every revision can say of the server."""
TITLE = {"title": "Wire tests"}
"""What 2025-06-18 added."""
WEBSITE = {"websiteUrl": "https://example.invalid/"}
"""What 2025-11-25 added."""


@pytest.mark.requirement("ERA-01")
@pytest.mark.parametrize("revision", LEGACY)
async def test_a_revision_that_is_served_is_agreed_on(pool: Pool, revision: str) -> None:
    async with pool.new() as wire:
        result = await wire.initialize(revision)
        assert result["protocolVersion"] == revision
        assert result["instructions"] == "Only for tests."


@pytest.mark.requirement("ERA-02", "ERA-03", "ERA-25")
@pytest.mark.parametrize("revision", [*MODERN, "1900-01-01", "2025-11-26", "9999-12-31", "draft", ""])
async def test_any_other_revision_is_answered_with_the_newest_legacy_one(pool: Pool, revision: str) -> None:
    """clients.md 14: never 2026-07-28, which has no handshake, and never a date the client cannot know."""
    async with pool.new() as wire:
        assert (await wire.initialize(revision))["protocolVersion"] == LEGACY[-1]


@pytest.mark.requirement("ERA-05")
@pytest.mark.parametrize(
    ("revision", "introduction"),
    [
        ("2024-11-05", INTRODUCTION),
        ("2025-03-26", INTRODUCTION),
        ("2025-06-18", INTRODUCTION | TITLE),
        ("2025-11-25", INTRODUCTION | TITLE | WEBSITE),
    ],
)
async def test_the_server_introduces_itself_with_what_the_revision_knows(
    pool: Pool, revision: str, introduction: dict[str, str]
) -> None:
    async with pool.new() as wire:
        assert (await wire.initialize(revision))["serverInfo"] == introduction


@pytest.mark.requirement("ERA-05", "ERA-08", "UTIL-16")
@pytest.mark.parametrize("revision", LEGACY)
async def test_only_what_works_is_advertised(pool: Pool, revision: str) -> None:
    """Tools, resources and prompts are there, clients are told when they change, and there is a log."""
    async with pool.new() as wire:
        capabilities = (await wire.initialize(revision))["capabilities"]
        assert {kind: promised for kind, promised in capabilities.items() if kind != "experimental"} == {
            "tools": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "prompts": {"listChanged": True},
            "logging": {},
        }


@pytest.mark.requirement("ERA-25")
@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        CLIENT,
        {**CLIENT, "protocolVersion": 20251125},
        {**CLIENT, "protocolVersion": None},
        {"protocolVersion": "2025-11-25", "clientInfo": CLIENT["clientInfo"], "capabilities": []},
        {"protocolVersion": "2025-11-25", "clientInfo": "me", "capabilities": {}},
    ],
)
async def test_a_handshake_that_says_nothing_sensible_is_refused_and_may_be_tried_again(
    pool: Pool, params: Any
) -> None:
    async with pool.new() as wire:
        assert (await wire.error("initialize", params))["code"] == -32602
        await wire.initialize()
        assert await wire.result("ping") == {}


@pytest.mark.requirement("ERA-04", "UTIL-24")
async def test_ping_is_answered_before_the_handshake(pool: Pool) -> None:
    async with pool.new() as wire:
        assert await wire.result("ping") == {}


@pytest.mark.requirement("ERA-04")
@pytest.mark.parametrize("method", ["tools/list", "tools/call", "resources/list", "prompts/get", "nonsense"])
async def test_everything_else_is_refused_before_the_handshake(pool: Pool, method: str) -> None:
    """Section 8: -32600, in one sentence that says what is missing."""
    async with pool.new() as wire:
        error = await wire.error(method, {"name": "fixture_echo"})
        assert error["code"] == -32600
        assert "initialize" in error["message"]


async def test_requests_are_served_before_the_initialized_notification(pool: Pool) -> None:
    """Trap 47: the notification may come late, or never."""
    async with pool.new() as wire:
        await wire.result("initialize", {"protocolVersion": "2025-11-25", **CLIENT})
        assert (await wire.result("tools/list"))["tools"]


async def test_requests_sent_on_the_heels_of_the_handshake_are_served(pool: Pool) -> None:
    async with pool.new() as wire:
        opening = await wire.begin("initialize", {"protocolVersion": "2025-11-25", **CLIENT})
        listing = await wire.begin("tools/list")
        assert "result" in await wire.answer(opening)
        assert "result" in await wire.answer(listing)


async def test_a_second_handshake_harms_nothing(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.initialize("2025-11-25")
        await wire.request("initialize", {"protocolVersion": "2025-11-25", **CLIENT})
        assert (await wire.call("fixture_echo", text="still here"))["content"][0]["text"] == "still here"


@pytest.mark.requirement("MSG-19")
async def test_what_a_client_says_beyond_the_schema_is_ignored(pool: Pool) -> None:
    async with pool.new() as wire:
        result = await wire.initialize(
            "2025-11-25",
            capabilities={"elicitation": {"form": {}, "url": {}}, "future": {"x": 1}},
            clientInfo={"name": "wire", "version": "1", "title": "Wire", "shoeSize": 44},
            _meta={"progressToken": 0, "com.example/x": None},
            surprise=True,
        )
        assert result["protocolVersion"] == "2025-11-25"


@pytest.mark.requirement("UTIL-24")
async def test_ping_answers_nothing_at_all(session: Wire) -> None:
    """Section 7: an empty result, without the members of the modern era."""
    assert await session.result("ping", {"_meta": {"progressToken": "p"}}) == {}
    assert await session.result("ping") == {}


@pytest.mark.requirement("ERA-07", "ERR-03")
@pytest.mark.parametrize(
    "method",
    [
        "server/discover",
        "completion/complete",
        "tasks/list",
        "tasks/get",
        "subscriptions/listen",
        "sampling/createMessage",
        "notifications/initialized",
        "tools/List",
        "rpc.discover",
        "",
    ],
)
async def test_what_is_absent_is_method_not_found(legacy: Wire, method: str) -> None:
    """A-16, section 8; `server/discover` too, which tells a client of both eras that this session is a legacy one."""
    params = {"level": "info", "uri": "fixture://text", "taskId": "1", "name": "x"}
    assert (await legacy.error(method, params))["code"] == -32601
