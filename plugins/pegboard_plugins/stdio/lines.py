"""Cuts a stream of bytes into lines, with memory bounded by the longest line allowed. It knows no descriptor."""

from __future__ import annotations

_BLANK = b" \t\r"


class Splitter:
    r"""Cuts at `\n`, takes `\r\n`, drops blank lines and lines longer than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False
        self._refused = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and (self._parts or self._skipping):
            lines[0] = self._completed(lines[0])
        if rest:
            self._keep(rest)
        return [kept for line in lines if (kept := self._checked(line))]

    def end(self) -> list[bytes]:
        """The last line, if the stream ended without a line break."""
        kept = self._checked(self._completed(b""))
        return [kept] if kept else []

    def take_refused(self) -> int:
        """How many lines were too long since this was asked last."""
        refused, self._refused = self._refused, 0
        return refused

    def _completed(self, last: bytes) -> bytes:
        if self._skipping:
            self._skipping = False
            return b""
        self._parts.append(last)
        line = b"".join(self._parts)
        self._forget()
        return line

    def _keep(self, rest: bytes) -> None:
        if self._skipping:
            return
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > self._limit:
            self._forget()
            self._skipping = True
            self._refused += 1

    def _checked(self, line: bytes) -> bytes:
        if len(line) > self._limit:
            self._refused += 1
            return b""
        return line.strip(_BLANK)

    def _forget(self) -> None:
        self._parts.clear()
        self._size = 0
