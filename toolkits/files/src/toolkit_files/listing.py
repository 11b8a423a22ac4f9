"""Entries of directories, names that match a glob, and details of one entry."""

import os
from collections.abc import Callable
from stat import filemode
from time import gmtime, strftime
from typing import TypeAlias, TypeVar

from toolkit_files.answers import Details, Found, Item, Listed
from toolkit_files.patterns import compile_glob
from toolkit_files.problems import FileProblem
from toolkit_files.reading import opened
from toolkit_files.roots import Kind, Place, directory, entries, kind_of, look, parent
from toolkit_files.text import choose, decode_part, head
from toolkit_files.walking import MAX_DEPTH, Entry, Parents, Walk

__all__ = ["Fits", "details", "find", "fitting", "left_out", "list_directory", "when"]

T = TypeVar("T")
Fits: TypeAlias = Callable[[Entry], bool]
"""A function that returns True for entries of a walk to include."""


def when(seconds: float) -> str:
    """Return a time of the file system in UTC, ISO 8601."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))


def list_directory(walk: Walk, pattern: str, limit: int) -> Listed:
    """Return at most `limit` entries of a walk that match the glob `pattern` ("" for all)."""
    result = Listed(entries=[])
    with Parents() as parents:
        resume = _collect(walk, fitting(walk, pattern), lambda entry: _item(parents, entry), result["entries"], limit)
    if resume:
        result["resume"] = resume
    if note := _note(walk, bool(resume), limit):
        result["note"] = note
    return result


def find(walk: Walk, fits: Fits, limit: int) -> Found:
    """Return the paths of at most `limit` matching entries of a walk."""
    result = Found(paths=[])
    resume = _collect(walk, fits, _path, result["paths"], limit)
    if resume:
        result["resume"] = resume
    if note := _note(walk, bool(resume), limit):
        result["note"] = note
    return result


def fitting(walk: Walk, pattern: str, *, ignore_case: bool = False, kind: Kind | None = None) -> Fits:
    """Return a filter for entries whose path below the start of the walk matches the glob `pattern` ("" for all)."""
    matches = compile_glob(pattern, ignore_case=ignore_case) if pattern else lambda path: True
    depth = len(walk.start.parts)
    return lambda entry: kind in (None, entry.kind) and matches("/".join(entry.names[depth:]))


def _collect(walk: Walk, fits: Fits, make: Callable[[Entry], T | None], into: list[T], limit: int) -> str:
    """Collect matching entries. Return the position to resume from, "" at the end of the walk."""
    last: tuple[str, ...] = ()
    for entry in walk:
        if fits(entry):
            if len(into) == limit:
                return "/".join(last)
            if (item := make(entry)) is not None:
                into.append(item)
        last = entry.names
        if walk.watch.late:
            return "/".join(last)
    return ""


def _path(entry: Entry) -> str:
    return entry.place.shown + ("/" if entry.kind == "directory" else "")


def _note(walk: Walk, more: bool, limit: int) -> str:
    parts = []
    if more:
        reason = "The time is over." if walk.watch.late else f"These are {limit}; there are more."
        parts.append(f"{reason} Call again with the same arguments and this resume.")
    return " ".join([*parts, *left_out(walk)])


def left_out(walk: Walk) -> list[str]:
    """Return notes about entries that a walk could not read."""
    parts = []
    if walk.unreadable:
        parts.append(f"Directories that could not be read: {walk.unreadable}.")
    if walk.too_deep:
        parts.append(f"Entries more than {MAX_DEPTH} directories down were left out.")
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
    """Return the details of one entry. A link is not followed."""
    with parent(place) as above:
        status = look(above, place)
    result = Details(
        path=place.shown,
        type=kind_of(status),
        modified=when(status.st_mtime),
        permissions=filemode(status.st_mode),
    )
    if result["type"] == "file":
        result["size"] = status.st_size
        _describe_content(place, result)
    elif result["type"] == "directory":
        with directory(place) as fd, entries(fd, place) as children:
            result["entries"] = sum(1 for _ in children)
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
