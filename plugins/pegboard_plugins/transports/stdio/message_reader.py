"""Messages read from a descriptor of any kind, one per line, without a thread where the event loop can watch it.

The module reads lines. It knows nothing of JSON-RPC except the error for a line that is too long.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import stat
from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Self

from pegboard.plugin import decode
from pegboard_plugins.support.jsonrpc import PARSE_ERROR, jsonrpc_error
from pegboard_plugins.transports.stdio.descriptors import CAN_POLL
from pegboard_plugins.transports.stdio.line_splitter import LineSplitter
from pegboard_plugins.transports.stdio.stdio_connection import StdioConnection

if TYPE_CHECKING:
    from pegboard_plugins.transports.stdio.oversized_message import OversizedMessage

MAX_READ_BYTES = 64 * 1024
"""The largest number of bytes per read, which is also the capacity of a pipe."""
TURNS_AFTER_EOF = 8
"""Turns of the event loop between the end of input and the end of the messages. Immediate responses still go out, so
that `echo '{...}' | pegboard stdio` shows one.
"""

logger = logging.getLogger("pegboard.stdio")


def open_reader(descriptor: int, connection: StdioConnection, limit: int) -> MessageReader:
    """Return the reader that suits a descriptor and the system."""
    if not CAN_POLL:
        return ThreadReader(descriptor, connection, limit)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor):
        return PolledReader(descriptor, connection, limit)
    return FileReader(descriptor, connection, limit)


class MessageReader(ABC):
    """An asynchronous iterator over the messages of one descriptor.

    It does not read while the client reads no responses.

    Attributes:
        is_conversation: True if input arrived after the first response, so a client reads the responses.
    """

    def __init__(self, descriptor: int, connection: StdioConnection, limit: int) -> None:
        self._descriptor = descriptor
        self._connection = connection
        self._limit = limit
        self._splitter = LineSplitter(limit)
        self._messages: deque[bytes] = deque()
        self._ended = False
        self.is_conversation = False
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        connection.on_room = self._wake

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not (self._messages and self._connection.ready):
            if self._connection.ended or (self._ended and not (self._messages and self._connection.finishes)):
                if not self._connection.finishes:
                    # in one turn with the protocol, which counts the calls in flight: none may end between
                    self._connection.end()
                raise StopAsyncIteration
            await self._wait()
        return self._messages.popleft()

    @property
    def left(self) -> int:
        """The number of messages that were read and never returned, because the client read no responses."""
        return len(self._messages)

    @property
    def _idle(self) -> bool:
        """True if all messages have been returned and the client reads responses."""
        return not self._messages and self._connection.ready

    async def _wait(self) -> None:
        """Wait for a change: a message, room for responses, or the end."""
        if self._prepare():
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None

    @abstractmethod
    def _prepare(self) -> bool:
        """Begin to read if messages may be taken. Return False if there is a change already.

        Otherwise `_wake` reports it.
        """

    @abstractmethod
    def close(self) -> None:
        """Stop reading."""

    def _note_arrival(self, data: bytes) -> None:
        """Check whether new data came after a response. Files do not call this: their data was there before."""
        if data and self._connection.has_written:
            self.is_conversation = True

    def _take(self, data: bytes) -> int:
        """Queue the messages in new data and return their number. Empty data means the end of input."""
        lines = self._splitter.feed(data) if data else [line for line in self._splitter.end() if _is_whole(line)]
        lines += filter(None, map(self._refuse, self._splitter.take_refused()))
        self._messages.extend(lines)
        if not data:
            self._end_after(TURNS_AFTER_EOF)
        return len(lines)

    def _refuse(self, message: OversizedMessage) -> bytes | None:
        """Answer a message that is too long.

        Return the message that replaces it if it was a response, else None.
        """
        error = jsonrpc_error(
            PARSE_ERROR,
            f"The message is longer than {self._limit} bytes. Raise [plugins.stdio] max_message_bytes to accept it.",
            message.id,
        )
        if message.is_response:
            return error
        if message.is_notification:
            logger.warning("notification ignored: it is longer than [plugins.stdio] max_message_bytes")
        else:
            self._connection.send(error)
        return None

    def _end_after(self, turns: int) -> None:
        if turns:
            self._loop.call_soon(self._end_after, turns - 1)
            return
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _is_whole(line: bytes) -> bool:
    """Return True if a last line without a line break is a complete message."""
    try:
        decode(line)
    except ValueError:
        return False
    return True


class PolledReader(MessageReader):
    """A reader of a pipe, a socket or a terminal.

    The descriptor stays blocking, because other processes may share it. Each time it is ready, it is read once.
    """

    def __init__(self, descriptor: int, connection: StdioConnection, limit: int) -> None:
        super().__init__(descriptor, connection, limit)
        self._watching = False
        self._at_end = False
        self._hang_up: HangUpWatch | None = None
        self._hung_up = False

    def _prepare(self) -> bool:
        if self._hung_up and not self._connection.ready:
            # the client reads no responses and sends nothing more
            self._connection.end()
            return False
        if self._idle and not self._at_end:
            self._resume()
        return True

    def close(self) -> None:
        if self._watching:
            self._loop.remove_reader(self._descriptor)
            self._watching = False
        if self._hang_up is not None:
            self._hang_up.close()
            self._hang_up = None

    def _resume(self) -> None:
        if not self._watching:
            self.close()
            self._loop.add_reader(self._descriptor, self._readable)
            self._watching = True

    def _pause(self) -> None:
        self.close()
        self._hang_up = HangUpWatch(self._loop, self._descriptor, self._on_hang_up)

    def _on_hang_up(self) -> None:
        self._hung_up = True
        if not self._connection.ready:
            self._connection.end()

    def _readable(self) -> None:
        if not self._idle:
            self._pause()
            return
        try:
            data = os.read(self._descriptor, MAX_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""  # a reset connection or a closed terminal
        self._note_arrival(data)
        self._at_end = not data
        if self._at_end:
            self.close()
        count = self._take(data)
        if count:
            self._wake()
            self._connection.expect(count)


class FileReader(MessageReader):
    """A reader of a regular file or a device, which an event loop cannot watch. Other tasks run between reads."""

    def close(self) -> None:
        """Close nothing."""

    def _prepare(self) -> bool:
        return False

    async def _wait(self) -> None:
        if self._messages:
            await self._connection.drain()
            return
        for _ in range(TURNS_AFTER_EOF):
            await asyncio.sleep(0)
        try:
            data = os.read(self._descriptor, MAX_READ_BYTES)
        except OSError:
            data = b""
        count = self._take(data)
        if count:
            self._connection.expect(count)
        elif not data:
            self._ended = True


# --- Detection of a closed peer without reading from the descriptor. Linux only.


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
        if self._epoll is not None:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None


# --- Messages read by a thread, for systems whose event loops cannot watch pipes.


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
