"""Writes messages to a descriptor, one a line, without ever holding up the event loop where that can be had.

What is queued in one turn of the event loop goes out in one write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from pegboard_plugins.stdio.descriptor_writer import open_writer

HIGH_WATER_BYTES = 256 * 1024
"""Queued bytes above which no further message is handed out for answering."""
LOW_WATER_BYTES = 64 * 1024
"""Queued bytes below which it goes on."""
DELIVERY_SECONDS = 0.05
"""How long a client is given to read what must reach it before the next message."""
LOOK_SECONDS = 0.001
"""How often it is looked whether it has; the time it is given where that is unknown."""

logger = logging.getLogger("pegboard.stdio")


class StdioConnection:
    """The connection to the client, as `pegboard.Connection` describes it. For the event loop's thread alone.

    Attributes:
        finishes: what is in flight and queued when the input ends is finished and written.
        ended: nothing is written any more; what is sent is dropped.
        unread: how many queued bytes were dropped at the end, as the client did not read them.
        on_room: called when there is room again, and at the end.
    """

    peer = "stdio"

    def __init__(self, descriptor: int, *, finishes: bool = False) -> None:
        self.finishes = finishes
        self._writer = open_writer(descriptor)
        self._loop = asyncio.get_running_loop()
        self._queued = bytearray()
        self._at_once = False
        self._flush_due = False
        self._blocked = False
        self._full = False
        self._waiters: list[asyncio.Future[None]] = []
        self.ended = False
        self.unread = 0
        self.on_room: Callable[[], None] | None = None

    @property
    def ready(self) -> bool:
        """Whether the client takes what it gets, so that more may be sent."""
        return not self.ended and not self._full

    def send(self, message: bytes) -> None:
        """Queue one message; once the connection has ended, drop it."""
        if self.ended:
            return
        self._queued += message
        self._queued += b"\n"
        if len(self._queued) > HIGH_WATER_BYTES:
            self._full = True
        if self._at_once:
            self._at_once = False
            self._flush()
        elif not self._flush_due:
            self._flush_due = True
            self._loop.call_soon(self._flush_turn)

    def expect(self, requests: int) -> None:
        """Be told how many requests were just handed out: the reply to a single one need not wait for company."""
        self._at_once = requests == 1
        if not self._at_once and not self._flush_due:
            # runs right behind the task that has just been woken, and takes all its replies along
            self._flush_due = True
            self._loop.call_soon(self._flush_turn)

    async def drain(self) -> None:
        """Wait until the client has taken most of what is queued, or the connection has ended."""
        if self._full and not self.ended:
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter

    async def delivered(self) -> None:
        """Wait until the client has read what was sent, a moment at most."""
        self._flush()
        until = self._loop.time() + DELIVERY_SECONDS
        while not self.ended and self._loop.time() < until:
            unread = len(self._queued) or self._writer.unread()
            if unread == 0:
                return
            await asyncio.sleep(LOOK_SECONDS)
            if unread is None:
                return

    async def close(self) -> None:
        """Write what the client takes at once, or all that is queued where calls are finished; then end."""
        self._flush()
        while self.finishes and self._queued and not self.ended:
            self._full = True
            await self.drain()
        self.end()

    def end(self) -> None:
        """End now: what is queued is dropped, nothing is written any more."""
        if self.ended:
            return
        self.ended = True
        self._stop_watching()
        self.unread = len(self._queued)
        self._queued.clear()
        self._writer.close()
        self._tell()

    def _flush_turn(self) -> None:
        self._flush_due = False
        self._flush()

    def _flush(self) -> None:
        if self._blocked or self.ended or not self._queued:
            return
        self._write()

    def _write(self) -> None:
        try:
            written = self._writer.write(self._queued)
        except BlockingIOError:
            written = 0
        except OSError as error:
            if not isinstance(error, BrokenPipeError | ConnectionResetError):
                logger.warning("cannot write to standard output any more: %s", error)
            self._queued.clear()
            self.end()
            return
        del self._queued[:written]
        if not self._queued:
            self._stop_watching()
        elif not self._blocked:
            self._blocked = True
            self._loop.add_writer(self._writer.descriptor, self._write)
        if self._full and len(self._queued) <= LOW_WATER_BYTES:
            self._full = False
            self._tell()

    def _stop_watching(self) -> None:
        if self._blocked:
            self._blocked = False
            self._loop.remove_writer(self._writer.descriptor)

    def _tell(self) -> None:
        if self.on_room is not None:
            self.on_room()
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
