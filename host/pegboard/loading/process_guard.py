"""Detection of changes that a plugin makes to the process while it is loaded. Changes are reported, not undone.

Such changes affect every other plugin and the program that embeds the host.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import warnings
from _locale import LC_ALL, setlocale  # `locale` itself loads more modules
from _thread import allocate_lock, start_new_thread
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Self

SLOW_SECONDS = 5.0
"""The time after which the log names a plugin that is still loading."""

_WATCHED_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    getattr(signal, "SIGHUP", signal.SIGTERM),
    getattr(signal, "SIGPIPE", signal.SIGTERM),
)
_of_program: dict[int, list[Any]] = {}
"""The signal handlers that the program has set with `set_handler`."""
logger = logging.getLogger("pegboard.loading.loader")


def set_handler(number: int, handler: Any) -> None:
    """Set the handler of a signal for the program, which may change its handlers while a plugin is loaded."""
    _of_program.setdefault(number, []).append(handler)
    signal.signal(number, handler)


def _handler(number: int) -> Any:
    """Return the handler of a signal, or None if the program has set the handler."""
    handler = signal.getsignal(number)
    return None if handler in _of_program.get(number, ()) else handler


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
        "signal handlers": tuple(map(_handler, _WATCHED_SIGNALS)),
        "the root logger": (root.level, tuple(root.handlers)),
        "the warning filters": tuple(warnings.filters),
        "the garbage collector": (gc.isenabled(), gc.get_threshold()),
        "the event loop policy": events._event_loop_policy,  # type: ignore[attr-defined]  # the getter would create one
        "sys.path": tuple(sys.path),
    }


class SlowLoadMonitor:
    """A thread that logs once about each plugin that is still loading after `SLOW_SECONDS`.

    One thread serves all plugins: starting a thread takes milliseconds on a busy machine.
    """

    def __init__(self) -> None:
        self._over = allocate_lock()
        self._loading: tuple[str, float] | None = None

    def __enter__(self) -> Self:
        self._over.acquire()
        start_new_thread(self._log_when_slow, ())
        return self

    def __exit__(self, *_: object) -> None:
        self._over.release()

    @contextmanager
    def over(self, name: str) -> Iterator[None]:
        """Run a block that loads the plugin `name`."""
        self._loading = (name, monotonic())
        try:
            yield
        finally:
            self._loading = None

    def _log_when_slow(self) -> None:
        logged = None
        wait = SLOW_SECONDS
        while not self._over.acquire(timeout=wait):
            wait = SLOW_SECONDS
            loading = self._loading
            if loading is None or loading is logged:
                continue
            name, since = loading
            left = since + SLOW_SECONDS - monotonic()
            if left > 0:
                wait = left
            else:
                logger.warning("%s is still loading after %s s", name, SLOW_SECONDS)
                logged = loading


@contextmanager
def watch_process(changed: list[str]) -> Iterator[None]:
    """Run a block that loads a plugin. Add the name of each change to the process to `changed`."""
    before = _snapshot()
    try:
        yield
    finally:
        after = _snapshot()
        changed.extend(name for name in before if before[name] != after[name])
