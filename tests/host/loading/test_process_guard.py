"""Changes of the process by a plugin that is loaded, and plugins that load slowly."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import locale
import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from logging.handlers import QueueHandler
from pathlib import Path
from queue import SimpleQueue

import pytest

from pegboard.loading import process_guard
from pegboard.loading.process_guard import SlowLoadMonitor, watch_process


@pytest.fixture
def restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore the process after the test."""
    handler = signal.getsignal(signal.SIGTERM)
    root, level, filters, path = logging.getLogger(), logging.getLogger().level, warnings.filters[:], sys.path[:]
    place, policy, collecting = os.getcwd(), asyncio.events._event_loop_policy, gc.isenabled()  # type: ignore[attr-defined]
    threshold, language = gc.get_threshold(), locale.setlocale(locale.LC_ALL)
    output = sys.stdout
    monkeypatch.setenv("SPARE_FOLDER", str(tmp_path))
    yield
    signal.signal(signal.SIGTERM, handler)
    root.setLevel(level)
    root.handlers[:] = [handler for handler in root.handlers if not isinstance(handler, logging.NullHandler)]
    warnings.filters[:], sys.path[:] = filters, path  # type: ignore[index]  # a list, whatever typeshed says
    os.chdir(place)
    asyncio.events._event_loop_policy = policy  # type: ignore[attr-defined]
    (gc.enable if collecting else gc.disable)()
    gc.set_threshold(*threshold)
    locale.setlocale(locale.LC_ALL, language)
    sys.stdout = output


def changes(action: Callable[[], object]) -> list[str]:
    changed: list[str] = []
    with watch_process(changed):
        action()
    return changed


def set_policy() -> None:
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())  # type: ignore[deprecated]  # it still works


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(
    ("action", "name"),
    [
        (lambda: os.chdir(os.environ["SPARE_FOLDER"]), "the working directory"),
        (lambda: setattr(sys, "stdout", io.StringIO()), "sys.stdout"),
        (lambda: signal.signal(signal.SIGTERM, lambda *_: None), "signal handlers"),
        (lambda: logging.getLogger().addHandler(logging.NullHandler()), "the root logger"),
        (lambda: warnings.simplefilter("ignore"), "the warning filters"),
        (set_policy, "the event loop policy"),
        (lambda: sys.path.insert(0, "/sample"), "sys.path"),
        (lambda: gc.set_threshold(12345), "the garbage collector"),
        (lambda: locale.setlocale(locale.LC_ALL, "POSIX"), "the locale"),
    ],
    ids=map(str, range(9)),
)
def test_a_change_is_named(action: Callable[[], object], name: str) -> None:
    if name == "the locale":
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
    assert changes(action) == [name]


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
