"""The folders with the metadata of installed distributions, found without `importlib_metadata`.

`importlib_metadata` takes longer to import than to list these folders. It is used for everything unusual: archives,
other finders, and names that are found twice.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

from pegboard.plugin.origin import EntryPoint


class UnusualMetadataError(Exception):
    """The metadata must be read by `importlib_metadata`."""


class MetadataFolder:
    """The folder of one distribution, read like `importlib_metadata.PathDistribution`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def read_text(self, name: str) -> str | None:
        """Return the text of a file, or None if there is no such file.

        Raises:
            OSError, ValueError: the file cannot be read.
        """
        try:
            with open(os.path.join(self._path, name), encoding="utf-8") as file:
                return file.read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError):
            return None

    def entry_points(self) -> list[EntryPoint]:
        """Return the entry points.

        Raises:
            UnusualMetadataError: a line is not an entry point.
            OSError, ValueError: the file cannot be read.
        """
        found = []
        group = ""
        for line in map(str.strip, (self.read_text("entry_points.txt") or "").splitlines()):
            if line.startswith("[") and line.endswith("]"):
                group = line[1:-1]
            elif line and not line.startswith("#"):
                name, equals, value = line.partition("=")
                if not (group and equals):
                    raise UnusualMetadataError
                found.append(EntryPoint(name.strip(), value.strip(), group))
        return found


def metadata_folders() -> dict[str, MetadataFolder]:
    """Return the folder of each distribution on the module path, by normalized name.

    Raises:
        UnusualMetadataError: there may be other distributions, or two with one name.
        OSError: a folder cannot be read.
    """
    finders = (finder for finder in sys.meta_path if hasattr(finder, "find_distributions"))
    if any(one is not PathFinder and type(one).__module__ != "importlib_metadata" for one in finders):
        raise UnusualMetadataError
    found: dict[str, MetadataFolder] = {}
    for folder in dict.fromkeys(sys.path):
        if folder.lower().endswith(".egg"):
            raise UnusualMetadataError
        try:
            children = os.listdir(folder or ".")
        except FileNotFoundError:
            continue
        for child in children:
            lower = child.lower()
            if not lower.endswith((".dist-info", ".egg-info")):
                continue
            name = lower.rpartition(".")[0].partition("-")[0].replace(".", "_")
            if name in found or name.startswith("~"):
                raise UnusualMetadataError
            found[name] = MetadataFolder(os.path.join(folder, child))
    return found
