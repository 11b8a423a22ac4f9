"""Calls with the client of FastMCP."""

from __future__ import annotations

import asyncio

from fastmcp import Client  # type: ignore[import-not-found, unused-ignore]  # in FastMCP's environment
from measured import ERA, TOOL, URL, measure  # type: ignore[import-not-found]  # beside this


async def main() -> None:
    """Measure."""
    async with Client(URL, mode=ERA if ERA == "2026-07-28" else "legacy") as client:

        async def call(number: int) -> int:
            result = await client.call_tool(TOOL, {"a": number, "b": 1})
            return int(result.content[0].text)

        await measure(call)


asyncio.run(main())
