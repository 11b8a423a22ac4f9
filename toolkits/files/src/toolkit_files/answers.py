"""The types of the answers of tools, and the modes of writing."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from toolkit_files.roots import Kind

Mode = Literal["create", "overwrite", "append"]


class RootsAnswer(TypedDict):
    """The directories that the tools may use; paths are relative to the first."""

    roots: list[str]
    writable: bool


class Item(TypedDict):
    """One entry: `size` in bytes for files, `modified` in UTC (ISO 8601)."""

    path: str
    type: Kind
    size: NotRequired[int]
    modified: NotRequired[str]


class Listed(TypedDict):
    """Entries sorted by name. Pass `resume` to the same tool for the next part."""

    entries: list[Item]
    note: NotRequired[str]
    resume: NotRequired[str]


class Found(TypedDict):
    """Sorted paths; directories end with `/`. Pass `resume` to the same tool for the next part."""

    paths: list[str]
    note: NotRequired[str]
    resume: NotRequired[str]


class Details(TypedDict):
    """The details of one file or directory.

    `binary`, `encoding` and `line_ends` come from the beginning of a file. A file without encoding that is not binary
    is text in an unknown encoding. `entries` is the number of entries of a directory.
    """

    path: str
    type: Kind
    modified: str
    permissions: str
    size: NotRequired[int]
    binary: NotRequired[bool]
    encoding: NotRequired[str]
    line_ends: NotRequired[str]
    entries: NotRequired[int]


class Match(TypedDict):
    """A matching line: its number from 1, its text without line end, and lines around it that no other match has."""

    path: str
    line: int
    text: str
    before: NotRequired[list[str]]
    after: NotRequired[list[str]]


class Matches(TypedDict):
    """Matches sorted by path and line. Pass `resume` to the same tool for the next part."""

    matches: list[Match]
    files_searched: int
    note: NotRequired[str]
    resume: NotRequired[str]


class Bytes(TypedDict):
    """A range of a file.

    `offset`, `length` and `size` (of the whole file) are in bytes; `data` is base64 (RFC 4648 section 4); `next_offset`
    is the position of the rest, absent at the end.
    """

    path: str
    offset: int
    length: int
    size: int
    data: str
    next_offset: NotRequired[int]


class Written(TypedDict):
    """A written file; `size` is its new size in bytes."""

    path: str
    action: Literal["created", "overwritten", "appended"]
    size: int


class Edited(TypedDict):
    """Replacements: their number, and the line (from 1) of the first."""

    path: str
    replacements: int
    line: int


class MadeDirectory(TypedDict):
    """The directory; `created` is true if it is new."""

    path: str
    created: bool


class Moved(TypedDict):
    """The old and the new path of a moved entry."""

    path: str
    to: str
    type: Literal["file", "directory"]


class Deleted(TypedDict):
    """A deleted entry; `count` includes everything in a directory."""

    path: str
    type: Literal["file", "directory"]
    count: int
