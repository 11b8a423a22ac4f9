"""The cached keys of one authorization server. Keys are fetched when needed, at most once per interval."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pegboard_client import SignatureKeys
from pegboard_plugins.auth.resource_server.claims import CheckUnavailableError
from pegboard_plugins.auth.resource_server.documents import FetchError
from pegboard_plugins.auth.resource_server.settings import ResourceServerConfig

if TYPE_CHECKING:
    from jwt import PyJWK

logger = logging.getLogger("pegboard.plugins.resource_server")


def signature_keys(members: Iterable[Any]) -> SignatureKeys:
    """Return the signature keys of a key set.

    Args:
        members: the members of the key set, unchecked.

    Raises:
        FetchError: there is none.
    """
    keys = SignatureKeys(members)
    if not keys.members:
        raise FetchError("the key set has no signature key", "check that jwks_uri is the key set for access tokens")
    return keys


class KeySet:
    """The keys of one server.

    Args:
        issuer: the issuer, for the log.
        fetch: a function that fetches the members of the key set. It raises FetchError.
        config: the intervals and the maximum age.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        issuer: str,
        fetch: Callable[[], Awaitable[list[Any]]],
        config: ResourceServerConfig,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._config = config
        self._clock = clock
        self._keys = SignatureKeys()
        self._fetched_at: float | None = None
        self._attempted_at: float | None = None
        self._failing = False
        self._task: asyncio.Task[None] | None = None
        self.generation = 0
        """A number that changes with the keys."""

    def usable(self) -> bool:
        """Return True if the keys are young enough. Keys that are due for a refresh are fetched in the background."""
        age = None if self._fetched_at is None else self._clock() - self._fetched_at
        if age is None or age > self._config.max_age_seconds:
            return False
        if age > self._config.refresh_seconds:
            self._begin()
        return True

    async def find(self, kid: str | None, algorithm: str) -> Sequence[PyJWK]:
        """Return the keys that may have signed a token. If there are none, fetch the keys, at most once per interval.

        Raises:
            CheckUnavailableError: the keys cannot be fetched.
        """
        if not self.usable():
            await self._refresh()
            if not self.usable():
                raise CheckUnavailableError(self._config.refresh_interval_seconds)
        return self._keys.find(kid, algorithm) or await self._fetch_and_find(kid, algorithm)

    async def find_newer(self, kid: str | None, algorithm: str, generation: int) -> Sequence[PyJWK]:
        """Return the keys that may have signed a token, if they are newer than a generation of keys.

        Return no keys if a key has the token's key id. Otherwise the keys are fetched, at most once per interval.

        Raises:
            CheckUnavailableError: the keys cannot be fetched.
        """
        if kid is not None and self._keys.has(kid):
            return []
        keys = await self._fetch_and_find(kid, algorithm)
        return keys if self.generation != generation else []

    async def close(self) -> None:
        """Cancel fetching keys. The callers of `find` get a `CheckUnavailableError`."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _fetch_and_find(self, kid: str | None, algorithm: str) -> Sequence[PyJWK]:
        generation = self.generation
        await self._refresh()
        if self._failing and self.generation == generation:
            raise CheckUnavailableError(self._config.refresh_interval_seconds)
        return self._keys.find(kid, algorithm)

    async def _refresh(self) -> None:
        """Fetch the keys, at most once per interval. Concurrent callers wait for the same attempt."""
        if (task := self._begin()) is not None:
            await asyncio.shield(task)

    def _begin(self) -> asyncio.Task[None] | None:
        if self._task is None or self._task.done():
            now = self._clock()
            if self._attempted_at is not None and now - self._attempted_at < self._config.refresh_interval_seconds:
                return None
            self._attempted_at = now
            self._task = asyncio.get_running_loop().create_task(self._fetch_once())
        return self._task

    async def _fetch_once(self) -> None:
        try:
            keys = signature_keys(await self._fetch())
        except FetchError as error:
            self._failing = True
            logger.warning("the keys of %s cannot be fetched: %s", self._issuer, error)
            return
        except asyncio.CancelledError:  # only `close` cancels this task
            self._failing = True
            return
        self._failing = False
        self._fetched_at = self._clock()
        if keys.members != self._keys.members:
            self._keys = keys
            self.generation += 1
