"""The toolkit for scenarios of the official suite with streams: a resource to watch, and a long call.

It imports nothing but `pegboard`'s public names.
"""

from __future__ import annotations

import asyncio

from pegboard import Toolkit

OUTLIVES_SECONDS = 0.7
"""More than twice the time after which the server answers with a stream, and ends it (`run.py`)."""

kit = Toolkit("streams", prefix=False)


@kit.tool
async def test_reconnection() -> str:
    """Take so long that the server ends the stream, and its client comes back for the result."""
    await asyncio.sleep(OUTLIVES_SECONDS)
    return "Reconnection test completed successfully."


@kit.resource("test://watched-resource", name="watched-resource", description="A resource to subscribe to")
def watched_resource() -> str:
    return "Watched resource content"
