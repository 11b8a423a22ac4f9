"""The listeners for changes of the catalogue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import TypeAlias

from pegboard.types.catalogue import Change, ItemKind

logger = logging.getLogger("pegboard")

ITEM_KINDS: tuple[ItemKind, ...] = ("tools", "resources", "prompts")

Listener: TypeAlias = Callable[[Change], None]


class ChangeListeners:
    """The listeners of one host. They are called on its event loop, in the order of registration."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: dict[object, Listener] = {}

    def open(self) -> None:
        """Start to call listeners, on the running event loop."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Stop calling listeners."""
        self._loop = None

    def watch(self, listener: Listener) -> Callable[[], None]:
        """Call a listener for every change. Return a function that stops it, which may be called more than once."""
        key = object()
        self._listeners[key] = listener

        def stop() -> None:
            self._listeners.pop(key, None)

        return stop

    def emit(self, change: Change) -> None:
        """Call every listener: at once on the event loop, soon from another thread. Never raises."""
        loop = self._loop
        if loop is None:
            return
        if _running() is loop:
            self._tell(change)
            return
        try:
            loop.call_soon_threadsafe(self._tell, change)
        except RuntimeError:
            logger.debug("the event loop is closed; no listener is called for %s", change)

    def emit_kinds(self, changed: Collection[ItemKind]) -> None:
        """Announce changes of lists, always in the same order."""
        for kind in ITEM_KINDS:
            if kind in changed:
                self.emit(Change(kind))

    def _tell(self, change: Change) -> None:
        for listener in tuple(self._listeners.values()):
            try:
                listener(change)
            except Exception:
                logger.exception("a listener failed on %s", change)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
