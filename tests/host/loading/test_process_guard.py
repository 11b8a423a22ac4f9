"""Changes of the process by a plugin that is loaded, and plugins that load slowly."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable
from logging.handlers import QueueHandler
from queue import SimpleQueue

import pytest

from pegboard.loading import process_guard
from pegboard.loading.process_guard import SlowLoadMonitor, watch_process


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


def test_a_plugin_that_is_still_loading_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_guard, "SLOW_SECONDS", 0.001)
    records: SimpleQueue[logging.LogRecord] = SimpleQueue()
    handler = QueueHandler(records)
    process_guard.logger.addHandler(handler)
    try:
        with SlowLoadMonitor() as monitor, monitor.over("plugin 'slow' from acme 1"):
            told = records.get(timeout=10).getMessage()  # while it is still loading
    finally:
        process_guard.logger.removeHandler(handler)
    assert told == "plugin 'slow' from acme 1 is still loading after 0.001 s"


def test_a_plugin_that_loads_in_time_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started: list[Callable[[], None]] = []
    monkeypatch.setattr(process_guard, "start_new_thread", lambda run, given: started.append(lambda: run(*given)))
    with SlowLoadMonitor() as monitor:
        for name in ("first", "second"):
            with contextlib.suppress(RuntimeError), monitor.over(name):
                raise RuntimeError
    (run,) = started  # one thread for all
    run()  # it gets its lock only now
    assert caplog.records == []
