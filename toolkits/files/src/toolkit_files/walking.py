"""A walk of a directory tree in a fixed order: sorted names, directories before their entries. Links are not followed.

Only one directory is open at a time, so a deep tree needs few descriptors. Each directory is opened from the root
again, which takes a few microseconds.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from operator import itemgetter
from typing import NamedTuple, Self

from toolkit_files.patterns import Globs
from toolkit_files.problems import Cancelled, FileProblem, printable
from toolkit_files.roots import Kind, Place, Roots, directory, entries
from toolkit_files.watch import Watch

__all__ = ["MAX_DEPTH", "Entry", "Parents", "Walk"]

MAX_DEPTH = 100


class Entry(NamedTuple):
    """An entry of a walk. `names` are the printable components of the entry's path."""

    names: tuple[str, ...]
    place: Place
    kind: Kind


_NONE = Globs(())


class Walk:
    """A walk. Iterate over it once.

    Attributes:
        start: the first directory, which is not an entry itself.
        watch: counts every entry.
        unreadable: the number of unreadable directories (valid after the walk).
        closed: the number of skipped closed entries.
        too_deep: True if some directories are deeper than the limit.
    """

    def __init__(
        self,
        roots: Roots,
        start: Place,
        watch: Watch,
        *,
        depth: int = MAX_DEPTH + 1,
        hidden: bool = False,
        ignore: Globs = _NONE,
        show_ignored: bool = False,
        after: tuple[str, ...] = (),
        again: bool = False,
    ) -> None:
        """Prepare a walk.

        Args:
            roots: the roots. Their closed entries are skipped.
            start: the first directory.
            watch: counts every entry.
            depth: 1 for the entries of `start` only.
            hidden: include names that begin with a dot.
            ignore: matching entries are not entered, and not returned unless `show_ignored`.
            show_ignored: return entries that are not entered.
            after: the components, below the root, of the last entry to skip.
            again: return the entry `after` too.
        """
        self._roots = roots
        self.start = start
        self.watch = watch
        self._depth = depth
        self._hidden = hidden
        self._ignore = ignore
        self._show_ignored = show_ignored
        self._after = after
        self._again = again
        self.unreadable = 0
        self.closed = 0
        self.too_deep = False

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries. Raise FileProblem if `start` cannot be read and Cancelled if the call was cancelled."""
        names = tuple(printable(part) for part in self.start.parts)
        levels = [self._entries(self.start, names)]
        while levels:
            entry = next(levels[-1], None)
            if entry is None:
                levels.pop()
                continue
            ignored = self._ignore.match_last(entry.names)
            reached = entry.names > self._after or (self._again and entry.names == self._after)
            if reached and (self._show_ignored or not ignored):
                yield entry
            if entry.kind == "directory" and not ignored and len(levels) < self._depth:
                if len(levels) < MAX_DEPTH:
                    levels.append(self._entries_if_readable(entry))
                else:
                    self.too_deep = True

    def _entries_if_readable(self, entry: Entry) -> Iterator[Entry]:
        try:
            return self._entries(entry.place, entry.names)
        except Cancelled:
            raise
        except FileProblem:
            self.unreadable += 1
            return iter(())

    def _entries(self, place: Place, above: tuple[str, ...]) -> Iterator[Entry]:
        """Read a directory at once. Create its entries on demand, because it may contain millions of names."""
        result: list[tuple[str, str, Kind]] = []
        with directory(place) as fd, entries(fd, place) as children:
            for child in children:
                self.watch.step()
                shown = printable(child.name)
                if self._wanted((*above, shown)):
                    result.append((shown, child.name, _kind(child)))
        result.sort(key=itemgetter(0))
        return self._open_entries(place, above, result)

    def _open_entries(
        self, place: Place, above: tuple[str, ...], children: list[tuple[str, str, Kind]]
    ) -> Iterator[Entry]:
        for shown, name, kind in children:
            names = (*above, shown)
            if self._roots.closes_last(place, names):
                self.closed += 1
            else:
                yield Entry(names, place.below(name), kind)

    def _wanted(self, names: tuple[str, ...]) -> bool:
        if not self._hidden and names[-1].startswith("."):
            return False
        return names > self._after or self._after[: len(names)] == names


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "symlink"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


class Parents:
    """An opener of the parent directories of places. Consecutive places in a directory share one descriptor."""

    def __init__(self) -> None:
        """Start with no open directory."""
        self._place: Place | None = None
        self._fd = -1
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(self, *unused: object) -> None:
        """Close the open directory."""
        self._open.close()

    def of(self, place: Place) -> int:
        """Return the descriptor of a place's directory, valid until the next call. Raise FileProblem on failure."""
        if self._place != place.above:
            self._open.close()
            self._place = None
            self._fd = self._open.enter_context(directory(place.above))
            self._place = place.above
        return self._fd
