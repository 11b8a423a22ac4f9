"""Configured roots: the directory of each root, and a check for directories that are too broad to be opened."""

import os
from collections.abc import Iterator
from contextlib import suppress

__all__ = ["broadness", "existing"]

WORKING_DIRECTORY = "{cwd}"


def existing(root: str, folder: str) -> str:
    """Return the absolute path of a configured root. A relative root is relative to `folder`.

    Raises:
        ValueError: the root is not a directory that the host can read.
    """
    first, slash, rest = root.partition("/")
    expanded = os.getcwd() + slash + rest if first == WORKING_DIRECTORY else os.path.expanduser(root)
    path = os.path.abspath(os.path.join(folder, expanded))
    if "\0" in path or not os.path.isdir(path):
        reason = "is not a directory" if "\0" not in path and os.path.exists(path) else "does not exist"
        raise ValueError(f"the root {root!r} {reason} (looked for at {path!r})")
    if not os.access(path, os.R_OK | os.X_OK):
        raise ValueError(f"the root {root!r} cannot be read by the host (at {path!r})")
    return path


def broadness(root: str) -> str | None:
    """Describe a root that contains the home directory or more, with links resolved. Return None for other roots."""
    for place, words in _broad_places():
        with suppress(OSError):
            if os.path.samefile(root, place):
                return words
    return None


def _broad_places() -> Iterator[tuple[str, str]]:
    yield "/", "the whole disk"
    import pwd

    homes = [os.path.expanduser("~")]
    with suppress(KeyError):  # a container may run as a user without an entry
        homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    for home in filter(os.path.isabs, homes):
        place = os.path.realpath(home)
        yield place, "the home directory"
        while (place := os.path.dirname(place)) != "/":
            yield place, f"a directory that holds the home directory {home!r}"
