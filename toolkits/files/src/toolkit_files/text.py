"""Text in files: encodings and line ends. The functions read open descriptors."""

import codecs
import os
from collections.abc import Iterator
from io import BufferedIOBase, BufferedReader, FileIO
from typing import NamedTuple

from toolkit_files.problems import FileProblem, quoted

__all__ = [
    "HEAD",
    "MAX_WIDE",
    "Encoding",
    "binary_stream",
    "choose",
    "choose_new",
    "decode",
    "decode_part",
    "encode",
    "head",
    "lines",
]

HEAD = 8192
MAX_WIDE = 64 << 20
_MARKS = (  # the longer marks first: that of UTF-32-LE begins like that of UTF-16-LE
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNITS = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
_DEFAULT_ORDER = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
_NOT_FOR_TEXT = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7", "mbcs", "oem"}


class Encoding(NamedTuple):
    """The encoding of a file: codec, byte order mark, and the size of one code unit in bytes."""

    name: str
    mark: bytes = b""
    unit: int = 1

    @property
    def newline(self) -> bytes:
        """A line feed in this encoding."""
        return "\n".encode(self.name)


def choose(start: bytes, requested: str, path: str) -> Encoding:
    """Return the encoding of a file: the requested encoding (if not ""), else from its byte order mark, else UTF-8.

    Raises:
        FileProblem: the encoding is unknown, or the bytes are not text.
    """
    mark, marked = next(((mark, name) for mark, name in _MARKS if start.startswith(mark)), (b"", ""))
    if not requested:
        if not marked and b"\0" in start:
            raise _binary(start, path)
        name = marked or "utf-8"
    else:
        name = _canonical(requested)
        if marked and _family(name, marked):
            name = marked
        else:
            mark = b""
            name = _DEFAULT_ORDER.get(name, name)
    return Encoding(name, mark, _UNITS.get(name, 1))


def choose_new(requested: str) -> Encoding:
    """Return the encoding of a new file: `requested` or UTF-8, with a byte order mark if it is usual."""
    name = _canonical(requested) if requested else "utf-8"
    ordered = _DEFAULT_ORDER.get(name, name)
    mark = next(mark for mark, marked in _MARKS if marked == ordered) if name in _DEFAULT_ORDER else b""
    return Encoding(ordered, mark, _UNITS.get(ordered, 1))


def _family(name: str, marked: str) -> bool:
    return marked == name or _DEFAULT_ORDER.get(name, "").startswith(marked.rpartition("-")[0])


def _canonical(requested: str) -> str:
    try:
        name = codecs.lookup(requested[:40]).name
        "\n".encode(name)
    except (LookupError, ValueError, UnicodeError):
        name = "undefined"
    if name.replace("_", "-") in _NOT_FOR_TEXT:
        raise FileProblem(
            f"{quoted(requested, 40)} is not a text encoding. "
            "Common ones are utf-8, utf-16, latin-1, cp1252, shift_jis and gb18030."
        )
    return name


def _binary(start: bytes, path: str) -> FileProblem:
    odd, even = start[1::2].count(0), start[::2].count(0)
    if len(start) >= 8 and max(odd, even) * 3 > len(start) and min(odd, even) * 20 < len(start):
        guess = "utf-16-le" if odd > even else "utf-16-be"
        return FileProblem(f"{quoted(path)} looks like UTF-16 without a byte order mark: try encoding='{guess}'.")
    return FileProblem(
        f"{quoted(path)} is not text because it contains NUL bytes: read it as binary, or set its encoding."
    )


def head(fd: int) -> bytes:
    """Read the first bytes of a file, independent of its position."""
    return os.pread(fd, HEAD, 0)


def binary_stream(fd: int) -> BufferedReader:
    """Return a stream that reads a descriptor from its beginning. The caller must close the descriptor."""
    return BufferedReader(FileIO(fd, closefd=False), 1 << 16)


def lines(stream: BufferedIOBase, encoding: Encoding, limit: int, path: str) -> Iterator[bytes]:
    """Return the lines from the stream's position, with their line ends.

    A line longer than `limit` bytes (a multiple of 4) is returned in pieces. Only the last piece ends with the
    encoding's newline.
    """
    if encoding.newline == b"\n":
        while piece := stream.readline(limit):
            yield piece
        return
    data = stream.read(MAX_WIDE + 1)
    if len(data) > MAX_WIDE:
        raise FileProblem(f"{quoted(path)} is too large to be read by lines in {encoding.name}: read it by offset.")
    *whole, rest = decode(data, encoding, 0, path).split("\n")
    for line in [*(text + "\n" for text in whole), rest]:
        raw = line.encode(encoding.name)
        yield from (raw[at : at + limit] for at in range(0, len(raw), limit))


def decode(data: bytes, encoding: Encoding, offset: int, path: str) -> str:
    """Decode bytes that begin at `offset` of the file.

    Raises:
        FileProblem: the bytes are invalid; the message names the place and another encoding.
    """
    return decode_part(data, encoding, offset, path, final=True)[0]


def decode_part(data: bytes, encoding: Encoding, offset: int, path: str, *, final: bool) -> tuple[str, int]:
    """Decode bytes. Unless `final`, omit an incomplete last character. Return the text and the bytes used."""
    decoder = codecs.getincrementaldecoder(encoding.name)("strict")
    try:
        text = decoder.decode(data, final)
    except UnicodeDecodeError as error:
        where = f"byte 0x{data[error.start]:02x} at offset {offset + error.start}"
        others = "encoding='cp1252' or 'latin-1' for Western text" if encoding.name == "utf-8" else "another encoding"
        raise FileProblem(
            f"{quoted(path)} is not valid {encoding.name} ({where}). Try {others}, or read it as binary."
        ) from None
    return text, len(data) - len(decoder.getstate()[0])


def encode(text: str, encoding: Encoding) -> bytes:
    """Encode text without a byte order mark.

    Raises:
        FileProblem: a character does not exist in this encoding.
    """
    try:
        return text.encode(encoding.name)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise FileProblem(f"{encoding.name} cannot encode {character!a}: omit this character, or use utf-8.") from None
