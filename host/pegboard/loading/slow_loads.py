"""Log lines about plugins that load slowly."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from time import monotonic
from typing import Self

SLOW_SECONDS = 5.0
"""The time after which the log names a plugin that is still loading."""

logger = logging.getLogger("pegboard.loading.loader")


class SlowLoadMonitor:
    """A thread that logs once about each plugin that is still loading after `SLOW_SECONDS`.

    One thread serves all plugins: starting a thread takes milliseconds on a busy machine.
    """

    def __init__(self) -> None:
        self._over = Lock()
        self._loading: tuple[str, float] | None = None

    def __enter__(self) -> Self:
        self._over.acquire()
        Thread(target=self._log_when_slow, name="pegboard-slow-loads", daemon=True).start()
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
        while not self._over.acquire(timeout=SLOW_SECONDS / 10):
            loading = self._loading
            if loading and loading is not logged and monotonic() - loading[1] >= SLOW_SECONDS:
                logger.warning("%s is still loading after %s s", loading[0], SLOW_SECONDS)
                logged = loading
