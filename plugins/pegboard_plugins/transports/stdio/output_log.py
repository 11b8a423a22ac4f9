"""The log of printed output, line by line, in its own thread, so that a tool that prints does not wait for the log."""

from __future__ import annotations

import logging
import select
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import NamedTuple

from pegboard_plugins.transports.stdio.descriptors import CAN_POLL
from pegboard_plugins.transports.stdio.running_tools import RunningTools

MAX_WAITING_BYTES = 8 * 1024 * 1024
"""The largest amount of output that waits for the log. Further output is counted and dropped."""
PIECE_OVERHEAD_BYTES = 128
"""The approximate memory of a piece of output besides its data."""
CLOSING_SECONDS = 0.5
"""How long closing waits for output that is not logged yet."""
ROOM_MILLISECONDS = 100
"""The interval between checks of a full standard error, if it does not report readiness."""
LOG_MARK = "printed to standard output: "
"""A mark in every record. A printed line with the mark is a record that a handler printed, and is not logged again."""

logger = logging.getLogger("pegboard.stdout")


class OutputPiece(NamedTuple):
    """Output of one source, with the tools that may have printed it. Without data, the tools that still run."""

    source: object
    names: tuple[str, ...]
    data: bytes


class OutputLog:
    """A log that takes pieces of output from any thread.

    Attributes:
        closed: True if it takes no more output.
        unsettled: True if it took output since no tool ran.
    """

    def __init__(self, running: RunningTools) -> None:
        self._running = running
        self._lines = PrintedLines()
        self._pieces: SimpleQueue[OutputPiece | Event | None] = SimpleQueue()
        self._adding = Lock()
        self._thread: Thread | None = None
        self._added = 0
        self._done = 0
        self._dropped = 0
        self.unsettled = False
        self._hurry = False
        self.closed = False

    def add(self, source: object, names: tuple[str, ...], data: bytes) -> bool:
        """Take a piece of output. Return False if the log is closed.

        Args:
            source: the origin of the piece. The pieces of one source form lines.
            names: the tools that may have printed it.
            data: the output.
        """
        with self._adding:
            if self.closed:
                return False
            if self._added - self._done > MAX_WAITING_BYTES:
                self._dropped += len(data)
                return True
            self._added += len(data) + PIECE_OVERHEAD_BYTES
            self.unsettled = True
            if self._thread is None:
                self._thread = Thread(target=self._work, name="pegboard-stdout-log", daemon=True)
                self._thread.start()
        self._pieces.put(OutputPiece(source, names, data))
        return True

    def settle(self) -> None:
        """Log the incomplete lines of tools that have ended."""
        if self.unsettled:
            names = self._running.names()
            self.unsettled = bool(names)
            self._pieces.put(OutputPiece(None, names, b""))

    def flush(self) -> None:
        """Wait until everything is logged.

        After `CLOSING_SECONDS`, drop the lines that standard error does not take at once.
        """
        if self._thread is not None:
            done = Event()
            self._pieces.put(done)
            self._hurry = not done.wait(CLOSING_SECONDS)

    def close(self) -> None:
        """Take no more output, and stop the thread."""
        with self._adding:
            self.closed = True
        if self._thread is not None:
            self._hurry = True
            self._pieces.put(None)
            self._thread.join(CLOSING_SECONDS)

    def _work(self) -> None:
        while (piece := self._pieces.get()) is not None:
            if isinstance(piece, Event):
                self._log(self._lines.finish())
                piece.set()
            elif piece.data:
                self._done += len(piece.data) + PIECE_OVERHEAD_BYTES
                self._log(self._lines.add(*piece))
            else:
                self._log(self._lines.finish(piece.names))
            if self._dropped:
                self._log_dropped()

    def _log(self, lines: Iterable[PrintedLine]) -> None:
        for line in lines:
            text = str(line)
            if not self._has_room():
                continue
            with suppress(Exception):  # a failing handler must not stop the log
                if LOG_MARK in text and sys.stderr is not None:
                    sys.stderr.write(f"{text}\n")
                else:
                    logger.warning("%s %s%s", _origin(line.names), LOG_MARK, text)

    def _log_dropped(self) -> None:
        with self._adding:
            size, self._dropped = self._dropped, 0
        if self._has_room():
            with suppress(Exception):
                logger.warning(
                    "dropped %d bytes of output: they arrived faster than the log could write them, %s...",
                    size,
                    LOG_MARK,
                )

    def _has_room(self) -> bool:
        """Wait until standard error, the usual place of logs, takes data. Return False if there is no more time.

        The interpreter aborts if a thread is blocked in a write when it exits.
        """
        if sys.__stderr__ is None or not CAN_POLL:
            return True
        poll = select.poll()
        poll.register(2, select.POLLOUT)
        while not poll.poll(0 if self._hurry else ROOM_MILLISECONDS):
            if self._hurry:
                return False
        return True


def _origin(names: tuple[str, ...]) -> str:
    if not names:
        return "code outside of any call"
    return f"tool {names[0]}" if len(names) == 1 else f"one of the tools {', '.join(names)}"


# --- Lines for a log, from output that arrives in pieces from several sources.

MAX_LINE_BYTES = 2000
"""The part of a line that is kept. Of the rest only the size is logged."""


class PrintedLine:
    """A printed line.

    Attributes:
        names: the tools that may have printed it.
        head: its first `MAX_LINE_BYTES` bytes.
        size: its size in bytes.
    """

    __slots__ = ("head", "names", "size")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.head = b""
        self.size = 0

    def extend(self, data: bytes) -> None:
        room = MAX_LINE_BYTES - len(self.head)
        if room > 0:
            self.head += data[:room]
        self.size += len(data)

    def __str__(self) -> str:
        text = self.head.removesuffix(b"\r").decode("utf-8", "backslashreplace")
        if not text.isprintable():
            text = "".join(char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in text)
        return text if self.size <= MAX_LINE_BYTES else f"{text}... ({self.size} bytes)"


class PrintedLines:
    """The incomplete lines of every source."""

    def __init__(self) -> None:
        self._open: dict[object, PrintedLine] = {}

    def add(self, source: object, names: tuple[str, ...], data: bytes) -> list[PrintedLine]:
        """Return the lines that a piece of output completes. Omit empty lines."""
        pieces = data.split(b"\n")
        last = pieces.pop()
        lines = []
        for piece in pieces:
            line = self._open.pop(source, None) or PrintedLine(names)
            line.extend(piece)
            lines.append(line)
        if last:
            self._open.setdefault(source, PrintedLine(names)).extend(last)
        return [line for line in lines if line.head not in (b"", b"\r")]

    def finish(self, running: Collection[str] = ()) -> list[PrintedLine]:
        """Return the incomplete lines of tools that have ended."""
        over = [source for source, line in self._open.items() if not any(name in running for name in line.names)]
        return [self._open.pop(source) for source in over]
