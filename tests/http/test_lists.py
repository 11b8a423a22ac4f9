"""Lists of 2026-07-28 are the same on every connection, whatever was said on it before (server/tools, capabilities)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.http import Line, Served
from tests.support.http_mcp import Session, call, exchange, message, mirrored, modern

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def say(line: Line, one: dict[str, Any]) -> Any:
    one = modern(one)
    return (await exchange(line, json.dumps(one).encode(), mirrored(one))).last


@pytest.mark.requirement("LIST-04")
@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
async def test_a_list_is_the_same_on_every_connection_and_after_every_call(served: Served, method: str) -> None:
    session = Session(served, "2024-11-05")
    await session.open()
    async with await served.connect() as one, await served.connect() as other:
        first = (await say(one, message(method)))["result"]
        for before in (call("fixture_echo", {"text": "x"}), call("fixture_crash"), message("server/discover")):
            await say(one, before)
        await session.post(message(method))
        assert (await say(one, message(method)))["result"] == first
        assert (await say(other, message(method)))["result"] == first
