"""Rate limits of several processes: each takes the tokens of a bucket in portions from the shared state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from hashlib import sha256
from time import time
from typing import NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from pegboard.plugin import PluginError, Record, RecordStore
from pegboard.types import Call, CallNext, Outcome
from pegboard_plugins.operation.rate_limit import (
    MAX_BUCKETS,
    Buckets,
    CountingMiddleware,
    Rate,
    RateLimitConfig,
    refuse,
)
from pegboard_plugins.support.latest_entries import LatestEntries

KIND = "rate_limit"
PORTIONS = 8
"""The number of portions of a burst."""
ALONE_SECONDS = 5.0
"""How long this process goes on alone after the shared state could not be reached."""
MAX_SKEW_SECONDS = 60.0
"""The accepted difference of clocks of processes. A bucket of a clock that was further ahead counts as full."""
MAX_ATTEMPTS = 20
"""The number of attempts to take a portion. A record that another key has sealed can neither be read nor created."""

OpenStore: TypeAlias = Callable[[Callable[[], Awaitable[None]]], Awaitable[RecordStore]]


class Portion(NamedTuple):
    """Tokens that this process has taken from a shared bucket.

    Attributes:
        left: their number.
        until: the time at which the bucket would be full again without them. They then expire.
        interval: the average seconds between two calls.
    """

    left: int
    until: float
    interval: float


class SharedRateLimit(CountingMiddleware):
    """Middleware that refuses calls beyond the limits of all processes together.

    Args:
        config: the limits.
        buckets: the shared buckets.
    """

    def __init__(self, config: RateLimitConfig, buckets: SharedBuckets) -> None:
        super().__init__(config)
        self._buckets = buckets

    def wants(self, call: Call) -> bool:
        return self.bucket(call) is not None

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        if (bucket := self.bucket(call)) is not None:
            refuse(call, await self._buckets.take(*bucket))
        return await call_next(call)

    on_complete = on_call_tool


class SharedBuckets:
    """Token buckets that several processes share. A record of a bucket expires when the bucket is full.

    Without the shared state, this process has buckets of its own.

    Args:
        open_store: opens the store, with the function that the host calls before the store closes.
        clock: a clock of the machines in seconds.
    """

    def __init__(self, open_store: OpenStore, clock: Callable[[], float] = time) -> None:
        self._open_store = open_store
        self._clock = clock
        self._store: RecordStore | None = None
        self._portions: LatestEntries[Hashable, Portion] = LatestEntries(MAX_BUCKETS)
        self._turns: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._own = Buckets(clock)
        self._alone_until = 0.0

    async def take(self, key: Hashable, rate: Rate) -> float:
        """Take a token. Return 0, or the seconds until one is available."""
        async with self._turns.setdefault(key, asyncio.Lock()):
            now = self._clock()
            portion = self._portions.get(key)
            if portion is not None and portion.left and portion.until > now:
                self._portions[key] = portion._replace(left=portion.left - 1)
                return 0.0
            if not now < self._alone_until <= now + ALONE_SECONDS:  # a clock may be set back
                try:
                    return await self._take_portion(key, rate)
                except (ConnectionError, PluginError):
                    self._alone_until = now + ALONE_SECONDS
            return self._own.take(key, rate)

    async def _take_portion(self, key: Hashable, rate: Rate) -> float:
        store = self._store = self._store or await self._open_store(self.close)
        bucket = _record_id(key)
        for _ in range(MAX_ATTEMPTS):
            now = self._clock()
            stored = await store.get(bucket)
            latest = rate.latest(now) + MAX_SKEW_SECONDS
            full = now if stored is None or stored.expires_at > latest else stored.expires_at
            free = int(rate.burst - (full - now) / rate.interval + 1e-6)  # less is a rounding error
            if free < 1:
                return full - now - (rate.burst - 1) * rate.interval
            count = min(free, max(1, rate.burst // PORTIONS))
            taken = Record(id=bucket, content=b"", expires_at=full + count * rate.interval)
            if await (store.create(taken) if stored is None else store.transition(stored, taken)):
                self._portions.keep(key, Portion(count - 1, taken.expires_at, rate.interval))
                return 0.0
        raise ConnectionError("the record of a bucket cannot be replaced")

    async def close(self) -> None:
        """Return the tokens that are left."""
        portions, self._portions = self._portions, LatestEntries(MAX_BUCKETS)
        store, self._store = self._store, None
        for key, portion in portions.items():
            if store is not None and portion.left and portion.until > self._clock():
                await _give_back(store, _record_id(key), portion)


async def _give_back(store: RecordStore, bucket: str, portion: Portion) -> None:
    while (stored := await store.get(bucket)) is not None:
        fuller = stored._replace(expires_at=stored.expires_at - portion.left * portion.interval)
        if await store.transition(stored, fuller):
            return


def _record_id(key: Hashable) -> str:
    return f"{KIND}/{sha256(repr(key).encode()).hexdigest()}"
