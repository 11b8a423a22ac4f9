"""Line-by-line search in files, with context lines around each match.

Each file is first scanned in blocks, which excludes most files quickly. Only a file that may match is split into lines.
Binary files are skipped. A pattern is applied to a few thousand characters at a time (patterns.py explains why this
bounds its time), so a longer line is searched in pieces.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from typing import NamedTuple

from toolkit_files.answers import Match, Matches
from toolkit_files.patterns import compile_regex, compile_text
from toolkit_files.problems import Cancelled, FileProblem, quoted
from toolkit_files.reading import opened
from toolkit_files.regex_size import size_of
from toolkit_files.text import Encoding, binary_stream, choose, head, lines
from toolkit_files.walking import Entry
from toolkit_files.watch import Watch

__all__ = ["Needle", "Search"]

MAX_LINE = 400
_REGEX_PIECE = 8 << 10
_MANY_STATES = 100  # with more, a piece of full size takes tens of milliseconds
_TEXT_PIECE = 128 << 10
_LONGEST_LINE = 16 << 20
_ABSOLUTE = re.compile(r"\\[Az]|\(\?[A-Za-z]*-")  # anchors and flags that differ for a block and a line


class Needle(NamedTuple):
    """The string or pattern to search for.

    Attributes:
        in_line: a function that returns True if a line matches.
        in_block: a function that returns True if any line of a block may match.
        raw: bytes that every match in UTF-8 contains, b"" if unknown.
        piece: the number of bytes to scan at once.
        longest: the longest line that is matched as a whole.
    """

    in_line: Callable[[str], bool]
    in_block: Callable[[str], bool]
    raw: bytes
    piece: int
    longest: int

    @classmethod
    def text(cls, text: str, *, ignore_case: bool = False) -> "Needle":
        """Return a needle for a literal string. Raise FileProblem for an invalid string."""
        if not text or "\n" in text:
            raise FileProblem("text must be one line or a part of it, without line breaks.")
        if not ignore_case:
            return cls(
                lambda line: text in line,
                lambda block: text in block,
                text.encode("utf-8", "replace"),
                _TEXT_PIECE,
                _LONGEST_LINE,
            )
        matches = compile_text(text)
        return cls(matches, matches, b"", _REGEX_PIECE, _REGEX_PIECE)

    @classmethod
    def regex(cls, pattern: str, *, ignore_case: bool = False) -> "Needle":
        """Return a needle for a regular expression. Raise FileProblem for an invalid expression."""
        in_blocks = _ABSOLUTE.search(pattern) is None
        matches = compile_regex(pattern, ignore_case=ignore_case, lines=in_blocks)
        piece = _REGEX_PIECE if size_of(pattern).states <= _MANY_STATES else _REGEX_PIECE // 4
        return cls(matches, matches if in_blocks else lambda block: True, b"", piece, piece)


class Position(NamedTuple):
    """The position of a search: a line of a file, or the end of the file.

    Attributes:
        names: the file's components below the root, () for the beginning.
        line: the last searched line, -1 if the whole file was searched.
    """

    names: tuple[str, ...] = ()
    line: int = 0

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Parse a position that `str` returned, or "" for the beginning. Raise FileProblem for other strings."""
        if not text:
            return cls()
        line, colon, path = text.partition(":")
        if not colon or not path or not (line == "" or (line.isascii() and line.isdigit() and len(line) < 15)):
            raise FileProblem("resume must be the value from an earlier search. Omit it to begin.")
        return cls(tuple(path.split("/")), int(line) if line else -1)

    def __str__(self) -> str:
        """Return the position as a string for `resume`."""
        return f"{self.line if self.line >= 0 else ''}:{'/'.join(self.names)}"


_BEGINNING = Position()


