"""The connection to the client: messages written to a descriptor, one per line, without blocking the event loop.

The messages of one turn of the event loop are written together.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from pegboard.plugin import Connection
from pegboard_plugins.transports.stdio.descriptor_writer import open_writer
from pegboard_plugins.transports.stdio.running_tools import RunningTools

HIGH_WATER_BYTES = 256 * 1024
"""The number of queued bytes above which the reader returns no further message."""
LOW_WATER_BYTES = 64 * 1024
"""The number of queued bytes below which the reader continues."""
DELIVERY_SECONDS = 0.05
"""How long the client may take to read a message before the next message is sent."""
LOOK_SECONDS = 0.001
"""The interval between checks, and the wait where the system cannot tell."""

logger = logging.getLogger("pegboard.stdio")


class StdioConnection(Connection):
    """A `pegboard.plugin.Connection` to the client. It belongs to the thread of the event loop.

    Args:
        descriptor: the descriptor to write to.
        running: the running tools, whose output is read before their responses are written.
        finishes: True to finish calls in flight at the end of input.

    Attributes:
        finishes: True if calls in flight at the end of input are finished and their responses written.
        has_written: True after the first message has been written.
        ended: True after the end. Sent messages are dropped.
        unread: the number of queued bytes dropped at the end, because the client did not read them.
        on_room: called when there is room again, and at the end.
    """

    peer = "stdio"
    transport = "stdio"

    def __init__(self, descriptor: int, running: RunningTools, *, finishes: bool = False) -> None:
        self.finishes = finishes
        self._writer = open_writer(descriptor)
        self._running = running
        self._loop = asyncio.get_running_loop()
        self._queued = bytearray()
        self._at_once = False
        self._flush_due = False
        self._blocked = False
        self._full = False
        self._room = asyncio.Event()
        self.has_written = False
        self.ended = False
        self.unread = 0
        self.on_room: Callable[[], None] | None = None

    @property
    def ready(self) -> bool:
        """True if the client reads its messages, so that more may be sent."""
        return not self.ended and not self._full

    def send(self, message: bytes) -> None:
        """Queue a message. Drop it if the connection has ended."""
        if self.ended:
            return
        if not self._running.together:
            self._running.responded()
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
        """Prepare for the responses to new requests. The response to a single request is written at once."""
        self._running.together = requests > 1
        self._at_once = requests == 1
        if requests > 1 and not self._flush_due:
            # runs right after the task that was just woken, and writes all its responses
            self._flush_due = True
            self._loop.call_soon(self._flush_turn)

    async def drain(self) -> None:
        """Wait until the client has read most of the queue, or the connection has ended."""
        if self._full and not self.ended:
            self._room.clear()
            await self._room.wait()

    async def delivered(self) -> None:
        """Wait until the client has read every message, at most `DELIVERY_SECONDS`."""
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
        """Write the messages that the client accepts at once, or all if calls are finished. Then end."""
        self._flush()
        while self.finishes and self._queued and not self.ended:
            self._full = True
            await self.drain()
        self.end()

    def end(self) -> None:
        """Write the messages that the client accepts at once, drop the others, and end."""
        self._flush()
        if self.ended:
            return
        self.ended = True
        self._stop_watching()
        del self._queued[: self._writer.close(self._queued)]
        self.unread = len(self._queued)
        self._queued.clear()
        self._tell_room()

    def _flush_turn(self) -> None:
        self._flush_due = False
        if self._running.together:
            self._running.settle()
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
                logger.warning("cannot write to standard output: %s", error)
            self._queued.clear()
            self.end()
            return
        del self._queued[:written]
        self.has_written = True
        if not self._queued:
            self._stop_watching()
        elif not self._blocked:
            self._blocked = True
            self._writer.watch(self._loop, self._write)
        if self._full and len(self._queued) <= LOW_WATER_BYTES:
            self._full = False
            self._tell_room()

    def _stop_watching(self) -> None:
        if self._blocked:
            self._blocked = False
            self._writer.unwatch(self._loop)

    def _tell_room(self) -> None:
        self._room.set()
        if self.on_room is not None:
            self.on_room()
