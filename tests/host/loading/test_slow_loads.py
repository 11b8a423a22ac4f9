"""Plugins that load slowly."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from logging.handlers import QueueHandler
from queue import SimpleQueue

import pytest

from pegboard.loading import slow_loads
from pegboard.loading.slow_loads import SlowLoadMonitor
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
