"""The claim of a host on a store: processes use a store one after another."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from contextlib import suppress
from typing import Any

from pegboard.errors import PluginError
from pegboard.messages.error_fields import describe_error
from pegboard.secrets.redaction import redacted

CLAIM_SECONDS = 15.0
"""How long a claim lasts without renewal."""
RENEWAL_SECONDS = 5.0
"""The interval between renewals, and the time limit of one renewal."""
WAIT_SECONDS = 20.0
"""How long a host waits for the end of another owner's claim."""
RETRY_SECONDS = 0.25
"""The interval between attempts to claim a store."""

logger = logging.getLogger("pegboard")


class StoreClaim:
    """The claim of one host on one store.

    Args:
        store: a store with the methods `claim` and `release` of `SessionStore`.
        title: the store in messages.
    """

    def __init__(self, store: Any, title: str) -> None:
        self._store = store
        self._title = title
        self._owner = f"process {os.getpid()} on {socket.gethostname()} ({os.urandom(4).hex()})"

    async def take(self) -> None:
        """Claim the store, and wait for another owner's claim to end.

        Raises:
            PluginError: another owner still has the claim after `WAIT_SECONDS`.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + WAIT_SECONDS
        waited_for = ""
        while other := await self._store.claim(self._owner, CLAIM_SECONDS):
            if clock() >= end:
                raise PluginError(f"{other} uses it: stop that process, or give this one another store")
            if other != waited_for:
                logger.warning("waiting up to %g s for %s: %s uses it", WAIT_SECONDS, self._title, other)
                waited_for = other
            await asyncio.sleep(RETRY_SECONDS)

    async def keep(self, closing: asyncio.Event) -> None:
        """Renew the claim until the store closes, then release it.

        Raises:
            PluginError: another owner has claimed the store, because the claim was not renewed in time.
        """
        while not await _is_set(closing, RENEWAL_SECONDS):
            other = ""
            try:
                async with asyncio.timeout(RENEWAL_SECONDS):
                    other = await self._store.claim(self._owner, CLAIM_SECONDS)
            except Exception as error:  # noqa: BLE001 - the next renewal may succeed
                logger.warning("the claim on %s was not renewed: %s", self._title, redacted(describe_error(error)))
            if other:
                raise PluginError(
                    f"{self._title} is lost to {other}: this process was suspended or could not reach the store for "
                    f"{CLAIM_SECONDS:g} s; restart it when that process has ended"
                )
        async with asyncio.timeout(RENEWAL_SECONDS):
            await self._store.release(self._owner)


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event for a limited time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False
