"""Detection of a closed peer without reading from the descriptor. Linux only."""

from __future__ import annotations

import select
from asyncio import AbstractEventLoop
from collections.abc import Callable


class HangUpWatch:
    """A watch that calls back once when the writer of a pipe, or the peer of a socket, closes.

    It does so even if unread data is left.
    """

    def __init__(self, loop: AbstractEventLoop, descriptor: int, callback: Callable[[], None]) -> None:
        self._loop = loop
        self._callback = callback
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        if self._epoll is not None:
            # an event loop would also report unread data; an epoll with one event can be watched itself
            self._epoll.register(descriptor, select.EPOLLRDHUP)
            loop.add_reader(self._epoll.fileno(), self._fire)

    def _fire(self) -> None:
        self.close()
        self._callback()

    def close(self) -> None:
        """Stop watching."""
        if self._epoll is not None:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None
