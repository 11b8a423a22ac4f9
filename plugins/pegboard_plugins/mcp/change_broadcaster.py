"""Changes of the host's lists and resources, collected for a short time and passed to listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from pegboard.plugin import ProtocolContext, jsonrpc_notification
from pegboard.types import Change

GATHER_SECONDS: Final = 0.05
"""How long a change waits for further changes, so that they are sent together."""
MAX_GATHERED_CHANGES = 1000
"""The largest number of waiting changes."""

_METHODS = {kind: f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")}


class ChangeListener(Protocol):
    """A listener that notifies one client on one stream."""

    def changed(self, changes: Iterable[Change]) -> None:
        """Handle changes without blocking. Each change is listed once."""

    def stop(self) -> None:
        """Handle the stop of the host without blocking. No changes follow."""


def notification(change: Change, meta: dict[str, object] | None = None) -> bytes:
    """Return the MCP notification of a change, with the members of `meta` in `_meta`."""
    params: dict[str, object] = {} if meta is None else {"_meta": meta}
    if change.kind == "resource":
        return jsonrpc_notification("notifications/resources/updated", {"uri": change.uri, **params})
    return jsonrpc_notification(_METHODS[change.kind], params)


class ChangeBroadcaster:
    """The listeners for one host's changes. The host is watched only while there are listeners."""

    def __init__(self, host: ProtocolContext) -> None:
        self._host = host
        self._listeners: dict[ChangeListener, None] = {}
        self._gathered: dict[Change, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._unwatch: Callable[[], None] | None = None
        self._stop: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._listeners)

    def add(self, listener: ChangeListener) -> None:
        """Add a listener."""
        self._listeners[listener] = None
        if self._unwatch is None:
            self._unwatch = self._host.watch(self._gather)
            self._stop = asyncio.create_task(self._wait_for_the_end())

    def remove(self, listener: ChangeListener) -> None:
        """Remove a listener. Ignore an unknown listener."""
        self._listeners.pop(listener, None)
        if not self._listeners:
            self._rest()

    def _rest(self) -> None:
        if self._unwatch is not None:
            self._unwatch()
            self._unwatch = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stop is not None:
            self._stop.cancel()
            self._stop = None
        self._gathered.clear()

    def _gather(self, change: Change) -> None:
        self._gathered[change] = None
        if len(self._gathered) >= MAX_GATHERED_CHANGES:
            self._notify()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._notify)

    def _notify(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        changes, self._gathered = tuple(self._gathered), {}
        for listener in tuple(self._listeners):
            listener.changed(changes)

    async def _wait_for_the_end(self) -> None:
        await self._host.wait_stopping()
        self._stop = None  # this task ends by itself, and must not cancel itself
        if self._gathered:
            self._notify()
        for listener in tuple(self._listeners):
            listener.stop()
