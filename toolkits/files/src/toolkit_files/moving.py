"""Moving and deleting files and directories below the roots. The module changes no file contents."""

import os
from typing import Literal

from toolkit_files.answers import Deleted, Moved
from toolkit_files.problems import FileProblem, explain, quoted
from toolkit_files.roots import Place, Roots, directory, entries, kind_of, look, parent
from toolkit_files.walking import Walk
from toolkit_files.watch import Watch
from toolkit_files.writing import move_without_replacing

__all__ = ["delete", "move"]


def _movable(fd: int, place: Place) -> tuple[Literal["file", "directory"], os.stat_result]:
    status = look(fd, place)
    kind = kind_of(status)
    if kind == "symlink":
        raise FileProblem(f"{quoted(place.shown)} is a symbolic link: these tools do not change links.")
    if kind == "other":
        raise FileProblem(
            f"{quoted(place.shown)} is a device, pipe or socket: only files and directories can be changed."
        )
    return kind, status


def _nothing_closed_below(roots: Roots, place: Place, watch: Watch) -> None:
    """Raise FileProblem if a directory contains closed or protected entries, or cannot be read."""
    walk = Walk(roots, place, watch, hidden=True)
    for entry in walk:
        if roots.protects_last(entry.place.above, entry.names):
            raise FileProblem(
                f"{quoted(place.shown)} contains {quoted(entry.place.shown)}, which the host's settings protect.",
                correctable=False,
            )
    if walk.closed:
        raise FileProblem(
            f"{quoted(place.shown)} contains entries that the host's settings close to these tools.", correctable=False
        )
    if walk.unreadable or walk.too_deep:
        raise FileProblem(
            f"{quoted(place.shown)} contains unreadable directories or is nested too deeply.",
            correctable=False,
        )


def move(roots: Roots, source: Place, destination: Place, watch: Watch, *, overwrite: bool = False) -> Moved:
    """Move or rename a file or directory. With `overwrite` a file may replace a file.

    Raises:
        FileProblem: the entry cannot be moved. Nothing was changed.
    """
    with parent(source) as source_fd, parent(destination) as fd:
        kind, status = _movable(source_fd, source)
        try:
            if kind == "directory":
                _nothing_closed_below(roots, source, watch)
                _move_directory(source_fd, source, fd, destination)
            else:
                _move_file(source_fd, source, fd, destination, status, overwrite)
        except OSError as error:
            raise explain(error, source.shown) from None
    return Moved(path=source.shown, to=destination.shown, type=kind)


def _there(fd: int, place: Place) -> os.stat_result | None:
    try:
        return os.stat(place.name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _move_directory(source_fd: int, source: Place, fd: int, destination: Place) -> None:
    if destination.root == source.root and destination.parts[: len(source.parts)] == source.parts:
        raise FileProblem(f"{quoted(source.shown)} cannot be moved into itself.")
    if _there(fd, destination) is not None:
        raise FileProblem(f"{quoted(destination.shown)} already exists: use a new path.")
    os.rename(source.name, destination.name, src_dir_fd=source_fd, dst_dir_fd=fd)


def _move_file(
    source_fd: int, source: Place, fd: int, destination: Place, status: os.stat_result, overwrite: bool
) -> None:
    there = _there(fd, destination)
    if source == destination:
        raise FileProblem(f"The new path of {quoted(source.shown)} is the current path: choose another path.")
    if there is None:
        move_without_replacing((source_fd, source.name), (fd, destination.name), destination)
        return
    if kind_of(there) == "directory":
        raise FileProblem(
            f"{quoted(destination.shown)} is a directory: use the complete new path, including the file name."
        )
    other_case = os.path.samestat(
        there, status
    )  # a file system that ignores case finds the file itself under its new name
    if not other_case and not (overwrite and kind_of(there) == "file"):
        raise FileProblem(f"{quoted(destination.shown)} already exists: set overwrite to replace a file.")
    os.rename(source.name, destination.name, src_dir_fd=source_fd, dst_dir_fd=fd)


def delete(roots: Roots, place: Place, watch: Watch, *, recursive: bool = False) -> Deleted:
    """Delete a file. With `recursive`, delete a directory and its contents. Links are deleted, not followed.

    Raises:
        FileProblem: the entry was not deleted, or only in part. The message states which.
    """
    with parent(place) as fd:
        kind, _ = _movable(fd, place)
        if kind == "directory" and not recursive:
            raise FileProblem(f"{quoted(place.shown)} is a directory: set recursive to delete it and its contents.")
        gone = _Gone(place, watch)
        if kind == "directory":
            _nothing_closed_below(roots, place, watch)
        gone.remove(fd, place, is_directory=kind == "directory")
    return Deleted(path=place.shown, type=kind, count=gone.count)


class _Gone:
    """A deletion that counts the deleted entries."""

    def __init__(self, place: Place, watch: Watch) -> None:
        self._place = place
        self._watch = watch
        self.count = 0

    def remove(self, fd: int, place: Place, *, is_directory: bool) -> None:
        try:
            if is_directory:
                self._emptied(place)
                os.rmdir(place.name, dir_fd=fd)
            else:
                os.unlink(place.name, dir_fd=fd)
        except OSError as error:
            problem = explain(error, place.shown)
            if self.count:
                part = f"{quoted(self._place.shown)} was deleted only in part, {self.count} entries of it."
                problem = FileProblem(f"{part} {problem.message}", correctable=problem.correctable)
            raise problem from None
        self.count += 1

    def _emptied(self, place: Place) -> None:
        with directory(place) as fd:
            with entries(fd, place) as children:
                inside = [(place.below(entry.name), entry.is_dir(follow_symlinks=False)) for entry in children]
            for inner, is_directory in inside:
                self._watch.step()
                self.remove(fd, inner, is_directory=is_directory)
