"""Reading one file: text by lines or by offset, and bytes.

Text is returned as a plain string. Inside JSON every line end and quote would be escaped, which costs tokens and makes
exact edits fail. Further facts are in a last line in brackets.
"""

import os
from binascii import b2a_base64
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import NamedTuple

from toolkit_files.answers import Bytes
from toolkit_files.problems import FileProblem, explain, quoted
from toolkit_files.roots import Place, parent, regular_file
from toolkit_files.text import MAX_WIDE, Encoding, binary_stream, choose, decode, decode_part, head, lines
from toolkit_files.watch import Watch

__all__ = ["opened", "read_bytes", "read_lines", "read_window"]


@contextmanager
def opened(place: Place) -> Iterator[int]:
    """Open a regular file for reading and close it at the end. Convert every error into FileProblem."""
    with parent(place) as above:
        fd = regular_file(above, place)
    try:
        yield fd
    except OSError as error:
        raise explain(error, place.shown) from None
    finally:
        os.close(fd)


def read_bytes(place: Place, offset: int, length: int) -> Bytes:
    """Read `length` bytes from `offset` on, fewer at the end of the file."""
    with opened(place) as fd:
        data = _pread(fd, length, offset)
        size = max(os.fstat(fd).st_size, offset + len(data) if data else 0)  # files of /proc say 0
    if offset > size:
        raise FileProblem(
            f"Offset {offset} is not within the {size} bytes of {quoted(place.shown)}: use a smaller offset."
        )
    encoded = b2a_base64(data, newline=False).decode()
    result = Bytes(path=place.shown, offset=offset, length=len(data), size=size, data=encoded)
    if offset + len(data) < size:
        result["next_offset"] = offset + len(data)
    return result


def _pread(fd: int, length: int, offset: int) -> bytes:
    parts: list[bytes] = []
    while length > 0 and (part := os.pread(fd, min(length, 1 << 20), offset)):
        parts.append(part)
        length -= len(part)
        offset += len(part)
    return b"".join(parts)


def read_window(place: Place, offset: int, encoding: str, budget: int) -> str:
    """Read at most `budget` bytes of text from a byte offset. Cut between characters."""
    with opened(place) as fd:
        chosen = choose(head(fd), encoding, place.shown)
        offset = max(offset - offset % chosen.unit, len(chosen.mark))
        data = _pread(fd, budget, offset)
        if chosen.name == "utf-8":
            skipped = next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
            offset, data = offset + skipped, data[skipped:]
        size = max(os.fstat(fd).st_size, offset + len(data) if data else 0)
    if not data:
        raise FileProblem(
            f"Offset {offset} is not within the {size} bytes of {quoted(place.shown)}: use a smaller offset."
        )
    text, used = decode_part(data, chosen, offset, place.shown, final=offset + len(data) >= size)
    end = offset + used
    rest = f" of {size}. Continue with offset={end}." if end < size else ", the end of the file."
    return _with_note(_shown(text), f"Bytes {offset} to {end}{rest}")


class _Taken(NamedTuple):
    """Selected lines, the number and the file offset of the first line, and a note about omitted lines."""

    first: int
    offset: int
    raw: list[bytes]
    note: str = ""


def read_lines(
    place: Place, wanted: tuple[int, int | None], encoding: str, budget: int, watch: Watch, *, numbers: bool = False
) -> str:
    """Read lines of a file, at most `budget` bytes.

    `wanted` has the numbers of the first and the last line. Line numbers start at 1. None as last number means the end
    of the file. A negative first number counts from the end of the file: -1 is the last line.

    Raises:
        FileProblem: the lines do not exist, or are not text in this encoding.
    """
    start, end = wanted
    if start == 0 or (end is not None and (start < 0 or end < start)):
        raise FileProblem(
            "Invalid line range: start_line must not be 0, and end_line must not be before start_line. "
            "Omit end_line if start_line is negative."
        )
    with opened(place) as fd:
        chosen = choose(head(fd), encoding, place.shown)
        if start < 0:
            taken = _last(fd, chosen, -start, budget, place.shown, watch)
        else:
            taken = _range(fd, chosen, wanted, budget, place.shown, watch)
    text = _shown(decode(b"".join(taken.raw), chosen, taken.offset, place.shown))
    if numbers:
        text = _numbered(text, taken.first)
    return _with_note(text, taken.note)


