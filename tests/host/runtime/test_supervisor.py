"""Several transports: the end of one ends all, and one that fails is started again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from pegboard.plugin import Transport, TransportContext, TransportError
from pegboard.runtime import supervisor
from pegboard.runtime.supervisor import run_all
from tests.host.hosting import WAIT, never

HOST: Any = object()
Step = Callable[[], Awaitable[object]]


class Scripted(Transport):
    """A transport that takes one step each time it runs, and then runs until it is cancelled."""

    def __init__(self, name: str, *steps: Step, opens: bool = True) -> None:
        self.opens = opens
        self.name = name
        self.steps = list(steps)
        self.hosts: list[object] = []
        self.running = asyncio.Event()
        self.cancelled = False

    async def run(self, host: TransportContext) -> None:
        self.hosts.append(host)
        if self.opens:
            supervisor.note_opened()
        self.running.set()
        try:
            await (self.steps.pop(0) if self.steps else asyncio.Event().wait)()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def raising(error: BaseException, after: asyncio.Event | None = None) -> Step:
    async def step() -> None:
        if after is not None:
            await after.wait()
        raise error

    return step


async def ending() -> None:
    """End, as at the end of the input."""


async def run(*transports: Scripted) -> None:
    async with asyncio.timeout(WAIT):
        await run_all(transports, HOST, set(), never())


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
    """A transport that runs once, until it is cancelled."""
    transport = Scripted("other")
    yield transport
    assert len(transport.hosts) == 1
    assert transport.cancelled


async def test_a_transport_that_ends_ends_the_others(other: Scripted) -> None:
    first = Scripted("first", other.running.wait)
    await run(first, other)
    assert first.hosts == [HOST]


@pytest.mark.parametrize(
    ("error", "opens", "message"),
    [
        (TransportError("the port is taken"), True, "^the port is taken"),
        (RuntimeError("broken"), False, "transport first failed while it started: RuntimeError"),
    ],
)
async def test_a_transport_that_does_not_open_ends_all(
    error: BaseException, opens: bool, message: str, other: Scripted
) -> None:
    with pytest.raises(TransportError, match=message):
        await run(other, Scripted("first", raising(error, other.running), opens=opens))


async def test_a_transport_that_fails_is_started_again_beside_the_others(
    other: Scripted, delays: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    error = TransportError("taken")
    mortal = Scripted("mortal", raising(SystemExit(7)), raising(error), other.running.wait)
    await run(other, mortal)
    assert len(mortal.hosts) == 3
    assert delays == [0.5, 1.0]
    records = [record for record in caplog.records if record.name == "pegboard.transports"]
    assert [(record.levelname, record.getMessage()) for record in records] == [
        ("ERROR", "transport mortal died; it is started again in 0.5 s"),
        ("ERROR", "transport mortal cannot be opened again; it is started again in 1.0 s"),
    ]
    assert records[1].exc_info is not None
    assert records[1].exc_info[1] is error


async def test_the_delay_doubles_up_to_a_limit_and_starts_again_after_a_long_run(
    delays: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    clock, ahead = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: clock() + ahead)

    async def long_life() -> None:
        nonlocal ahead
        ahead += supervisor.MAX_DELAY_SECONDS + 1
        raise RuntimeError

    die = raising(RuntimeError())
    await run_all([Scripted("mortal", *[die] * 9, long_life, die, ending)], HOST, set(), never())
    assert delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 0.5, 1]


@pytest.mark.parametrize("opens", [True, False])
async def test_a_transport_is_restarting_until_it_opens_or_runs_without_a_report(
    opens: bool, delays: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    restarting: set[str] = set()
    seen: list[set[str]] = []
    sleep = asyncio.sleep

    async def note_sleep(delay: float) -> None:
        seen.append(set(restarting))
        await sleep(delay)

    async def note() -> None:
        seen.append(set(restarting))

    monkeypatch.setattr(asyncio, "sleep", note_sleep)
    monkeypatch.setattr(supervisor, "MAX_DELAY_SECONDS", 0.5 if opens else -1)
    await run_all([Scripted("mortal", raising(RuntimeError()), note, opens=opens)], HOST, restarting, never())
    assert seen == [{"mortal"}, set()]


async def test_cancelling_ends_all_and_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    tidied: list[str] = []
    delayed = asyncio.Event()
    turn = asyncio.sleep

    async def sleep(_: float) -> None:
        delayed.set()
        await asyncio.Event().wait()

    async def tidy() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await turn(0)
            tidied.append("done")

    monkeypatch.setattr(asyncio, "sleep", sleep)
    mortal = Scripted("mortal", raising(RuntimeError()))  # is cancelled while it waits to be started again
    transports = [Scripted("one", tidy), Scripted("two", tidy), mortal]
    running = asyncio.create_task(run_all(transports, HOST, set(), never()))
    async with asyncio.timeout(WAIT):
        for event in (*(transport.running for transport in transports), delayed):
            await event.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert tidied == ["done", "done"]
    assert len(mortal.hosts) == 1
