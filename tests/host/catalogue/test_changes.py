"""Who hears of a change of what a host serves, when and where."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from pegboard.types import Change
from tests.host.hosting import make_host, until

TOOLS = Change("tools")
RESOURCE = Change("resource", "x://a")


async def test_every_listener_hears_every_change_in_order() -> None:
    first: list[Change] = []
    second: list[Change] = []
    async with make_host() as host:
        host.watch(first.append)
        host.emit(TOOLS)
        host.watch(second.append)
        host.emit(RESOURCE)
    assert first == [TOOLS, RESOURCE]
    assert second == [RESOURCE]


async def test_who_stops_listening_hears_nothing_more_and_may_stop_twice() -> None:
    heard: list[Change] = []
    async with make_host() as host:
        stop, stop_other = host.watch(heard.append), host.watch(heard.append)
        stop()
        stop()
        host.emit(TOOLS)
        assert heard == [TOOLS]
        stop_other()
        host.emit(TOOLS)
    assert heard == [TOOLS]


async def test_one_that_stops_while_it_is_told_keeps_no_other_from_hearing() -> None:
    heard: list[Change] = []
    async with make_host() as host:
        stop = host.watch(lambda change: stop())
        host.watch(heard.append)
        host.emit(TOOLS)
    assert heard == [TOOLS]


async def test_a_listener_that_raises_is_logged_and_the_others_hear(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Change] = []

    def broken(change: Change) -> None:
        raise ValueError("broken")

    async with make_host() as host:
        host.watch(broken)
        host.watch(heard.append)
        with caplog.at_level(logging.ERROR, "pegboard"):
            host.emit(TOOLS)
    assert heard == [TOOLS]
    assert "a listener failed when told of" in caplog.text
    assert "broken" in caplog.text


async def test_a_change_from_a_thread_is_told_on_the_event_loop() -> None:
    threads: list[int] = []
    async with make_host() as host:
        host.watch(lambda change: threads.append(threading.get_ident()))
        await asyncio.to_thread(host.emit, TOOLS)
        await until(lambda: bool(threads))
    assert threads == [threading.get_ident()]


async def test_a_change_from_another_event_loop_is_told_on_the_hosts() -> None:
    threads: list[int] = []

    async def elsewhere() -> None:
        host.emit(TOOLS)

    async with make_host() as host:
        host.watch(lambda change: threads.append(threading.get_ident()))
        await asyncio.to_thread(asyncio.run, elsewhere())
        await until(lambda: bool(threads))
    assert threads == [threading.get_ident()]


async def test_nothing_is_told_before_the_start_and_after_the_end() -> None:
    heard: list[Change] = []
    host = make_host()
    host.watch(heard.append)
    host.emit(TOOLS)
    async with host:
        pass
    host.emit(TOOLS)
    assert heard == []


def test_a_thread_that_outlives_the_event_loop_may_still_speak() -> None:
    host = make_host()
    asyncio.run(host.start())
    host.emit(TOOLS)
