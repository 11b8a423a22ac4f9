"""Notices that the other end of a descriptor is gone while nothing is read from it. On Linux; silent elsewhere."""

from __future__ import annotations

import select
from asyncio import AbstractEventLoop
from collections.abc import Callable


class HangUpWatch:
    """Calls back once when the writer of a pipe, or the peer of a socket, is gone, whatever is left to be read."""

    def __init__(self, loop: AbstractEventLoop, descriptor: int, callback: Callable[[], None]) -> None:
        self._loop = loop
        self._callback = callback
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        if self._epoll is not None:
            # an event loop watches for data too, which is there all the time; an epoll can itself be watched
            self._epoll.register(descriptor, select.EPOLLRDHUP)
            loop.add_reader(self._epoll.fileno(), self._fire)

    def _fire(self) -> None:
        self.close()
        self._callback()

    def close(self) -> None:
        """Watch no more."""
        if self._epoll is not None:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None
