"""Notices what a plugin does to the process while it is loaded: nothing is undone, the plugin is named.

A plugin that changes the process changes it for every other plugin and for the program that embeds the host.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import warnings
from _locale import LC_ALL, setlocale  # what `locale` is made of, without the rest of it
from _thread import LockType, allocate_lock, start_new_thread
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SLOW_SECONDS = 5.0
"""After how long a plugin that is still loading is named in the log."""

_WATCHED_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    getattr(signal, "SIGHUP", signal.SIGTERM),
    getattr(signal, "SIGPIPE", signal.SIGTERM),
)
logger = logging.getLogger("pegboard.loading.loader")


def _descriptors() -> tuple[Any, ...]:
    found: list[tuple[int, int] | None] = []
    for descriptor in (0, 1, 2):
        try:
            status = os.fstat(descriptor)
            found.append((status.st_dev, status.st_ino))
        except OSError:
            found.append(None)
    return tuple(found)


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _snapshot() -> dict[str, Any]:
    root = logging.getLogger()
    return {
        "the standard descriptors": _descriptors(),
        "the working directory": _working_directory(),
        "the locale": setlocale(LC_ALL),
        "sys.stdin": sys.stdin,
        "sys.stdout": sys.stdout,
        "sys.stderr": sys.stderr,
        "signal handlers": tuple(signal.getsignal(number) for number in _WATCHED_SIGNALS),
        "the root logger": (root.level, tuple(root.handlers)),
        "the warning filters": tuple(warnings.filters),
        "the garbage collector": (gc.isenabled(), gc.get_threshold()),
        "the event loop policy": events._event_loop_policy,  # type: ignore[attr-defined]  # the getter would create one
        "sys.path": tuple(sys.path),
    }


def _tell_when_slow(name: str, loading: LockType) -> None:
    if not loading.acquire(timeout=SLOW_SECONDS):
        logger.warning("%s is still loading after %s s", name, SLOW_SECONDS)


@contextmanager
def watched(name: str, changed: list[str]) -> Iterator[None]:
    """Run a block that loads the plugin `name`; what it changed in the process is added to `changed`, in words."""
    loading = allocate_lock()
    loading.acquire()
    # not a threading.Timer: starting that waits until the thread runs, which takes milliseconds on a busy machine
    start_new_thread(_tell_when_slow, (name, loading))
    before = _snapshot()
    try:
        yield
    finally:
        loading.release()
        after = _snapshot()
        changed.extend(what for what in before if before[what] != after[what])
