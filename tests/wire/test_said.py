"""What is said in logs: the server's own, and those that clients see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.fixture_kit import CANARY
from tests.support.peer import META
from tests.support.pool import CONFIG, Pool, make_asks_site
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEBUG = {f"{META}logLevel": "debug"}


@pytest.mark.requirement("UTIL-05")
@pytest.mark.parametrize("modern", [False, True])
async def test_the_reason_for_a_cancellation_is_logged(pool: Pool, modern: bool) -> None:
    async with pool.new(CONFIG + 'log_level = "info"\n') as wire:
        await wire.initialize()
        await wire.begin("tools/call", {"name": "fixture_wait", "arguments": {}}, id="w", modern=modern)
        await wire.notify("notifications/cancelled", {"requestId": "w", "reason": "it rains"})
        await wire.settle()
        await wire.close()
        assert [line for line in wire.stderr.splitlines() if "it rains" in line and "'w'" in line]


@pytest.mark.requirement("UTIL-06")
async def test_the_handshake_is_not_cancelled(pool: Pool) -> None:
    async with pool.new() as wire:
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}
        lines: list[Any] = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        ]
        wire.expect(1)
        await wire.send_raw(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        assert (await wire.answer(1))["result"]["protocolVersion"] == "2025-11-25"
        assert await wire.result("ping") == {}


@pytest.mark.requirement("UTIL-18", "UTIL-23")
async def test_the_log_of_a_request_comes_before_its_answer_and_nowhere_else(tmp_path: Path) -> None:
    async with Wire(config=CONFIG, site=make_asks_site(tmp_path)) as wire:
        able: dict[str, Any] = {"_meta": {f"{META}clientCapabilities": {"elicitation": {}}}}
        quiet: dict[str, Any] = {"name": "asks_tells", "arguments": {}, **able}
        loud = {**quiet, "_meta": able["_meta"] | DEBUG}
        await wire.begin("tools/call", quiet, id="quiet", modern=True)
        await wire.begin("tools/call", loud, id="loud", modern=True)
        await wire.answer("quiet")
        await wire.answer("loud")
        (told,) = await wire.settle()
        assert told["params"] == {"level": "info", "logger": "asks_tells", "data": "asking"}
        (place,) = [number for number, one in enumerate(wire.messages) if one.get("id") == "loud"]
        assert wire.messages.index(told) < place


@pytest.mark.requirement("UTIL-21")
@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("tool", ["fixture_crash", "fixture_crash_later"])
async def test_nothing_of_an_accident_is_logged_to_the_client(pool: Pool, tool: str, modern: bool) -> None:
    async with pool.new() as wire:
        await wire.initialize()
        await wire.result("logging/setLevel", {"level": "debug"})
        await wire.result("tools/call", {"name": tool, "arguments": {}, "_meta": DEBUG}, modern=modern)
        await wire.settle()
        assert CANARY not in json.dumps(wire.messages)
