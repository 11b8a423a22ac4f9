"""Paths below configured roots: from a caller's path to an open descriptor.

A path is split as a string and then opened component by component, each relative to the descriptor before it (`openat`)
and never through a symbolic link. The checked file and the used file are the same open descriptor. If a directory is
replaced by a link between two steps, the path is rejected.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

from toolkit_files.closed import ClosedEntries, Views
from toolkit_files.patterns import Globs
from toolkit_files.problems import FileProblem, explain, printable, quoted

__all__ = ["Kind", "Place", "Root", "Roots", "directory", "entries", "kind_of", "look", "parent", "regular_file"]

Kind = Literal["file", "directory", "symlink", "other"]

if os.open not in os.supports_dir_fd:
    raise ImportError("toolkit-files requires Linux, macOS or another Unix that opens files relative to a directory")

MAX_PATH = 4096
_ONLY_WALK: int = getattr(os, "O_PATH", os.O_RDONLY)  # walking needs no permission to list
_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OTHER = "{} is a device, pipe or socket; only files and directories can be used."
_LINK = "{} is a symbolic link; links are not followed."


class Root(NamedTuple):
    """A directory that contains all accessible files. Links in its path were resolved once, when the host started.

    Attributes:
        parts: the components of its resolved, absolute path.
        spelt: the components of the configured path, made absolute.
        first: True if relative paths begin at this root.
        closes: a function that returns True for a place that the operator closed.
    """

    parts: tuple[str, ...]
    spelt: tuple[str, ...]
    first: bool
    closes: Callable[["Place"], bool]

    @property
    def path(self) -> str:
        """The resolved path."""
        return "/" + "/".join(self.parts)


class Place(NamedTuple):
    """A path at or below a root: the root and the components below it. The entry may be missing."""

    root: Root
    parts: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The path for callers: relative below the first root, absolute below other roots."""
        if self.root.first:
            return printable("/".join(self.parts)) or "."
        return printable("/" + "/".join(self.root.parts + self.parts))

    @property
    def name(self) -> str:
        """The last component, or "" for a root."""
        return self.parts[-1] if self.parts else ""

    @property
    def above(self) -> "Place":
        """The directory that contains this place."""
        return Place(self.root, self.parts[:-1])

    def below(self, name: str) -> "Place":
        """Return the place of `name` in this directory."""
        return Place(self.root, (*self.parts, name))


