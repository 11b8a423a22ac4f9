"""A lifespan in its own task. Task groups and cancel scopes must be left in the task that has entered them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractAsyncContextManager
from typing import Any

from pegboard.calls.logged_failures import told_traceback
from pegboard.plugin.base import Lifespan

logger = logging.getLogger("pegboard")


class LifespanTask(AbstractAsyncContextManager[Any]):
    """Enters and leaves a lifespan in one task. Other tasks, such as a reload, may request the end.

    Args:
        lifespan: the lifespan.
        owner: its plugin, for the log.
    """

    def __init__(self, lifespan: Lifespan, owner: str) -> None:
        self._lifespan = lifespan
        self._owner = owner
        self._leaving = asyncio.Event()

    async def __aenter__(self) -> Any:
        entered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(entered), name=f"lifespan of {self._owner}")
        try:
            return await entered
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait((self._task,))
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leaving.set()
        error = await self._task
        if error is not None:
            raise error

    async def _run(self, entered: asyncio.Future[Any]) -> BaseException | None:
        """Return the error of the lifespan's end. Do not raise it: `SystemExit` in a task stops the event loop."""
        try:
            async with self._lifespan as state:
                if not entered.done():
                    entered.set_result(state)
                await self._leaving.wait()
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if not entered.done():
                entered.set_exception(error)
            elif self._leaving.is_set() or entered.cancelled():
                return error
            else:
                text = "the lifespan of %s failed while the host ran"
                logger.error(text, self._owner, exc_info=told_traceback(error))
        return None
