"""Listeners for changes of the catalogue: who is called, when, and on which thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from pegboard import Host
from pegboard.types import Change
from tests.host.hosting import make_host, until

TOOLS = Change("tools")
RESOURCE = Change("resource", "x://a")


async def test_listeners_receive_changes_in_order_until_they_stop() -> None:
    first: list[Change] = []
    second: list[Change] = []
    host = make_host()
    stop = host.watch(first.append)
    host.emit(TOOLS)  # not started
    async with host:
        host.emit(TOOLS)
        host.watch(second.append)
        host.emit(RESOURCE)
        stop()
        stop()
        host.emit(TOOLS)
    host.emit(RESOURCE)
    assert first == [TOOLS, RESOURCE]
    assert second == [RESOURCE, TOOLS]


async def test_a_listener_that_stops_or_raises_does_not_affect_others(caplog: pytest.LogCaptureFixture) -> None:
    received: list[Change] = []

    def broken(change: Change) -> None:
        raise ValueError("broken")

    async with make_host() as host:
        stop = host.watch(lambda change: stop())
        host.watch(broken)
        host.watch(received.append)
        host.emit(TOOLS)
    assert received == [TOOLS]
    assert "ValueError: broken" in caplog.text


async def emit(host: Host) -> None:
    host.emit(TOOLS)


@pytest.mark.parametrize(
    "elsewhere", [lambda host: host.emit(TOOLS), lambda host: asyncio.run(emit(host))], ids=["thread", "event loop"]
)
async def test_listeners_run_on_the_event_loop_of_the_host(elsewhere: Callable[[Host], None]) -> None:
    threads: list[int] = []
    async with make_host() as host:
        host.watch(lambda change: threads.append(threading.get_ident()))
        await asyncio.to_thread(elsewhere, host)
        await until(lambda: bool(threads))
    assert threads == [threading.get_ident()]


def test_a_change_after_the_end_of_the_event_loop_is_ignored() -> None:
    host = make_host()
    asyncio.run(host.start())
    host.emit(TOOLS)