class Roots:
    """The roots of one host, and the closed entries below them. Immutable."""

    def __init__(
        self, paths: Sequence[str], *, deny: Sequence[str] = (), allow: Sequence[str] = (), protect: Sequence[str] = ()
    ) -> None:
        """Resolve the roots, relative to the working directory. Raise OSError for a missing root."""
        roots_by_parts: dict[tuple[str, ...], Root] = {}
        for path in paths:
            spelt = os.path.abspath(os.path.expanduser(path))
            parts = _components(os.path.realpath(spelt, strict=True))
            roots_by_parts.setdefault(
                parts, Root(parts, _components(spelt), first=not roots_by_parts, closes=self.closes)
            )
        self.all = tuple(roots_by_parts.values())
        self._tops = {parts: _printed(parts) for parts in roots_by_parts}
        self._closed = ClosedEntries(deny, allow)
        self._protected = Globs(protect)

    def locate(self, path: str) -> Place:
        """Split a caller's path without reading the file system.

        Raises:
            FileProblem: the path is not below a root, or is closed.
        """
        parts = _checked(path)
        place = self._absolute(path, parts) if path.startswith("/") else Place(self.all[0], parts)
        self.admit(place)
        return place

    def locate_for_change(self, path: str) -> Place:
        """Split the path of an entry to change. Roots and protected entries are rejected."""
        place = self.locate(path)
        whole = place.root.parts + place.parts
        if any(root.parts[: len(whole)] == whole for root in self.all):
            raise FileProblem(f"{quoted(place.shown)} is a root of these tools or contains one: use a path below it.")
        if self.protects(place):
            raise FileProblem(
                f"{quoted(place.shown)} is protected by the host's settings: it can be read but not changed.",
                correctable=False,
            )
        return place

    def admit(self, place: Place) -> None:
        """Raise FileProblem for a closed path."""
        if self.closes(place):
            raise FileProblem(
                f"{quoted(place.shown)} is closed to these tools by the host's settings; "
                "the operator can reopen it with `allow` in [toolkits.files].",
                correctable=False,
            )

    def closes(self, place: Place) -> bool:
        """Return True if the operator closed a place or a directory above it."""
        whole = self._whole(place.root, _printed(place.parts))
        return self._closed.closes(self._views(whole[:end]) for end in range(len(whole), 0, -1))

    def closes_last(self, above: Place, names: tuple[str, ...]) -> bool:
        """Return True if the operator closed an entry. The directories above it must be open."""
        return self._closed.closes_last(self._views(self._whole(above.root, names)))

    def protects_last(self, above: Place, names: tuple[str, ...]) -> bool:
        """Return True if the operator protects an entry of an unprotected directory."""
        return self._protected.match_last(*self._views(self._whole(above.root, names)).inside)

    def protects(self, place: Place) -> bool:
        """Return True if the operator protects a place."""
        views = self._views(self._whole(place.root, _printed(place.parts)))
        return any(map(self._protected.match, views.inside))

    def _whole(self, root: Root, names: tuple[str, ...]) -> tuple[str, ...]:
        return self._tops[root.parts] + names

    def _views(self, whole: tuple[str, ...]) -> Views:
        tops = self._tops.values()
        return Views(
            tuple(whole[len(top) :] for top in tops if len(top) < len(whole) and whole[: len(top)] == top), whole
        )

    def _absolute(self, path: str, parts: tuple[str, ...]) -> Place:
        prefixes = [
            (start, root) for root in self.all for start in (root.parts, root.spelt) if parts[: len(start)] == start
        ]
        if not prefixes:
            raise FileProblem(f"{quoted(path)} is outside the directories of these tools. {self.described()}")
        start, root = max(prefixes, key=lambda pair: len(pair[0]))
        return Place(root, parts[len(start) :])

    def described(self) -> str:
        """Return a sentence that names the roots."""
        first, *others = (quoted(printable(root.path)) for root in self.all)
        more = f" Absolute paths below {' or '.join(others)} work too." if others else ""
        return f"Give paths relative to {first}.{more}"


def _printed(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(printable, parts))


