"""Logs what was printed, line by line, in a thread of its own: a tool that prints does not wait for the log."""

from __future__ import annotations

import logging
import select
import sys
from collections.abc import Iterable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import NamedTuple

from pegboard_plugins.stdio.printed_lines import PrintedLine, PrintedLines
from pegboard_plugins.stdio.running_tools import RunningTools

MAX_WAITING_BYTES = 8 * 1024 * 1024
"""What may wait to be logged; more than that is counted and left out."""
PIECE_OVERHEAD_BYTES = 128
"""What one piece of output costs beside its text, roughly."""
CLOSING_SECONDS = 0.5
"""How long the end waits for what is still to be logged."""
ROOM_MILLISECONDS = 100
"""After how long a full stderr is looked at again, if it does not tell."""
LOG_MARK = "printed to standard output: "
"""In every record. A line that has it is a record that some handler printed, and must not be logged again for ever."""

logger = logging.getLogger("pegboard.stdout")


class OutputPiece(NamedTuple):
    """Some output of one source, with the tools it may come from; without data, the tools that still run."""

    source: object
    names: tuple[str, ...]
    data: bytes


class OutputLog:
    """Takes pieces of output from any thread and logs them as lines.

    Attributes:
        closed: nothing is taken any more.
    """

    def __init__(self, running: RunningTools) -> None:
        self._running = running
        self._lines = PrintedLines()
        self._pieces: SimpleQueue[OutputPiece | Event | None] = SimpleQueue()
        self._adding = Lock()
        self._thread: Thread | None = None
        self._added = 0
        self._done = 0
        self._left_out = 0
        self._unsettled = False
        self._hurry = False
        self.closed = False

    def add(self, source: object, names: tuple[str, ...], data: bytes) -> bool:
        """Take a piece of output. Return False once the journal is closed.

        Args:
            source: the origin of the piece; the pieces of one source make up lines.
            names: the tools that may have printed it.
            data: the output.
        """
        with self._adding:
            if self.closed:
                return False
            if self._added - self._done > MAX_WAITING_BYTES:
                self._left_out += len(data)
                return True
            self._added += len(data) + PIECE_OVERHEAD_BYTES
            self._unsettled = True
            if self._thread is None:
                self._thread = Thread(target=self._work, name="pegboard-stdout-log", daemon=True)
                self._thread.start()
        self._pieces.put(OutputPiece(source, names, data))
        return True

    def settle(self) -> None:
        """A tool has ended: log the lines that it left incomplete."""
        if self._unsettled:
            names = self._running.names()
            self._unsettled = bool(names)
            self._pieces.put(OutputPiece(None, names, b""))

    def flush(self) -> None:
        """Wait until all is logged, incomplete lines too; after `CLOSING_SECONDS` no more than stderr takes at once."""
        if self._thread is not None:
            done = Event()
            self._pieces.put(done)
            self._hurry = not done.wait(CLOSING_SECONDS)

    def close(self) -> None:
        """Take no more, and end."""
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
            if self._left_out:
                self._tell_left_out()

    def _log(self, lines: Iterable[PrintedLine]) -> None:
        for line in lines:
            text = str(line)
            if not self._has_room():
                continue
            with suppress(Exception):  # a handler that fails must not end the log
                if LOG_MARK in text and sys.stderr is not None:
                    sys.stderr.write(f"{text}\n")
                else:
                    logger.warning("%s %s%s", _who(line.names), LOG_MARK, text)

    def _tell_left_out(self) -> None:
        with self._adding:
            size, self._left_out = self._left_out, 0
        if self._has_room():
            with suppress(Exception):
                logger.warning("left out %d bytes, which came faster than they could be logged, %s...", size, LOG_MARK)

    def _has_room(self) -> bool:
        """Wait until stderr takes something, which is where logs mostly go; False when there is no more time.

        A thread that is stuck in a write when the interpreter ends makes it abort.
        """
        if sys.__stderr__ is None:
            return True
        poll = select.poll()
        poll.register(2, select.POLLOUT)
        while not poll.poll(0 if self._hurry else ROOM_MILLISECONDS):
            if self._hurry:
                return False
        return True


def _who(names: tuple[str, ...]) -> str:
    if not names:
        return "something outside of any call"
    return f"tool {names[0]}" if len(names) == 1 else f"one of the tools {', '.join(names)}"
