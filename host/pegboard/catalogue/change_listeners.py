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
    """The listeners of one host. The host calls them on its event loop, in the order of registration."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: dict[object, Listener] = {}

    def open(self) -> None:
        """Start calling listeners on the running event loop."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Stop calling listeners."""
        self._loop = None

    def watch(self, listener: Listener) -> Callable[[], None]:
        """Register a listener for all changes. Return a function that removes it and may be called repeatedly."""
        key = object()
        self._listeners[key] = listener

        def stop() -> None:
            self._listeners.pop(key, None)

        return stop

    def emit(self, change: Change) -> None:
        """Call all listeners: immediately on the event loop's thread, else schedule the calls. Never raises."""
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
        """Announce changes of lists in a fixed order."""
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
