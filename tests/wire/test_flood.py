"""A client that begins more than is good for it is answered all the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from pegboard import LOCAL, Context, Host, Toolkit

kit = Toolkit("slow")


@kit.tool
async def hang(context: Context) -> str:
    """Wait for the end of the world."""
    await asyncio.Event().wait()
    return ""


class Line:
    """A connection that keeps what is sent."""

    peer = "test"
    caller = LOCAL

    def __init__(self) -> None:
        self.sent: list[dict[str, object]] = []

    def send(self, message: bytes) -> None:
        self.sent.append(json.loads(message))

    async def drain(self) -> None:
        """Nothing is held back."""

    async def close(self) -> None:
        """Nothing is open."""


def request(number: object, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


async def test_more_than_may_run_are_refused_and_the_connection_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from pegboard_plugins.mcp import protocol

    line = Line()

    async def messages() -> AsyncIterator[bytes]:
        yield request("i", "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        for number in range(4):
            yield request(number, "tools/call", name="slow_hang")
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}
        yield json.dumps(cancel).encode()
        yield request("p", "ping")

    monkeypatch.setattr(protocol, "MOST_IN_FLIGHT", 3)
    monkeypatch.setattr(protocol, "ROOM_SECONDS", 0.01)
    async with Host({"host": {"autoload": False}}, toolkits={"slow": kit}) as host:
        await host.serve(line, messages())
    answers = {answer["id"]: answer for answer in line.sent}
    assert set(answers) == {"i", 3, "p"}
    assert "3 requests are in flight" in str(answers[3]["error"])
