"""Detection of the era of a server on a message stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from pegboard_client.handshake import PROBE_SECONDS


async def probe(
    discover: Callable[[], Coroutine[Any, Any, None]], open_session: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Discover a server. If it does not respond, open a session too. Use the attempt that succeeds first.

    A server may be slow to start, or ignore requests that it does not know. Both look the same.

    Args:
        discover: discovers the server; it fails if the server has sessions.
        open_session: opens a session.

    Raises:
        SessionServerError: the server speaks only revisions with sessions, and no session is open yet.
        TransportError, ProtocolError, ServerTimeoutError: the server cannot be used.
    """
    tasks = [asyncio.create_task(discover())]
    try:
        await asyncio.wait(tasks, timeout=PROBE_SECONDS)
        if not tasks[0].done():
            tasks.append(asyncio.create_task(open_session()))
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            refused = any(task.exception() is not None for task in done)  # the server speaks only the other era
            # a server of both eras has a session after its second response
            await asyncio.wait(tasks if refused else tasks[1:], timeout=None if refused else PROBE_SECONDS)
            if tasks[1].done() and (tasks[1].exception() is None or tasks[0].exception() is not None):
                await tasks[1]
                return
        await tasks[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
