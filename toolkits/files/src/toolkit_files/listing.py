"""What there is: entries of directories, names found by a glob, what one thing is. Content is only glanced at."""

import os
from collections.abc import Iterator
from stat import filemode
from time import gmtime, strftime
from typing import NotRequired

from typing_extensions import TypedDict

from toolkit_files.patterns import Matcher, compile_glob
from toolkit_files.problems import FileProblem
from toolkit_files.reading import opened
from toolkit_files.roots import Kind, Place, directory, entries, kind_of, look, parent
from toolkit_files.text import choose, decode_part, head
from toolkit_files.walking import MAX_DEPTH, Entry, Parents, Walk

__all__ = ["Details", "Found", "Item", "Listed", "chosen", "details", "find", "left_out", "list_directory", "when"]


class Item(TypedDict):
    """One entry: `size` in bytes for files, `modified` in UTC (ISO 8601)."""

    path: str
    type: Kind
    size: NotRequired[int]
    modified: NotRequired[str]


class Listed(TypedDict):
    """Entries in the order of their names; `resume` gives the next part to the same tool."""

    entries: list[Item]
    note: NotRequired[str]
    resume: NotRequired[str]


class Found(TypedDict):
    """Paths in order, those of directories with a `/` at the end; `resume` gives the next part to the same tool."""

    paths: list[str]
    note: NotRequired[str]
    resume: NotRequired[str]


class Details(TypedDict):
    """What one file or directory is.

    `binary`, `encoding` and `line_ends` are what the beginning of a file shows; one that is neither binary nor has an
    encoding is text in none that can be told. `entries` counts what a directory holds.
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


def when(seconds: float) -> str:
    """Give a time of the file system in UTC, ISO 8601."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))


def list_directory(walk: Walk, pattern: str, limit: int) -> Listed:
    """List what a walk meets and the glob `pattern` ("" for everything) matches, at most `limit` entries."""
    result = Listed(entries=[])
    last: tuple[str, ...] = ()
    with Parents() as parents:
        for entry in chosen(walk, pattern):
            if len(result["entries"]) == limit:
                result["resume"] = "/".join(last)
                break
            if item := _item(parents, entry):
                result["entries"].append(item)
                last = entry.names
    if note := _note(walk, limit if "resume" in result else 0):
        result["note"] = note
    return result


def find(walk: Walk, matches: Matcher, kind: Kind | None, limit: int) -> Found:
    """Find what a walk meets whose path below its start matches, at most `limit` paths."""
    result = Found(paths=[])
    last: tuple[str, ...] = ()
    for entry in walk:
        if kind in (None, entry.kind) and matches(_path_below(walk, entry)):
            if len(result["paths"]) == limit:
                result["resume"] = "/".join(last)
                break
            result["paths"].append(entry.place.shown + ("/" if entry.kind == "directory" else ""))
        last = entry.names
        if walk.watch.late:
            result["resume"] = "/".join(last)
            break
    if note := _note(walk, len(result["paths"]) if "resume" in result else 0):
        result["note"] = note
    return result


def chosen(walk: Walk, pattern: str) -> Iterator[Entry]:
    """Give the entries of a walk whose path below its start matches the glob `pattern`, all for ""."""
    matches = compile_glob(pattern) if pattern else None
    return (entry for entry in walk if matches is None or matches(_path_below(walk, entry)))


def _path_below(walk: Walk, entry: Entry) -> str:
    return "/".join(entry.names[len(walk.start.parts) :])


def _note(walk: Walk, limit: int) -> str:
    parts = []
    if walk.watch.late:
        parts.append("The time is over. Call again with the same arguments and this resume.")
    elif limit:
        parts.append(f"These are {limit}; there are more. Call again with the same arguments and this resume.")
    return " ".join([*parts, *left_out(walk)])


def left_out(walk: Walk) -> list[str]:
    """Say, in sentences, what a walk could not look at."""
    parts = []
    if walk.unreadable:
        parts.append(f"Directories that could not be read: {walk.unreadable}.")
    if walk.too_deep:
        parts.append(f"What is more than {MAX_DEPTH} directories down was left out.")
    return parts


def _item(parents: Parents, entry: Entry) -> Item | None:
    try:
        status = os.stat(entry.place.name, dir_fd=parents.of(entry.place), follow_symlinks=False)
    except (OSError, FileProblem):
        return None  # it is gone
    item = Item(path=entry.place.shown, type=kind_of(status))
    if item["type"] == "file":
        item["size"] = status.st_size
    item["modified"] = when(status.st_mtime)
    return item


def details(place: Place) -> Details:
    """Say what one place is; a link is described, not followed."""
    with parent(place) as above:
        status = look(above, place)
    times_and_rights = when(status.st_mtime), filemode(status.st_mode)
    result = Details(
        path=place.shown, type=kind_of(status), modified=times_and_rights[0], permissions=times_and_rights[1]
    )
    if result["type"] == "file":
        result["size"] = status.st_size
        _describe_content(place, result)
    elif result["type"] == "directory":
        with directory(place) as fd, entries(fd, place) as found:
            result["entries"] = sum(1 for _ in found)
    return result


def _describe_content(place: Place, result: Details) -> None:
    with opened(place) as fd:
        start = head(fd)
    try:
        encoding = choose(start, "", place.shown)
        text, _ = decode_part(start[len(encoding.mark) :], encoding, 0, place.shown, final=False)
    except FileProblem:
        result["binary"] = b"\0" in start
        return
    result["binary"] = False
    result["encoding"] = encoding.name
    if "\n" in text:
        pairs = text.count("\r\n")
        result["line_ends"] = "crlf" if pairs == text.count("\n") else "mixed" if pairs else "lf"