def _range(fd: int, encoding: Encoding, wanted: tuple[int, int | None], budget: int, path: str, watch: Watch) -> _Taken:
    start, end = wanted
    stream = binary_stream(fd)
    position = begin = stream.seek(len(encoding.mark))
    number, room = 1, budget
    raw: list[bytes] = []
    # with this limit, a longer line is never taken for a line that fits
    for piece in lines(stream, encoding, budget // 4 * 4 + 4, path):
        watch.step()
        if number >= start:
            if end is not None and number > end:
                break
            if len(piece) > room:
                return _cut(_Taken(start, begin, raw), piece[:room], number, encoding, os.fstat(fd).st_size, path)
            raw.append(piece)
            room -= len(piece)
        position += len(piece)
        if not raw:
            begin = position
        number += piece.endswith(encoding.newline)
    if position == len(encoding.mark):
        return _Taken(start, begin, raw, "The file is empty.")
    if not raw:
        count = number - 1 if _ends_line(fd, position, encoding) else number
        raise FileProblem(f"{quoted(path)} has {count} lines: line {start} does not exist.")
    return _Taken(start, begin, raw)


def _cut(taken: _Taken, piece: bytes, number: int, encoding: Encoding, size: int, path: str) -> _Taken:
    """Return a note that states how to read the rest: from a line, or from an offset inside a long line."""
    if taken.raw:
        range_ = f"Lines {taken.first} to {number - 1} of a file of {size} bytes."
        return taken._replace(note=f"{range_} Continue with start_line={number}.")
    _, used = decode_part(piece, encoding, taken.offset, path, final=False)
    part = f"The beginning of line {number}, which is too long for one answer."
    return taken._replace(raw=[piece[:used]], note=f"{part} Continue with offset={taken.offset + used}.")


def _ends_line(fd: int, position: int, encoding: Encoding) -> bool:
    return os.pread(fd, encoding.unit, position - encoding.unit) == encoding.newline


def _last(fd: int, encoding: Encoding, count: int, budget: int, path: str, watch: Watch) -> _Taken:
    mark, size = len(encoding.mark), os.fstat(fd).st_size
    begin = max(mark, size - budget) if encoding.newline == b"\n" else mark
    number = 1 + _newlines(fd, mark, begin, watch)
    pieces = list(lines(BytesIO(_pread(fd, size - begin, begin)), encoding, MAX_WIDE, path))
    if not pieces:
        return _Taken(1, mark, [], "The file is empty.")
    skip = 1 if begin > mark and not _ends_line(fd, begin, encoding) else 0  # it began before what was read
    skip = max(skip, len(pieces) - count)
    while sum(map(len, pieces[skip:])) > budget:
        skip += 1
    if skip == len(pieces):
        raise FileProblem(
            f"The last line of {quoted(path)} is too long for one result: read it with offset={size - budget}."
        )
    first, last = number + skip, number + len(pieces) - 1
    short = len(pieces) - skip < count and first > 1
    note = f"Lines {first} to {last}, the end of the file; more did not fit." if short else ""
    return _Taken(first, begin + sum(map(len, pieces[:skip])), pieces[skip:], note)


def _newlines(fd: int, begin: int, end: int, watch: Watch) -> int:
    count = 0
    while begin < end and (block := os.pread(fd, min(1 << 20, end - begin), begin)):
        watch.check()
        count += block.count(b"\n")
        begin += len(block)
    return count


def _shown(text: str) -> str:
    return text.replace("\r\n", "\n")


def _numbered(text: str, first: int) -> str:
    whole = text.removesuffix("\n")
    numbered = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(whole.split("\n"), first))
    return numbered + text[len(whole) :] if text else ""


def _with_note(text: str, note: str) -> str:
    if not note:
        return text
    return text + ("" if not text or text.endswith("\n") else "\n") + f"[{note}]"
