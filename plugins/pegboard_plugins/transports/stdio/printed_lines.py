"""Lines for a log, from output that arrives in pieces from several sources."""

from __future__ import annotations

from collections.abc import Collection

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
        """Append data."""
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
