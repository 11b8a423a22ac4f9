"""Messages read by a thread, for systems whose event loops cannot watch pipes."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Semaphore, Thread

from pegboard_plugins.transports.stdio.message_reader import MAX_READ_BYTES, MessageReader
from pegboard_plugins.transports.stdio.stdio_connection import StdioConnection


class ThreadReader(MessageReader):
    """A reader of a descriptor of any kind. The thread is one read ahead, so that it sees the end of input early.

    The thread reads a duplicate of its own. On Windows, closing a descriptor waits for the thread that reads it.
    """

    def __init__(self, descriptor: int, connection: StdioConnection, limit: int) -> None:
        super().__init__(os.dup(descriptor), connection, limit)
        self._room = Semaphore()
        self._held: bytes | None = None
        self._closed = False
        Thread(target=self._work, name="pegboard-stdin", daemon=True).start()

    def _prepare(self) -> bool:
        if self._held is None or not self._idle:
            return True
        data, self._held = self._held, None
        self._pass(data)
        return False

    def close(self) -> None:
        """Stop reading. If a read has begun, it still consumes the next input."""
        self._closed = True
        self._room.release()

    def _work(self) -> None:
        data = b"\n"
        while data and self._room.acquire() and not self._closed:
            try:
                data = os.read(self._descriptor, MAX_READ_BYTES)
            except OSError:
                data = b""
            with suppress(RuntimeError):  # the event loop is closed
                self._loop.call_soon_threadsafe(self._arrive, data)
        os.close(self._descriptor)

    def _arrive(self, data: bytes) -> None:
        """Take data, or hold it while messages wait. The end of input does not wait."""
        if self._closed:
            return
        self._note_arrival(data)
        if data and not self._idle:
            self._held = data
            return
        self._pass(data)
        self._wake()

    def _pass(self, data: bytes) -> None:
        count = self._take(data)
        self._room.release()
        if count:
            self._connection.expect(count)
