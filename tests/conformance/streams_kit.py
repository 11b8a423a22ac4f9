"""What the official conformance suite calls on streams: a resource to watch, and a tool that outlives its connection.

It imports nothing but `pegboard`'s public names.
"""

from __future__ import annotations

import asyncio

from pegboard import Toolkit

OUTLIVES_SECONDS = 0.7
"""Longer than twice what the server under test waits (`run.py`): first before it answers with a stream, then on it."""

kit = Toolkit("streams", prefix=False)


@kit.tool
async def test_reconnection() -> str:
    """Take so long that the server ends the stream, and its client comes back for the result."""
    await asyncio.sleep(OUTLIVES_SECONDS)
    return "Reconnection test completed successfully."


@kit.resource("test://watched-resource", name="watched-resource", description="A resource to subscribe to")
def watched_resource() -> str:
    return "Watched resource content"
