"""Calls with `pegboard_client`."""

from __future__ import annotations

import asyncio

from measured import ERA, TOOL, URL, measure  # type: ignore[import-not-found]  # beside this

from pegboard_client import Client


async def main() -> None:
    """Measure."""
    async with Client(URL, revision=ERA) as client:

        async def call(number: int) -> int:
            result = await client.call(TOOL, {"a": number, "b": 1})
            return int(result["content"][0]["text"])

        await measure(call)


asyncio.run(main())
