"""The toolkit in a host of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from pegboard import Call, Failure, Host, ToolResult
from toolkit_math import kit


class Calculator:
    """Calls tools by their own names."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        """What a tool gives; the message where it fails."""
        outcome = await self._host.dispatch(Call("tools/call", {"name": f"math_{tool}", "arguments": arguments}))
        if isinstance(outcome, Failure):
            return outcome.error.message
        assert isinstance(outcome, ToolResult)
        return outcome.value


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def calculate() -> AsyncIterator[Calculator]:
    async with Host({"host": {"autoload": False}}, toolkits={"math": kit}) as host:
        yield Calculator(host)
