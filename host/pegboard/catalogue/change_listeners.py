"""Who hears of a change of what a host serves. It knows no more of the change than `Change` says, and no protocol."""

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
    """The listeners of one host, called on its event loop, in the order in which they came."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: dict[object, Listener] = {}

    def open(self) -> None:
        """Tell of changes from now on, on the event loop that runs."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Tell of nothing more."""
        self._loop = None

    def watch(self, listener: Listener) -> Callable[[], None]:
        """Call a listener for every change; returns how to stop, which may be done more than once."""
        key = object()
        self._listeners[key] = listener

        def stop() -> None:
            self._listeners.pop(key, None)

        return stop

    def emit(self, change: Change) -> None:
        """Tell every listener: at once on the event loop, soon from any other thread. Never raises."""
        loop = self._loop
        if loop is None:
            return
        if _running() is loop:
            self._tell(change)
            return
        try:
            loop.call_soon_threadsafe(self._tell, change)
        except RuntimeError:
            logger.debug("the event loop is closed; nobody hears of %s", change)

    def emit_kinds(self, changed: Collection[ItemKind]) -> None:
        """Tell every listener that lists have changed, always in the same order."""
        for kind in ITEM_KINDS:
            if kind in changed:
                self.emit(Change(kind))

    def _tell(self, change: Change) -> None:
        for listener in tuple(self._listeners.values()):
            try:
                listener(change)
            except Exception:
                logger.exception("a listener failed when told of %s", change)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
