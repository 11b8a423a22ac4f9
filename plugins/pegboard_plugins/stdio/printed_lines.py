"""Makes lines that are fit for a log of output that comes in pieces from several sources. It neither reads nor logs."""

from __future__ import annotations

from collections.abc import Collection

MAX_LINE_BYTES = 2000
"""What is kept of a line; of the rest only the size is told."""


class PrintedLine:
    """A line that was printed.

    Attributes:
        names: the tools it may come from.
        head: its beginning, `LINE_BYTES` at most.
        size: all its bytes.
    """

    __slots__ = ("head", "names", "size")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.head = b""
        self.size = 0

    def extend(self, data: bytes) -> None:
        """Append to it."""
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
    """The lines of every source that are not complete yet."""

    def __init__(self) -> None:
        self._open: dict[object, PrintedLine] = {}

    def add(self, source: object, names: tuple[str, ...], data: bytes) -> list[PrintedLine]:
        """The lines that a piece of output completes; empty ones do not count."""
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
        """The incomplete lines of tools that do not run any more."""
        over = [source for source, line in self._open.items() if not any(name in running for name in line.names)]
        return [self._open.pop(source) for source in over]
