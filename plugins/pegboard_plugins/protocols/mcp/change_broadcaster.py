"""Changes of the host's lists and resources, collected for a short time and passed to listeners at a limited rate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from math import inf
from typing import Protocol, TypeAlias

from pegboard.plugin import ProtocolContext
from pegboard.types import Change
from pegboard_plugins.support.jsonrpc import jsonrpc_notification

MAX_GATHERED_CHANGES = 1000
"""The largest number of waiting changes."""

_RESOLUTION_SECONDS = 0.001
"""How early the timer of the event loop may fire."""

_METHODS = {kind: f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")}


Watch: TypeAlias = Callable[[Callable[[Change], None]], Callable[[], None]]


class ChangeListener(Protocol):
    """A listener that notifies one client on one stream."""

    @property
    def waiting(self) -> int:
        """The number of messages that the client has not read yet."""

    @property
    def everything(self) -> Iterable[Change]:
        """A change of each list and resource that the client is notified of."""

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
    """The listeners for one host's changes. The host is watched only while there are listeners.

    Args:
        host: the host.
        delay: how many seconds a change waits for further changes, so that they are sent together.
        interval: the least number of seconds between two notifications of one list or resource. A change in between
            waits.
        watch: calls a listener after each change; see `ProtocolContext.watch`, the default.
    """

    def __init__(self, host: ProtocolContext, delay: float, interval: float = 0, watch: Watch | None = None) -> None:
        self._host = host
        self._watch = watch or host.watch
        self._delay = delay
        self._interval = interval
        self._listeners: dict[ChangeListener, None] = {}
        self._waiting: dict[Change, float] = {}  # the earliest time at which the rate admits each change
        self._sent: dict[Change, float] = {}  # the time at which each change was sent, within the interval
        self._timer: asyncio.TimerHandle | None = None
        self._unwatch: Callable[[], None] | None = None
        self._stop: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._listeners)

    @property
    def waiting(self) -> int:
        """The number of messages that wait for the listeners' clients."""
        return sum(listener.waiting for listener in tuple(self._listeners))

    def add(self, listener: ChangeListener) -> None:
        self._listeners[listener] = None
        if self._unwatch is None:
            self._unwatch = self._watch(self._gather)
            self._stop = asyncio.create_task(self._wait_for_the_end())

    def remove(self, listener: ChangeListener) -> None:
        """Remove a listener. Ignore an unknown listener."""
        self._listeners.pop(listener, None)
        if not self._listeners:
            self._rest()

    def notify_all(self) -> None:
        """Notify the listeners of everything, because changes of other processes may be lost."""
        for listener in tuple(self._listeners):
            listener.changed(listener.everything)

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
        self._waiting.clear()
        self._sent.clear()

    def _gather(self, change: Change) -> None:
        if change in self._waiting:
            return
        loop = asyncio.get_running_loop()
        earliest = self._waiting[change] = self._sent.get(change, -inf) + self._interval
        if len(self._waiting) >= MAX_GATHERED_CHANGES:
            self._notify(all_waiting=True)
        else:
            self._notify_at(max(loop.time() + self._delay, earliest), loop)

    def _notify_at(self, time: float, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is None or time < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(time, self._notify)

    def _notify(self, *, all_waiting: bool = False) -> None:
        """Notify the listeners of the changes that the rate admits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        latest = inf if all_waiting else now + _RESOLUTION_SECONDS
        changes = tuple(change for change, earliest in self._waiting.items() if earliest <= latest)
        for change in changes:
            del self._waiting[change]
        if self._interval:
            self._sent = {other: sent for other, sent in self._sent.items() if sent + self._interval > now}
            self._sent.update(dict.fromkeys(changes, now))
        if self._waiting:
            self._notify_at(min(self._waiting.values()), loop)
        for listener in tuple(self._listeners):
            listener.changed(changes)

    async def _wait_for_the_end(self) -> None:
        await self._host.wait_stopping()
        self._stop = None  # this task ends by itself, and must not cancel itself
        if self._waiting:
            self._notify(all_waiting=True)
        for listener in tuple(self._listeners):
            listener.stop()
