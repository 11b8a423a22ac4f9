"""The contexts that a host has entered: lifespans of plugins, stores, and the ASGI application."""

from __future__ import annotations

import asyncio
import logging
from typing import TypeAlias

from pegboard.plugin.base import Lifespan

logger = logging.getLogger("pegboard")

Entered: TypeAlias = list[tuple[str, Lifespan]]
"""The entered contexts, each with its owner."""


async def leave_all(entered: Entered) -> bool:
    """Leave contexts in reverse order. If one fails, the others are still left.

    Return True if the task was cancelled.
    """
    cancelled = False
    while entered:
        owner, lifespan = entered.pop()
        try:
            await lifespan.__aexit__(None, None, None)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            cancelled = cancelled or bool(task and task.cancelling())
            logger.warning("the lifespan of %s was cancelled while it ended", owner)
        except (Exception, SystemExit):
            logger.exception("the lifespan of %s failed to end", owner)
    return cancelled
