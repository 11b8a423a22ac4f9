"""The rates of notifications, and messages that wait for a client that does not read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from pegboard import Context
from pegboard.plugin import Connection
from pegboard.types import Change
from pegboard_plugins.protocols.mcp import progress_reports
from pegboard_plugins.protocols.mcp.call_notifications import LogLimit
from pegboard_plugins.protocols.mcp.change_broadcaster import ChangeBroadcaster
from pegboard_plugins.protocols.mcp.connection_writer import ConnectionWriter, SendQueue
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue
from pegboard_plugins.protocols.mcp.progress_reports import ProgressReports
from pegboard_testing import connect
from tests.host.hosting import kit_of, never

TOOLS, BOOK = Change("tools"), Change("resource", "x://book")


class Timeline(asyncio.SelectorEventLoop):
    """An event loop whose clock moves to the next timer without waiting."""

    now = 100.0

    def time(self) -> float:
        return self.now

    def run_until_idle(self) -> None:
        """Run until no timer is left."""
        while self._scheduled or self._ready:  # type: ignore[attr-defined]  # a loop has no public list of timers
            if not self._ready:  # type: ignore[attr-defined]
                self.now = max(self.now, self._scheduled[0].when())  # type: ignore[attr-defined]
            self.call_soon(self.stop)
            self.run_forever()


class Listener:
    waiting = 0
    everything = (TOOLS, BOOK)

    def __init__(self, loop: Timeline) -> None:
        self._loop = loop
        self.told: list[tuple[float, list[Change]]] = []

    def changed(self, changes: Iterable[Change]) -> None:
        self.told.append((round(self._loop.now - 100, 3), list(changes)))

    def stop(self) -> None:
        pass


def broadcast(
    delay: float, interval: float, changes: Iterable[tuple[float, Change]]
) -> list[tuple[float, list[Change]]]:
    """Make changes at these times. Return when the listener is notified, and of what."""
    loop = Timeline()
    watchers: list[Callable[[Change], None]] = []

    def watch(watcher: Callable[[Change], None]) -> Callable[[], None]:
        watchers.append(watcher)
        return watchers.clear

    host: Any = SimpleNamespace(watch=watch, wait_stopping=never)
    listener = Listener(loop)

    async def begin() -> None:
        broadcaster = ChangeBroadcaster(host, delay, interval)
        broadcaster.add(listener)
        for at, change in changes:
            loop.call_at(100 + at, watchers[0], change)

    async def end() -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    loop.run_until_complete(begin())
    loop.run_until_idle()
    loop.run_until_complete(end())
    loop.run_until_idle()
    loop.close()
    return listener.told


@pytest.mark.parametrize(
    ("delay", "interval", "changes", "expected"),
    [
        (0.05, 0, [(0, TOOLS), (0.04, BOOK), (0.049, TOOLS)], [(0.05, [TOOLS, BOOK])]),
        (0.05, 0, [(0, TOOLS), (1, TOOLS)], [(0.05, [TOOLS]), (1.05, [TOOLS])]),
        (0, 10, [(0, BOOK), (1, BOOK), (2, BOOK), (3, TOOLS)], [(0, [BOOK]), (3, [TOOLS]), (10, [BOOK])]),
        (0.05, 10, [(0, BOOK), (1, BOOK), (9.98, TOOLS)], [(0.05, [BOOK]), (10.03, [TOOLS]), (10.05, [BOOK])]),
        (0, 10, [(0, BOOK), (30, BOOK)], [(0, [BOOK]), (30, [BOOK])]),
    ],
)
def test_changes_are_gathered_and_limited_for_each_list_and_resource(
    delay: float, interval: float, changes: list[tuple[float, Change]], expected: list[tuple[float, list[Change]]]
) -> None:
    assert broadcast(delay, interval, changes) == expected


@pytest.mark.parametrize(
    ("delay", "per_minute", "notifications"), [(0.05, 0, 200), (1, 0, 10), (0.05, 60, 11), (0.05, 6, 2)]
)
def test_the_effect_of_the_rates_is_as_documented(delay: float, per_minute: float, notifications: int) -> None:
    """See docs/dynamic-tools.md."""
    changes = [(number / 100, TOOLS) for number in range(1000)]
    sent = broadcast(delay, 60 / per_minute if per_minute else 0, changes)
    assert len(sent) == notifications
    assert sent[-1][0] >= changes[-1][0]


@pytest.mark.parametrize(("per_second", "sent"), [(20, 10), (0, 100)])
async def test_progress_is_sent_at_the_set_rate(per_second: float, sent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_reports, "monotonic", lambda: 5.0)
    messages: list[bytes] = []
    channel: Any = SimpleNamespace(send=lambda message, keep: messages.append(message))
    reports = ProgressReports("t", channel, 1 / per_second if per_second else 0)
    for number in range(100):
        reports.report({"progress": number})
    assert len(messages) == sent
    reports.end()
    assert b'"progress":99' in messages[-1]


def test_log_messages_beyond_the_rate_are_counted() -> None:
    now = [0.0]
    limit = LogLimit(2, lambda: now[0])
    admitted = []
    for now[0] in (0, 0, 0, 0, 0.5, 0.5, 9):
        admitted.append(limit.admit())
    assert admitted == [0, 0, None, None, 2, None, 1]
    flood = LogLimit(20, lambda: now[0])
    assert sum(flood.admit() is not None for now[0] in (number / 1000 for number in range(10_000))) == 219


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_client_receives_log_messages_at_the_rate_of_the_settings(revision: str) -> None:
    async def talk(context: Context) -> None:
        for number in range(3):
            context.log.warning(str(number))

    plugins = {"mcp": {"logs_per_second": 0.001}}
    async with connect(kit_of(talk), plugins=plugins, revision=revision) as client:
        await client.call("talk")
        assert [log.data for log in client.logs] == ["0"]


class Line(Connection):
    """A connection that takes as many messages as a test lets it."""

    peer = "test"

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.room = asyncio.Semaphore(0)

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def drain(self) -> None:
        await self.room.acquire()

    async def close(self) -> None:
        """Close nothing."""

    async def take(self, count: int) -> list[bytes]:
        for _ in range(count):
            self.room.release()
        for _ in range(20):
            await asyncio.sleep(0)
        return self.sent


async def test_a_response_waits_behind_its_notifications_and_delays_no_other_queue() -> None:
    line, sent = Line(), asyncio.Event()
    writer, changes = ConnectionWriter(line), MessageQueue()
    queue = SendQueue(line, writer, sent.set)
    for message, keep in ((b"first", True), (b"note", False), (b"response", True)):
        queue.send(message, keep=keep)
    changes.send(b"changed", key="tools")
    writer.write_soon(changes)
    assert (await line.take(0), queue.kept) == ([b"first"], 1)
    assert (await line.take(5), queue.kept) == ([b"first", b"note", b"changed", b"response"], 0)
    assert sent.is_set()
    queue.send(b"last", keep=False)
    queue.end()
    assert line.sent[-1] == b"last"
