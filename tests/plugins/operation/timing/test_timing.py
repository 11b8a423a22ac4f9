"""Durations of requests in the log, the summary and `_meta`."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pegboard import Host, Toolkit, ToolResult
from pegboard.types import Call, CallNext, Outcome
from pegboard_plugins.operation import timing
from pegboard_plugins.operation.timing import Timing, TimingConfig, TimingPlugin
from tests.host.hosting import call, failure, kit_of, make_host, plugin_of, value


def make_kit() -> Toolkit:
    async def work(seconds: float = 0) -> ToolResult:
        return ToolResult("done", meta={"com.example/a": 1})

    kit = kit_of(work)
    kit.resource("x://r")(lambda: "text")
    return kit


def timed(**config: Any) -> tuple[Host, Timing]:
    """Return a host whose calls take the time of their arguments."""
    now = [5.0]

    async def spend(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        now[0] += float((call.params.get("arguments") or {}).get("seconds", 0))
        return outcome

    measured = Timing(TimingConfig(**config), lambda: now[0])
    plugins = {"a": plugin_of(middleware=[measured]), "b": plugin_of(middleware=[spend])}
    return make_host(make_kit(), plugins=plugins), measured


READ = Call("resources/read", {"uri": "x://r"})


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "pegboard.timing"]


async def test_slow_requests_are_logged_with_their_names(caplog: pytest.LogCaptureFixture) -> None:
    for slow_ms, durations in ((2000, (2, 2.5)), (0, (9,))):
        host, _ = timed(slow_ms=slow_ms)
        async with host:
            for seconds in durations:
                await call(host, "work", {"seconds": seconds})
    assert lines(caplog) == ["tools/call work is slow: it took 2500 ms"]


async def test_the_summary_has_every_served_name_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "MAX_NAMES", 1)
    host, measured = timed()
    async with host:
        for seconds in (0.1, 0.3):
            await call(host, "work", {"seconds": seconds})
        await host.dispatch(READ)
        await failure(host, "made_up")
        await host.dispatch(Call("tools/list"))
    assert measured.summary() == [
        "tools/call work: 2 times, 200.0 ms on average, 300.0 ms at most",
        "resources/read: once, 0.0 ms on average, 0.0 ms at most",
        "tools/call: once, 0.0 ms on average, 0.0 ms at most",
        "tools/list: once, 0.0 ms on average, 0.0 ms at most",
    ]


@pytest.mark.parametrize("meta", [False, True])
async def test_results_have_durations_only_if_configured(meta: bool) -> None:
    host, _ = timed(meta=meta)
    async with host:
        worked: Any = await call(host, "work", {"seconds": 0.25})
        read: Any = await host.dispatch(READ)
    own = {"pegboard/timing": {"durationMs": 250.0}} if meta else {}
    assert worked.meta == {"com.example/a": 1, **own}
    assert bool(read.meta) is meta


@pytest.mark.parametrize("summary", [False, True])
async def test_the_summary_is_logged_when_the_host_stops(summary: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pegboard.timing")
    config = {"plugins": {"timing_of_test": {"summary": summary}}}
    async with make_host(make_kit(), plugins={"timing_of_test": TimingPlugin}, config=config) as host:
        assert await value(host, "work") == "done"
        assert lines(caplog) == []
    assert [line.partition(":")[0] for line in lines(caplog)] == (["tools/call work"] if summary else [])
