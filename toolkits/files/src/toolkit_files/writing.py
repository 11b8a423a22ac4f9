"""Changes to file contents: overwriting, appending, and replacing exact strings.

A file is never seen half-written: its new content is written beside it under another name and put in its place in one
step.
"""

import errno
import os
from binascii import b2a_hex
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from toolkit_files.answers import Edited, Mode, Written
from toolkit_files.problems import FileProblem, explain, quoted
from toolkit_files.roots import Place, directory, parent, regular_file
from toolkit_files.text import choose, choose_new, decode, encode, head

__all__ = ["edit", "make_directories", "move_without_replacing", "write"]

MAX_EDIT = 16 << 20
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


def write(place: Place, content: str, mode: Mode, encoding: str, *, parents: bool = False) -> Written:
    """Write a whole file, or append to it.

    "create" fails if the path exists. "overwrite" and "append" create a missing file. `parents` creates missing
    parent directories.

    Raises:
        FileProblem: the file cannot be written. Nothing was changed.
    """
    with _problems(place), parent(place, create=parents) as fd:
        status = _status(fd, place)
        if status is not None and mode == "create":
            raise _exists(place)
        if status is not None and mode == "append":
            return Written(path=place.shown, action="appended", size=_append(fd, place, content, encoding))
        chosen = choose_new(encoding)
        data = chosen.mark + encode(content, chosen)
        if status is not None:
            os.close(regular_file(fd, place, os.O_WRONLY))  # a file that must not be written must not be replaced
        _put(fd, place, data, status)
    return Written(path=place.shown, action="created" if status is None else "overwritten", size=len(data))


def _exists(place: Place) -> FileProblem:
    return FileProblem(f"{quoted(place.shown)} already exists. To change it, overwrite it, append to it or edit it.")


@contextmanager
def _problems(place: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise explain(error, place.shown) from None


def _status(fd: int, place: Place) -> os.stat_result | None:
    try:
        return os.stat(place.name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _append(fd: int, place: Place, content: str, encoding: str) -> int:
    readable = regular_file(fd, place)
    try:
        start = head(readable)
    finally:
        os.close(readable)
    chosen = choose(start, encoding, place.shown) if start else choose_new(encoding)
    data = encode(content, chosen) if start else chosen.mark + encode(content, chosen)
    opened = regular_file(fd, place, os.O_WRONLY | os.O_APPEND)
    try:
        before = os.fstat(opened).st_size
        try:
            _write_all(opened, data)
        except OSError:
            os.ftruncate(opened, before)
            raise
        return os.fstat(opened).st_size
    finally:
        os.close(opened)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _put(fd: int, place: Place, data: bytes, replaced: os.stat_result | None) -> None:
    """Store a file with this content. If the path was free before, fail if another process created it meanwhile."""
    beside = f".{b2a_hex(os.urandom(8)).decode()}.tmp"
    new = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=fd)
    try:
        try:
            if replaced is not None:
                _take_over(new, replaced)
            _write_all(new, data)
            os.fsync(new)
        finally:
            os.close(new)
        if replaced is not None:
            os.rename(beside, place.name, src_dir_fd=fd, dst_dir_fd=fd)
        else:
            move_without_replacing((fd, beside), (fd, place.name), place)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=fd)
        raise


