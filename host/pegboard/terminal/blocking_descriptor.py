"""Descriptors that block, read and written by threads. They replace `select.poll` and event loops on Windows."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread

MAX_TYPED_BYTES = 64 * 1024


class BlockingDescriptor:
    """A descriptor that a thread writes to, so that callers do not wait endlessly for its reader."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pieces: SimpleQueue[bytes] = SimpleQueue()
        self._idle = Event()
        self._idle.set()
        Thread(target=self._work, name="pegboard-stderr", daemon=True).start()

    def write(self, data: bytes, seconds: float) -> bool:
        """Pass data to the thread. Return False if the data before it is not written in time."""
        if not self._idle.wait(seconds):
            return False
        self._idle.clear()
        self._pieces.put(data)
        return True

    def wait(self, seconds: float) -> None:
        """Wait until everything is written, at most `seconds`."""
        self._idle.wait(seconds)

    def _work(self) -> None:
        while True:
            data = self._pieces.get()
            with suppress(OSError):
                while data:
                    data = data[os.write(self._descriptor, data) :]
            self._idle.set()


async def read_line(descriptor: int) -> bytes:
    """Read a line of a terminal, or the available data of a pipe. A cancelled read still consumes the next line."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[bytes] = loop.create_future()

    def finish(data: bytes) -> None:
        if not arrived.done():
            arrived.set_result(data)

    def read() -> None:
        try:
            data = os.read(descriptor, MAX_TYPED_BYTES)
        except OSError:
            data = b""
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(finish, data)

    Thread(target=read, name="pegboard-stdin", daemon=True).start()
    return await arrived
