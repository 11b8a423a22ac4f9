"""Limits of calls and completions: their callers, tools and times."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard import Context, ErrorKind, Host, Toolkit, ToolResult
from pegboard.plugin import ProtocolError, Record, RecordStore
from pegboard.runtime.sealed_state import SealedRecordStore, StateSealer
from pegboard.types import ANONYMOUS, LOCAL, Call, Caller, Failure, Supplied
from pegboard_plugins.operation.rate_limit import (
    Buckets,
    Rate,
    RateLimit,
    RateLimitConfig,
    TooManyCallsError,
    shared_limits,
)
from pegboard_plugins.operation.rate_limit.shared_limits import MAX_ATTEMPTS, SharedBuckets
from pegboard_plugins.support.memory_records import MemoryRecordStore
from tests.host.hosting import call, failure, make_host, plugin_of, value

ANN, BEN = Caller("ann"), Caller("ben")
COMPLETE = {"ref": {"type": "ref/prompt", "name": "x_ask"}, "argument": {"name": "name", "value": ""}}


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_kit() -> Toolkit:
    kit = Toolkit("x")
    for name in "ab":
        kit.tool(name=name, description="Work.")(lambda: "done")

    @kit.tool
    async def outer(context: Context) -> str:
        """Call another tool."""
        return str(await context.tools.call("x_a"))

    @kit.prompt
    def ask(name: str) -> str:
        """Ask."""
        return name

    return kit


def limited(clock: Clock, **config: Any) -> Host:
    limit = RateLimit(RateLimitConfig(**config), clock)
    return make_host(make_kit(), plugins={"limit": plugin_of(middleware=[limit])})


async def allowed(host: Host, name: str, caller: Caller, times: int) -> list[bool]:
    """Call a tool several times. Return True for each call that was not refused."""
    return [isinstance(await call(host, name, caller=caller), ToolResult) for _ in range(times)]


@pytest.mark.requirement("TOOL-10")
async def test_calls_beyond_a_burst_are_refused_until_time_has_passed() -> None:
    clock = Clock()
    async with limited(clock, calls_per_minute=60, burst=3) as host:
        assert await allowed(host, "x_a", ANN, 5) == [True, True, True, False, False]
        clock.now += 0.999
        assert await allowed(host, "x_a", ANN, 1) == [False]
        clock.now += 0.002
        assert await allowed(host, "x_a", ANN, 2) == [True, False]
        clock.now += 3600
        assert await allowed(host, "x_a", ANN, 50) == [True] * 3 + [False] * 47
        clock.now += 1  # refused calls do not count
        assert await allowed(host, "x_a", ANN, 1) == [True]


async def test_a_refusal_says_when_to_try_again() -> None:
    async with limited(Clock(), calls_per_minute=24, burst=1) as host:
        await value(host, "x_a", caller=ANN)
        error = (await failure(host, "x_a", caller=ANN)).error
    assert isinstance(error, TooManyCallsError)
    assert error.message == "Too many calls of this tool. Try again in 3 seconds."
    assert (error.kind, error.can_retry, error.status_code) == (ErrorKind.TOOL_RUNTIME_RETRY, True, 429)
    assert error.retry_after_ms == 2500


async def test_each_caller_and_tool_has_its_own_limit() -> None:
    worker = Caller(client_id="worker")
    callers: list[tuple[Caller, Supplied | None]] = [
        (ANONYMOUS, None),
        (ANN, None),
        (Caller("ann", issuer="https://a.example"), None),
        (Caller("ann", issuer="https://b.example"), None),
        (Caller(client_id="ann"), None),
        (worker, None),
        (worker, Supplied(user_id="ann")),
        (worker, Supplied(user_id="ben")),
    ]
    async with limited(Clock(), calls_per_minute=60, burst=1) as host:
        for caller, supplied in callers:
            assert isinstance(await call(host, "x_a", caller=caller, supplied=supplied), ToolResult), caller
            assert isinstance(await call(host, "x_a", caller=caller, supplied=supplied), Failure), caller
        assert isinstance(await call(host, "x_a", caller=worker, supplied=Supplied()), Failure)
        assert await allowed(host, "x_a", Caller("ann", client_id="another program of Ann"), 1) == [False]
        assert await allowed(host, "x_b", ANN, 2) == [True, False]


async def test_the_operator_configures_limits_of_tools_and_of_this_machine() -> None:
    tools = {"x_b": {"calls_per_minute": 60, "burst": 3}, "x_a*": {"calls_per_minute": 1}}
    async with limited(Clock(), tools=tools) as host:
        assert await allowed(host, "x_b", ANN, 4) == [True, True, True, False]
        assert await allowed(host, "x_outer", ANN, 2) == [True, False]  # calls of tools count too
        assert await allowed(host, "x_a", ANN, 1) == [False]
    async with limited(Clock(), calls_per_minute=60, burst=1, local=True) as host:
        assert await allowed(host, "x_a", LOCAL, 2) == [True, False]


@pytest.mark.requirement("COMP-07")
async def test_completions_have_their_own_limit() -> None:
    clock = Clock()
    async with limited(clock, completions_per_minute=60, completion_burst=2) as host:
        outcomes = [await host.dispatch(Call("completion/complete", COMPLETE, ANN)) for _ in range(3)]
        assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, False, True]
        assert not isinstance(await host.dispatch(Call("completion/complete", COMPLETE, BEN)), Failure)
        assert await allowed(host, "x_a", ANN, 1) == [True]
        clock.now += 1
        assert not isinstance(await host.dispatch(Call("completion/complete", COMPLETE, ANN)), Failure)
    error = getattr(outcomes[2], "error", None)
    assert isinstance(error, ProtocolError)
    assert (error.code, error.data) == (-32603, {"retryAfterMs": 1000})


@pytest.mark.requirement("TOOL-10", "COMP-07")
@pytest.mark.parametrize(
    ("section", "burst"),
    [
        ({}, 600),
        ({"calls_per_minute": 60, "completions_per_minute": 60}, 6),
        ({"calls_per_minute": 1, "completions_per_minute": 1}, 1),
    ],
)
async def test_by_default_a_tenth_of_the_calls_of_a_minute_may_come_at_once(
    section: dict[str, float], burst: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard_plugins.operation.rate_limit.RateLimit.__init__.__defaults__", (Clock(),))
    config = {"host": {"autoload": False}, **({"plugins": {"rate_limit": section}} if section else {})}
    async with Host(config, toolkits={"x": make_kit()}) as host:
        assert await allowed(host, "x_a", ANONYMOUS, burst + 1) == [True] * burst + [False]
        assert await allowed(host, "x_a", LOCAL, burst + 1) == [True] * (burst + 1)
        done = [await host.dispatch(Call("completion/complete", COMPLETE, ANONYMOUS)) for _ in range(burst + 1)]
        assert [isinstance(outcome, Failure) for outcome in done] == [False] * burst + [True]


async def test_unknown_names_and_long_users_take_little_memory() -> None:
    limit = RateLimit(RateLimitConfig(), Clock())
    async with make_host(make_kit(), plugins={"limit": plugin_of(middleware=[limit])}) as host:
        for number in range(20):
            await call(host, f"x_{number}", caller=ANN)
            await host.dispatch(Call("tools/call", {"name": number}, ANN))
        assert len(limit._buckets) == 1
        for letter in "ab":
            await call(host, "x_a", caller=ANONYMOUS, supplied=Supplied(user_id=letter * 100_000))
    assert len(limit._buckets) == 3
    assert len(repr(limit._buckets._full)) < 1000


def test_the_number_of_buckets_is_limited_and_full_ones_go_first() -> None:
    clock = Clock()
    buckets = Buckets(clock, most=100)
    slow, quick = Rate(3600, 1), Rate(0.001, 10)
    assert [buckets.take("slow", slow) for _ in range(2)] == [0, 3600]
    for number in range(1000):
        clock.now += 0.01
        buckets.take(number, quick)
    assert len(buckets) == 100
    assert buckets.take("slow", slow) == pytest.approx(3590)


# --- limits of several processes that use one store; over the wire: `tests/plugins/operation/redis`


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
