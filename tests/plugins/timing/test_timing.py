"""Durations of requests in the log, the summary and `_meta`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import Host, PromptResult, ResourceResult, Toolkit, ToolResult
from pegboard.types import Call, CallNext, Outcome
from pegboard_plugins import timing
from pegboard_plugins.timing import Timing, TimingConfig, TimingPlugin
from tests.host.hosting import call, failure, make_host, plugin_of, value


class Clock:
    """A clock that advances with each call."""

    def __init__(self) -> None:
        self.now = 5.0

    def __call__(self) -> float:
        return self.now

    async def spend(self, call: Call, call_next: CallNext) -> Outcome:
        """Advance the clock by the argument `seconds`."""
        outcome = await call_next(call)
        self.now += float((call.params.get("arguments") or {}).get("seconds", 0))
        return outcome


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    async def work(seconds: float = 0) -> ToolResult:
        """Work."""
        return ToolResult("done", meta={"com.example/a": 1})

    kit.resource("x://r")(lambda: "text")
    kit.prompt(name="p", description="Ask.")(lambda: "text")
    return kit


def timed(**config: Any) -> tuple[Host, Timing]:
    """Return a host whose calls take the time of their arguments."""
    clock = Clock()
    measured = Timing(TimingConfig(**config), clock)
    plugins = {"a": plugin_of(middleware=[measured]), "b": plugin_of(middleware=[clock.spend])}
    return make_host(make_kit(), plugins=plugins), measured


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return the logged lines."""
    caplog.set_level(logging.INFO, "pegboard.timing")
    return lambda: [one.getMessage() for one in caplog.records if one.name == "pegboard.timing"]


async def test_slow_requests_are_logged_with_their_names(lines: Callable[[], list[str]]) -> None:
    host, _ = timed(slow_ms=2000)
    async with host:
        await call(host, "x_work", {"seconds": 2})
        await call(host, "x_work", {"seconds": 2.5})
    host, _ = timed(slow_ms=0)
    async with host:
        await call(host, "x_work", {"seconds": 9})
    assert lines() == ["tools/call x_work is slow: it took 2500 ms"]


async def test_the_summary_tells_every_kind_and_nothing_that_a_client_made_up() -> None:
    host, measured = timed()
    async with host:
        for seconds in (0.1, 0.3):
            await call(host, "x_work", {"seconds": seconds})
        await host.dispatch(Call("resources/read", {"uri": "x://r"}))
        await failure(host, "made_up")
        await host.dispatch(Call("tools/list"))
    assert measured.summary() == [
        "tools/call x_work: 2 times, 200.0 ms on average, 300.0 ms at most",
        "resources/read x://r: once, 0.0 ms on average, 0.0 ms at most",
        "tools/call: once, 0.0 ms on average, 0.0 ms at most",
        "tools/list: once, 0.0 ms on average, 0.0 ms at most",
    ]


async def test_beyond_the_most_names_requests_are_counted_by_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "MAX_NAMES", 1)
    host, measured = timed()
    async with host:
        await call(host, "x_work")
        for _ in range(2):
            await host.dispatch(Call("prompts/get", {"name": "x_p"}))
    assert [line.partition(",")[0] for line in measured.summary()] == [
        "tools/call x_work: once",
        "prompts/get: 2 times",
    ]


@pytest.mark.parametrize("meta", [False, True])
async def test_results_tell_clients_where_they_may_know(meta: bool) -> None:
    host, _ = timed(meta=meta)
    async with host:
        worked = await call(host, "x_work", {"seconds": 0.25})
        read = await host.dispatch(Call("resources/read", {"uri": "x://r"}))
        got = await host.dispatch(Call("prompts/get", {"name": "x_p"}))
    assert isinstance(worked, ToolResult)
    assert isinstance(read, ResourceResult)
    assert isinstance(got, PromptResult)
    told = {"pegboard/timing": {"durationMs": 250.0}} if meta else {}
    assert worked.meta == {"com.example/a": 1, **told}
    assert [bool(one.meta) for one in (read, got)] == [meta, meta]


@pytest.mark.parametrize("summary", [False, True])
async def test_the_summary_is_logged_when_the_host_stops(summary: bool, lines: Callable[[], list[str]]) -> None:
    host = make_host(
        make_kit(),
        plugins={"timing_of_test": TimingPlugin},
        config={"plugins": {"timing_of_test": {"summary": summary}}},
    )
    async with host:
        assert await value(host, "x_work") == "done"
        assert lines() == []
    assert [line.partition(":")[0] for line in lines()] == (["tools/call x_work"] if summary else [])
