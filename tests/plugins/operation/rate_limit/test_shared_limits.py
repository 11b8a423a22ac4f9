"""Limits of several processes that use one store. Limits over the wire: `tests/plugins/operation/redis`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import pytest

from pegboard.plugin import Record, RecordStore
from pegboard.runtime.sealed_state import SealedRecordStore, StateSealer
from pegboard_plugins.operation.rate_limit import Rate, shared_limits
from pegboard_plugins.operation.rate_limit.shared_limits import MAX_ATTEMPTS, SharedBuckets
from pegboard_plugins.support.memory_records import MemoryRecordStore

OLD, NEW = "o" * 32, "n" * 32
RATE = Rate(interval=60, burst=16)
PORTION = 2


class CountedRecords(MemoryRecordStore):
    """Records that count how often they are read."""

    reads = 0

    async def get(self, record_id: str) -> Record | None:
        self.reads += 1
        return await super().get(record_id)


def buckets_of(store: RecordStore) -> SharedBuckets:
    now = time.time()

    async def open_store(close: Callable[[], Awaitable[None]]) -> RecordStore:
        return store

    return SharedBuckets(open_store, lambda: now)


async def taken(buckets: SharedBuckets, *keys: str) -> list[bool]:
    return [await buckets.take(key, RATE) == 0 for key in keys]


async def test_a_process_that_cannot_read_a_bucket_has_one_of_its_own() -> None:
    """A process that does not have a new key of `[host] state_keys` yet."""
    records = CountedRecords()
    assert await taken(buckets_of(SealedRecordStore(records, StateSealer([NEW, OLD]))), "a") == [True]
    records.reads = 0
    former = buckets_of(SealedRecordStore(records, StateSealer([OLD])))
    assert await taken(former, *["a"] * (RATE.burst + 1)) == [True] * RATE.burst + [False]
    assert records.reads == MAX_ATTEMPTS


async def test_the_number_of_portions_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits, "MAX_BUCKETS", 2)
    records = CountedRecords()
    buckets = buckets_of(records)
    assert await taken(buckets, "a", "b", "c") == [True] * 3
    assert (await taken(buckets, "b", "c"), records.reads) == ([True] * PORTION, 3)
    assert await taken(buckets, "a") == [True]
    assert records.reads > 3


@pytest.mark.parametrize("is_away", [False, True])
async def test_a_clock_that_was_ahead_does_not_close_a_bucket(is_away: bool) -> None:
    clock = [time.time() + 3600]

    async def open_store(close: Callable[[], Awaitable[None]]) -> RecordStore:
        if is_away:
            raise ConnectionError
        return records

    records = CountedRecords()
    buckets = SharedBuckets(open_store, lambda: clock[0])
    assert await taken(buckets, *["a"] * (RATE.burst + 1)) == [True] * RATE.burst + [False]
    clock[0] -= 3600
    await taken(buckets, "a")
    clock[0] += RATE.interval
    assert await taken(buckets, "a") == [True]


async def test_a_clock_that_was_ahead_does_not_keep_a_process_alone() -> None:
    clock, opened = [time.time()], list[int]()

    async def open_store(close: Callable[[], Awaitable[None]]) -> RecordStore:
        opened.append(1)
        raise ConnectionError

    buckets = SharedBuckets(open_store, lambda: clock[0])
    await taken(buckets, "a", "a")
    clock[0] -= 3600
    await taken(buckets, "a")
    assert len(opened) == 2
