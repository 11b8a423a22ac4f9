"""The contexts that a host has entered: lifespans of plugins, stores, and the ASGI application."""

from __future__ import annotations

import asyncio
import logging
from typing import TypeAlias

from pegboard.calls.failures import is_cancelled
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.base import Lifespan

logger = logging.getLogger("pegboard")

Entered: TypeAlias = list[tuple[str, Lifespan]]
"""The entered contexts, each with its owner."""


async def enter_all(plugin: LoadedPlugin, entered: Entered) -> BaseException | None:
    """Enter the lifespans of a plugin. Return the error of one that fails.

    Raises:
        asyncio.CancelledError: the task was cancelled.
    """
    for lifespan in plugin.contributions["lifespan"]:
        try:
            plugin.state = await lifespan.__aenter__()
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if is_cancelled(error, None):
                raise
            logger.debug("the lifespan of %s failed", plugin.origin, exc_info=True)
            return error
        entered.append((str(plugin.origin), lifespan))
    return None


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
