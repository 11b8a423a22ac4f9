"""The end of a long log, read in pieces. Only the requested lines are stored. The module does no I/O."""

import re
from collections import deque

__all__ = ["Tail"]

_NOISE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\ufeff")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?")
_LONGEST_LINE = 65_536


class Tail:
    """The last lines of a log, or its last lines that contain a string, with surrounding lines.

    Attributes:
        size: the number of bytes read.
        total: the number of lines read.
    """

    def __init__(self, lines: int, contains: str, around: int, max_chars: int) -> None:
        """Store at most `lines` lines and `max_chars` characters."""
        self.size = 0
        self.total = 0
        self._wanted = contains.casefold()
        self._before: deque[str] = deque(maxlen=around)
        self._around = around
        self._after = 0
        self._kept: deque[str] = deque(maxlen=lines)
        self._max_chars = max_chars
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Handle the next bytes of the log."""
        self.size += len(chunk)
        *lines, rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._take(line)
        while len(rest) > _LONGEST_LINE:
            self._take(rest[:_LONGEST_LINE])
            rest = rest[_LONGEST_LINE:]
        self._rest = rest

    def end(self) -> tuple[str, int]:
        """Return the stored lines as a string, and their number."""
        if self._rest:
            self._take(self._rest)
            self._rest = bytearray()
        kept: deque[str] = deque()
        budget = self._max_chars
        for line in reversed(self._kept):
            if len(line) + 1 > budget:
                if not kept:
                    kept.appendleft(line[-budget:])
                break
            budget -= len(line) + 1
            kept.appendleft(line)
        return "\n".join(kept), len(kept)

    def _take(self, raw: bytes | bytearray) -> None:
        self.total += 1
        line = _TIME.sub("", _NOISE.sub("", raw.decode(errors="replace")), count=1).rstrip("\r")
        if not self._wanted:
            self._kept.append(line)
        elif self._wanted in line.casefold():
            self._kept.extend(self._before)
            self._before.clear()
            self._kept.append(line)
            self._after = self._around
        elif self._after:
            self._after -= 1
            self._kept.append(line)
        else:
            self._before.append(line)
