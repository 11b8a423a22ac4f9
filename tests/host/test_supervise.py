"""Transports beside each other: the first end of one ends all, a death ends nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from pegboard.plugin import TransportContext, TransportError
from pegboard.runtime import supervisor as supervise
from pegboard.runtime.supervisor import run_all

HOST: Any = object()
WAIT = 10


class Scripted:
    """A transport that does one thing after the other, each time it is run."""

    def __init__(self, name: str, *steps: Callable[[], Awaitable[None]], opens: bool = True) -> None:
        self.opens = opens
        self.name = name
        self.steps = list(steps)
        self.hosts: list[object] = []
        self.running = asyncio.Event()
        self.cancelled = False

    async def run(self, host: TransportContext) -> None:
        self.hosts.append(host)
        if self.opens:
            supervise.note_opened()
        self.running.set()
        step = self.steps.pop(0) if self.steps else self.forever
        try:
            await step()
        except asyncio.CancelledError:
            self.cancelled = True
            raise

    async def forever(self) -> None:
        await asyncio.Event().wait()


def raising(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def step() -> None:
        raise error

    return step


async def ending() -> None:
    """End of itself, as at the end of input."""


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The delays, which take no time."""
    kept: list[float] = []
    turn = asyncio.sleep

    async def sleep(delay: float) -> None:
        kept.append(delay)
        await turn(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return kept


@pytest_asyncio.fixture
async def other() -> AsyncIterator[Scripted]:
    """A transport that serves on; it was never run twice."""
    transport = Scripted("other")
    yield transport
    assert len(transport.hosts) == 1


async def test_one_that_ends_of_itself_ends_the_others(other: Scripted) -> None:
    first = Scripted("first", other.running.wait)  # type: ignore[arg-type]  # it gives True
    async with asyncio.timeout(WAIT):
        await run_all([first, other], HOST)
    assert other.cancelled
    assert first.hosts == [HOST]


async def test_one_that_cannot_be_opened_ends_all(other: Scripted) -> None:
    async def refused() -> None:
        await other.running.wait()
        raise TransportError("the port is taken")

    with pytest.raises(TransportError, match="the port is taken"):
        await run_all([other, Scripted("first", refused)], HOST)
    assert other.cancelled


@pytest.mark.parametrize(
    "error",
    [RuntimeError("broken"), SystemExit(7), ConnectionResetError(), TimeoutError()],
    ids=lambda e: type(e).__name__,
)
async def test_one_that_dies_is_started_again_and_the_others_serve_on(
    error: BaseException, other: Scripted, delays: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    mortal = Scripted("mortal", raising(error), raising(error), other.running.wait)  # type: ignore[arg-type]  # it gives True
    async with asyncio.timeout(WAIT):
        await run_all([other, mortal], HOST)
    assert len(mortal.hosts) == 3
    assert delays == [0.5, 1.0]
    first, second = [record for record in caplog.records if record.name == "pegboard.transports"]
    assert first.getMessage() == "transport mortal died; it is started again in 0.5 s"
    assert second.getMessage() == "transport mortal died; it is started again in 1.0 s"
    assert first.exc_info is not None
    assert first.exc_info[1] is error
    assert first.levelno == logging.ERROR


@pytest.mark.parametrize(
    "error", [RuntimeError("broken"), SystemExit(7), OSError(28, "full")], ids=lambda e: type(e).__name__
)
async def test_one_that_fails_before_it_has_opened_ends_all(error: BaseException, other: Scripted) -> None:
    async def fail() -> None:
        await other.running.wait()
        raise error

    with pytest.raises(TransportError, match=rf"transport first failed while it started: {type(error).__name__}"):
        await run_all([other, Scripted("first", fail, opens=False)], HOST)
    assert other.cancelled


async def test_one_that_cannot_be_opened_again_is_tried_again(
    delays: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    mortal = Scripted("mortal", raising(RuntimeError()), raising(TransportError("still taken")), ending)
    async with asyncio.timeout(WAIT):
        await run_all([mortal], HOST)
    assert delays == [0.5, 1.0]
    assert "transport mortal cannot be opened again; it is started again in 1.0 s" in caplog.text


async def test_the_delay_grows_to_a_limit(delays: list[float]) -> None:
    deaths = [raising(RuntimeError())] * 9
    async with asyncio.timeout(WAIT):
        await run_all([Scripted("mortal", *deaths, ending)], HOST)
    assert delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


async def test_one_that_ran_for_long_begins_with_the_first_delay_again(
    delays: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    clock, ahead = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: clock() + ahead)

    async def long_life() -> None:
        nonlocal ahead
        ahead += supervise.MAX_DELAY_SECONDS + 1
        raise RuntimeError

    die = raising(RuntimeError())
    await run_all([Scripted("mortal", die, die, long_life, die, ending)], HOST)
    assert delays == [0.5, 1, 0.5, 1]


async def test_cancelling_ends_all_and_waits_for_them() -> None:
    tidied: list[str] = []

    async def tidy() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            tidied.append("done")

    transports = [Scripted("one", tidy), Scripted("two", tidy)]
    running = asyncio.create_task(run_all(transports, HOST))
    async with asyncio.timeout(WAIT):
        for transport in transports:
            await transport.running.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert tidied == ["done", "done"]


async def test_one_that_waits_to_be_started_again_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = asyncio.Event()

    async def sleep(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "sleep", sleep)
    mortal = Scripted("mortal", raising(RuntimeError()))
    running = asyncio.create_task(run_all([mortal], HOST))
    async with asyncio.timeout(WAIT):
        await waiting.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert len(mortal.hosts) == 1
