"""Runs transports beside each other: one that dies is started again, and the others serve on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from pegboard.contracts import Serve, Transport
from pegboard.errors import TransportError

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 30.0

logger = logging.getLogger("pegboard.transports")


async def run_all(transports: Sequence[Transport], serve: Serve) -> None:
    """Run transports until one of them ends of itself, then end the others.

    Raises:
        TransportError: one cannot be opened at all.
    """
    tasks = [asyncio.create_task(_keep_running(transport, serve), name=transport.name) for transport in transports]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _keep_running(transport: Transport, serve: Serve) -> None:
    delay = FIRST_DELAY_SECONDS
    first = True
    while True:
        try:
            await transport.run(serve)
        except TransportError:
            if first:
                raise
            logger.exception("transport %s cannot be opened again; next try in %s s", transport.name, delay)
        except Exception:
            logger.exception("transport %s died; it is started again in %s s", transport.name, delay)
        else:
            return
        first = False
        await asyncio.sleep(delay)
        delay = min(delay * 2, LONGEST_DELAY_SECONDS)
