"""Changes that a plugin makes to the process while it is loaded, for `pegboard doctor` and tests.

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
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_WATCHED_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    getattr(signal, "SIGHUP", signal.SIGTERM),
    getattr(signal, "SIGPIPE", signal.SIGTERM),
)


def _descriptors() -> tuple[Any, ...]:
    descriptors: list[tuple[int, int] | None] = []
    for descriptor in (0, 1, 2):
        try:
            status = os.fstat(descriptor)
            descriptors.append((status.st_dev, status.st_ino))
        except OSError:
            descriptors.append(None)
    return tuple(descriptors)


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
        "signal handlers": tuple(map(signal.getsignal, _WATCHED_SIGNALS)),
        "the root logger": (root.level, tuple(root.handlers)),
        "the warning filters": tuple(warnings.filters),
        "the garbage collector": (gc.isenabled(), gc.get_threshold()),
        "the event loop policy": events._event_loop_policy,  # type: ignore[attr-defined]  # the getter would create one
        "sys.path": tuple(sys.path),
    }


@contextmanager
def watch_process(changed: list[str]) -> Iterator[None]:
    """Run a block that loads a plugin. Add the name of each change to the process to `changed`."""
    before = _snapshot()
    try:
        yield
    finally:
        after = _snapshot()
        changed.extend(name for name in before if before[name] != after[name])
