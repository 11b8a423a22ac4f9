"""Plugins that load slowly, or change the process while they are loaded."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from logging.handlers import QueueHandler
from queue import SimpleQueue

import pytest

from pegboard.loading import slow_loads
from pegboard.loading.process_changes import watch_process
from pegboard.loading.slow_loads import SlowLoadMonitor
from pegboard.plugin import Plugin, hookimpl
from pegboard_testing import connect
from tests.host.hosting import WAIT


@contextlib.contextmanager
def monitoring() -> Iterator[SlowLoadMonitor]:
    """Yield a monitor, whose thread ends with the block."""
    others = set(threading.enumerate())
    with SlowLoadMonitor() as monitor:
        (thread,) = set(threading.enumerate()) - others  # one for all plugins; it has begun, as in the watchdog
        yield monitor
    thread.join(WAIT)
    assert not thread.is_alive()


def test_a_plugin_that_is_still_loading_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_loads, "SLOW_SECONDS", 0.001)
    records: SimpleQueue[logging.LogRecord] = SimpleQueue()
    handler = QueueHandler(records)
    slow_loads.logger.addHandler(handler)
    try:
        with monitoring() as monitor, monitor.over("plugin 'slow' from acme 1"):
            message = records.get(timeout=10).getMessage()  # while it is still loading
    finally:
        slow_loads.logger.removeHandler(handler)
    assert message == "plugin 'slow' from acme 1 is still loading after 0.001 s"


def test_a_plugin_that_loads_in_time_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with monitoring() as monitor:
        for name in ("first", "second"):
            with contextlib.suppress(RuntimeError), monitor.over(name):
                raise RuntimeError
    assert caplog.records == []


def changes(action: Callable[[], object]) -> list[str]:
    changed: list[str] = []
    with watch_process(changed):
        action()
    return changed


def test_a_closed_or_replaced_standard_descriptor_is_named() -> None:
    spare = os.dup(0)
    with open(os.devnull, "rb") as null, open(__file__, "rb") as other:
        try:
            assert changes(lambda: os.close(0)) == ["the standard descriptors"]
            os.dup2(null.fileno(), 0)
            assert changes(lambda: os.dup2(other.fileno(), 0)) == ["the standard descriptors"]
        finally:
            os.dup2(spare, 0)
            os.close(spare)


def test_undone_changes_and_other_loggers_are_not_named() -> None:
    def action() -> None:
        place = os.getcwd()
        os.chdir("/")
        os.chdir(place)
        logging.getLogger("sample").setLevel(logging.DEBUG)
        print("printed")

    assert changes(action) == []


async def test_a_test_logs_the_changes_of_its_plugins(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Meddler(Plugin):
        @hookimpl
        def register_middleware(self) -> list[object]:
            monkeypatch.syspath_prepend("/")
            return []

    async with connect(Meddler):
        pass
    assert "it changed the process while it was loaded: sys.path" in caplog.text