def _components(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


def _checked(path: str) -> tuple[str, ...]:
    """Return the components of a path. Reject `..`, `~` and unusual characters. Percent signs are literal."""
    if "\0" in path:
        raise FileProblem("A path must not contain a NUL character.")
    if len(path) > MAX_PATH:
        raise FileProblem(f"A path must have at most {MAX_PATH} characters.")
    if "\\" in path:
        raise FileProblem(f"{quoted(path)} contains a backslash: use / between names.")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise FileProblem(f"{quoted(path)} is not valid Unicode.") from None
    parts = _components(path)
    if ".." in parts:
        raise FileProblem(f"{quoted(path)} contains '..', which is not allowed: write the path from the root down.")
    if path == "~" or (path.startswith("~") and "/" in path):
        raise FileProblem(
            f"{quoted(path)} begins with '~', which has no meaning here: write the path from the root down."
        )
    return parts


def kind_of(status: os.stat_result) -> Kind:
    """Return the kind of an entry."""
    if stat.S_ISREG(status.st_mode):
        return "file"
    if stat.S_ISDIR(status.st_mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(status.st_mode) else "other"


@contextmanager
def directory(place: Place, *, create: bool = False) -> Iterator[int]:
    """Open a directory for relative access (`dir_fd`), and close it at the end. `create` creates it first.

    Raises:
        FileProblem: the directory does not exist, or a component of its path is a link or not a directory.
    """
    fd = _open_root(place.root)
    try:
        for count in range(1, len(place.parts) + 1):
            step = _enter(fd, Place(place.root, place.parts[:count]), create)
            os.close(fd)
            fd = step
        yield fd
    finally:
        os.close(fd)


@contextmanager
def parent(place: Place, *, create: bool = False) -> Iterator[int]:
    """Open the directory that contains a place. The place itself may be missing."""
    with directory(place.above, create=create) as fd:
        yield fd


def _open_root(root: Root) -> int:
    """Open a root by its resolved path. A recreated directory is accepted, a link is rejected."""
    fd = os.open("/", _ONLY_WALK | _DIRECTORY)
    try:
        for name in root.parts:
            step = os.open(name, _ONLY_WALK | _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = step
    except OSError:
        os.close(fd)
        raise FileProblem(
            f"The root {quoted(printable(root.path))} can no longer be opened.", correctable=False
        ) from None
    return fd


def _enter(fd: int, place: Place, create: bool) -> int:
    try:
        if create:
            with suppress(FileExistsError):
                os.mkdir(place.name, dir_fd=fd)
        return os.open(place.name, _ONLY_WALK | _DIRECTORY, dir_fd=fd)
    except OSError as error:
        raise _refusal(fd, place, error, wanted="directory") from None


@contextmanager
def entries(fd: int, place: Place) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Read the entries of an open directory, in the file system's order."""
    try:
        opened = os.open(".", os.O_RDONLY | _DIRECTORY, dir_fd=fd)  # a descriptor for walking cannot be read
    except OSError as error:
        raise explain(error, place.shown) from None
    try:
        with os.scandir(opened) as children:
            yield children
    finally:
        os.close(opened)


def look(fd: int, place: Place) -> os.stat_result:
    """Return the status of an entry, not of its target. Raise FileProblem if the entry is missing."""
    try:
        return os.stat(place.name or ".", dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        raise _missing(fd, place) from None
    except OSError as error:
        raise explain(error, place.shown) from None


def regular_file(fd: int, place: Place, flags: int = os.O_RDONLY) -> int:
    """Open a regular file below its open parent. The caller must close the descriptor.

    The kind is checked before opening, because opening a device can have effects. It is checked again afterwards.

    Raises:
        FileProblem: the file does not exist, or is not a regular file.
    """
    if kind_of(look(fd, place)) != "file":
        raise _refusal(fd, place, None, wanted="file")
    try:
        opened = os.open(place.name, flags | _FILE, dir_fd=fd)
    except OSError as error:
        raise _refusal(fd, place, error, wanted="file") from None
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    raise _refusal(fd, place, None, wanted="file")


def _refusal(fd: int, place: Place, error: OSError | None, *, wanted: Kind) -> FileProblem:
    """Return the reason why an entry was not opened."""
    shown = quoted(place.shown)
    try:
        kind = kind_of(os.stat(place.name or ".", dir_fd=fd, follow_symlinks=False))
    except FileNotFoundError:
        if error is not None and error.errno != errno.ENOENT:  # it could not be made
            return explain(error, place.shown)
        return _missing(fd, place)
    except OSError as unseen:
        return explain(unseen, place.shown)
    if kind == "symlink":
        return FileProblem(_LINK.format(shown))
    if kind == "other":
        return FileProblem(_OTHER.format(shown))
    if kind != wanted:
        return FileProblem(f"{shown} is a {kind}, not a {wanted}.")
    return explain(error or OSError(), place.shown)


def _missing(fd: int, place: Place) -> FileProblem:
    near = [name for name in _nearest(fd, place) if not place.root.closes(place.above.below(name))]
    hint = f" Did you mean {' or '.join(quoted(place.above.below(name).shown) for name in near)}?" if near else ""
    return FileProblem(f"{quoted(place.shown)} does not exist.{hint}")


def _nearest(fd: int, place: Place, most: int = 2000) -> list[str]:
    from difflib import get_close_matches

    names: dict[str, str] = {}
    try:
        with entries(fd, place.above) as children:
            names = {entry.name.casefold(): entry.name for entry, _ in zip(children, range(most), strict=False)}
    except FileProblem:
        pass
    return [names[name] for name in get_close_matches(place.name.casefold(), names, n=2)]