def _take_over(new: int, replaced: os.stat_result) -> None:
    """Copy owner and permissions of the replaced file to the new file, as far as the system allows."""
    if (replaced.st_uid, replaced.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.fchown(new, replaced.st_uid, replaced.st_gid)
    os.fchmod(new, replaced.st_mode & 0o777)


def move_without_replacing(source: tuple[int, str], destination: tuple[int, str], place: Place) -> None:
    """Rename a file to a free `place`. Both are a directory and a name.

    A hard link to the new name is created first: unlike a rename, it fails if the name exists. File systems without
    hard links check the name before the rename.

    Raises:
        FileProblem: the place exists.
        OSError: the file cannot be renamed.
    """
    (source_fd, source_name), (fd, name) = source, destination
    try:
        os.link(source_name, name, src_dir_fd=source_fd, dst_dir_fd=fd, follow_symlinks=False)
    except FileExistsError:
        raise _exists(place) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if _status(fd, place) is not None:
            raise _exists(place) from None
        os.rename(source_name, name, src_dir_fd=source_fd, dst_dir_fd=fd)
    else:
        os.unlink(source_name, dir_fd=source_fd)


def edit(place: Place, old: str, new: str, encoding: str, *, everywhere: bool = False) -> Edited:
    """Replace a string that occurs exactly once, or all occurrences with `everywhere`.

    Line ends follow the file: in a CRLF file, a line feed in `old` and `new` means CRLF.

    Raises:
        FileProblem: the number of occurrences is wrong, or the file changed meanwhile. Nothing was changed.
    """
    if not old:
        raise FileProblem("old_text must not be empty: to add text at the end, append it.")
    with _problems(place), parent(place) as fd:
        data, status = _read_whole(fd, place)
        chosen = choose(data, encoding, place.shown)
        text = decode(data[len(chosen.mark) :], chosen, len(chosen.mark), place.shown)
        old, new = _with_line_ends(text, old, new)
        count = text.count(old)
        if not count:
            raise FileProblem(f"The text does not occur in {quoted(place.shown)}.{_hint(text, old)}")
        if count > 1 and not everywhere:
            raise FileProblem(
                f"The text occurs {count} times in {quoted(place.shown)}, in lines {_where(text, old)}. "
                "Include more surrounding text, or replace all."
            )
        if old == new:
            raise FileProblem("The new text equals the old text: nothing was changed.")
        if len(text) + count * (len(new) - len(old)) > MAX_EDIT:
            raise FileProblem(f"{quoted(place.shown)} would become too large: the limit is {MAX_EDIT} characters.")
        changed = chosen.mark + encode(text.replace(old, new), chosen)
        os.close(regular_file(fd, place, os.O_WRONLY))
        if _version(os.stat(place.name, dir_fd=fd, follow_symlinks=False)) != _version(status):
            raise FileProblem(f"{quoted(place.shown)} was changed meanwhile: read the file again.")
        _put(fd, place, changed, status)
    return Edited(path=place.shown, replacements=count, line=text.count("\n", 0, text.find(old)) + 1)


def _read_whole(fd: int, place: Place) -> tuple[bytes, os.stat_result]:
    opened = regular_file(fd, place)
    with os.fdopen(opened, "rb") as stream:
        status = os.fstat(opened)
        data = stream.read(MAX_EDIT + 1)
    if len(data) > MAX_EDIT:
        raise FileProblem(f"{quoted(place.shown)} is too large to be edited: the limit is {MAX_EDIT} bytes.")
    return data, status


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _with_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    if "\r\n" not in text or (text.count(old) and text.count("\r\n") != text.count("\n")):
        return old, new
    old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
    return old, new


def _hint(text: str, old: str) -> str:
    """Return a hint to lines like the first line of `old`. Usually only the whitespace differs."""
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    near = [number for number, line in enumerate(text.split("\n"), 1) if first and line.strip() == first]
    if not near:
        return " Read the file and copy the text exactly."
    return f" Line {near[0]} is like its first line, but the blanks or what follows differ; copy the text exactly."


def _where(text: str, old: str, most: int = 5) -> str:
    numbers: list[str] = []
    at = text.find(old)
    while at >= 0 and len(numbers) <= most:
        numbers.append(str(text.count("\n", 0, at) + 1) if len(numbers) < most else "...")
        at = text.find(old, at + len(old))
    return ", ".join(numbers)


def make_directories(place: Place) -> bool:
    """Create a directory and its parents. Return True if it is new. Raise FileProblem if it cannot be created."""
    with _problems(place), parent(place, create=True) as fd:
        if _status(fd, place) is None:
            with directory(place, create=True):
                return True
    with directory(place):  # refuses what is no directory
        return False
