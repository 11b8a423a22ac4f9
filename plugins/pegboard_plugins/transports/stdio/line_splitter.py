"""A stream of bytes cut into lines, with memory limited by the longest line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard_plugins.transports.stdio.oversized_message import OversizedMessage

_BLANK = b" \t\r"


class LineSplitter:
    r"""A splitter at `\n` that accepts `\r\n` and drops blank lines and lines longer than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._passing: OversizedMessage | None = None
        self._refused: list[OversizedMessage] = []

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and (self._parts or self._passing):
            lines[0] = self._completed(lines[0])
        if rest:
            self._keep(rest)
        return [kept for line in lines if (kept := self._checked(line))]

    def end(self) -> list[bytes]:
        """Return the last line, if the stream ended without a line break."""
        kept = self._checked(self._completed(b""))
        return [kept] if kept else []

    def take_refused(self) -> list[OversizedMessage]:
        """Return the lines that were too long and have ended since the last call."""
        refused, self._refused = self._refused, []
        return refused

    def _completed(self, last: bytes) -> bytes:
        if self._passing is not None:
            self._refuse(self._passing, last)
            self._passing = None
            return b""
        self._parts.append(last)
        line = b"".join(self._parts)
        self._forget()
        return line

    def _keep(self, rest: bytes) -> None:
        if self._passing is not None:
            self._passing.feed(rest)
            return
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > self._limit:
            self._passing = _oversized()
            for part in self._parts:
                self._passing.feed(part)
            self._forget()

    def _refuse(self, message: OversizedMessage, last: bytes) -> None:
        message.feed(last)
        self._refused.append(message)

    def _checked(self, line: bytes) -> bytes:
        if len(line) > self._limit:
            self._refuse(_oversized(), line)
            return b""
        return line.strip(_BLANK)

    def _forget(self) -> None:
        self._parts.clear()
        self._size = 0


def _oversized() -> OversizedMessage:
    from pegboard_plugins.transports.stdio.oversized_message import (
        OversizedMessage,  # most hosts never get such a message
    )

    return OversizedMessage()