class Search:
    """A search. Call `run` once."""

    def __init__(
        self, needle: Needle, watch: Watch, *, around: int, most: int, budget: int, begin: Position = _BEGINNING
    ) -> None:
        """Prepare a search.

        Args:
            needle: the string or pattern to search for.
            watch: counts lines and files.
            around: the number of lines before and after each match.
            most: the largest number of matches.
            budget: the largest number of characters.
            begin: the position at which an earlier search stopped.
        """
        self._needle = needle
        self._watch = watch
        self._around = around
        self._most = most
        self._budget = budget
        self._begin = begin
        self._found: list[Match] = []
        self._stopped: Position | None = None
        self._too_large = ""

    def run(self, entries: Iterable[Entry], fits: Callable[[Entry], bool], *, strict: bool = False) -> Matches:
        """Search the matching files of a walk, in their order.

        Raises:
            FileProblem: with `strict`, a file cannot be searched; without it, such files are skipped.
            Cancelled: the call was cancelled.
        """
        for entry in entries:
            if fits(entry) and self._begin != Position(entry.names, -1):
                self._try(entry, strict)
            if self._stopped is None and self._watch.late:
                self._stopped = Position(entry.names, -1)
            if self._stopped is not None:
                break
        result = Matches(matches=self._found, files_searched=self._watch.files)
        if self._stopped is not None:
            reason = "The time is over." if self._watch.late else "There may be more."
            result["note"] = (
                f"{reason}{self._too_large} Call again with the same arguments and this resume, or narrow the search."
            )
            result["resume"] = str(self._stopped)
        return result

    def _try(self, entry: Entry, strict: bool) -> None:
        try:
            self._file(entry)
        except Cancelled:
            raise
        except FileProblem:
            if strict:
                raise
        self._watch.file_done()

    def _file(self, entry: Entry) -> None:
        with opened(entry.place) as fd:
            encoding = choose(head(fd), "", entry.place.shown)
            stream = binary_stream(fd)
            stream.seek(len(encoding.mark))
            if self._may_match(stream, encoding, entry):
                stream.seek(len(encoding.mark))
                self._lines(stream, encoding, entry)

    def _may_match(self, stream: BufferedReader, encoding: Encoding, entry: Entry) -> bool:
        if encoding.newline != b"\n":
            return True
        for block in _blocks(stream, self._needle):
            self._watch.check()
            if self._watch.late:
                self._stop_before(entry)
                return False
            if len(block) >= self._needle.longest and b"\n" not in block:
                return True  # a line in pieces, which are cut elsewhere when it is read as a line
            if encoding.name == "utf-8" and self._needle.raw not in block:
                continue
            if self._needle.in_block(block.decode(encoding.name, "replace").replace("\r\n", "\n")):
                return True
        return False

    def _stop_before(self, entry: Entry) -> None:
        """Leave a file to the next search, unless this search began with it and it takes longer than one search."""
        if self._watch.files:
            self._stopped = Position(entry.names)
        else:
            self._too_large = f" {quoted(entry.place.shown)} is too large to be searched to its end."

    def _lines(self, stream: BufferedReader, encoding: Encoding, entry: Entry) -> None:
        done = self._begin.line if self._begin.names == entry.names else 0
        around = _Around(self._around)
        number = 1
        for raw in lines(stream, encoding, self._needle.longest, entry.place.shown):
            self._watch.step()
            line = raw.decode(encoding.name, "replace").removesuffix("\n").removesuffix("\r")
            if number > done and self._needle.in_line(line):
                if len(self._found) >= self._most or self._budget <= 0:
                    self._stopped = Position(entry.names, number - 1)
                    return
                self._found.append(around.match(entry.place.shown, number, _excerpt(line, self._needle)))
                self._budget -= len(self._found[-1]["text"])
            else:
                self._budget -= around.other_line(line)
            if self._watch.late:
                if number <= done:
                    self._stop_before(entry)
                else:
                    self._stopped = Position(entry.names, number)
                return
            number += raw.endswith(encoding.newline)


class _Around:
    """The context lines around matches, without duplicates."""

    def __init__(self, count: int) -> None:
        self._before: deque[str] = deque(maxlen=count)
        self._count = count
        self._match: Match | None = None

    def match(self, path: str, number: int, text: str) -> Match:
        self._match = Match(path=path, line=number, text=text)
        if self._before:
            self._match["before"] = list(self._before)
            self._before.clear()
        return self._match

    def other_line(self, line: str) -> int:
        """Handle a line that does not match. Return the number of characters added to the last match."""
        if not self._count:
            return 0
        text = _cut(line)
        if self._match is not None:
            after = self._match.setdefault("after", [])
            if len(after) < self._count:
                after.append(text)
                return len(text)
            self._match = None
        self._before.append(text)
        return 0


def _blocks(stream: BufferedReader, needle: Needle) -> Iterator[bytes]:
    """Return blocks of whole lines; a line that is too long is cut."""
    carry = b""
    while data := stream.read(needle.piece):
        data = carry + data
        cut = data.rfind(b"\n") + 1
        if not cut and len(data) < needle.longest:
            carry = data
            continue
        block, carry = (data[:cut], data[cut:]) if cut else (data, b"")
        yield block
    if carry:
        yield carry


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + "..."


def _excerpt(line: str, needle: Needle) -> str:
    """Shorten a long line to the part around its first match, which ends at the given position."""
    if len(line) <= MAX_LINE:
        return line
    end = bisect_left(range(len(line)), True, key=lambda at: needle.in_line(line[:at]))
    start = max(0, min(end - MAX_LINE // 2, len(line) - MAX_LINE))
    stop = start + MAX_LINE
    return ("..." if start else "") + line[start:stop] + ("..." if stop < len(line) else "")
