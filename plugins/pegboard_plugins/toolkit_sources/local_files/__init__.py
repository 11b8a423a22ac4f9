"""Toolkits in Python files of this machine. Only files that define tools are run."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

from pydantic import ValidationInfo, field_validator

from pegboard import PluginConfig
from pegboard.plugin import FoundToolkit, Plugin, PluginError, WidensAccess, found_toolkits, hookimpl

PATTERNS = ("*.py", "arcade_tools/*.py", "tools/**/*.py")
"""The files of a folder that may define tools."""

SKIPPED = ("test_*.py", "*_test.py")
"""The names of files that are tests."""

MAX_FILES_COUNT = 1000
"""The maximum number of Python files that are read in one folder."""

logger = logging.getLogger("pegboard.plugins.local_files")


class LocalFilesConfig(PluginConfig):
    """`[plugins.local_files]`.

    Attributes:
        paths: Python files and folders whose tools are served, relative to the configuration file. Of a folder, these
            are files `*.py`, `tools/**/*.py` and `arcade_tools/*.py` that define tools, except tests.
    """

    paths: Annotated[tuple[str, ...], WidensAccess("runs Python files")] = ()

    @field_validator("paths")
    @classmethod
    def _check_exist(cls, paths: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        resolved = [Path(cls.folder_of(info), Path(path).expanduser()) for path in paths]
        if missing := [str(path) for path in resolved if not path.exists()]:
            raise ValueError(f"the path {missing[0]} does not exist: correct or remove it")
        return tuple(map(str, resolved))


class LocalFilesPlugin(Plugin):
    """Finds the toolkits of files and folders."""

    Config = LocalFilesConfig

    @hookimpl
    def register_toolkits(self) -> Iterable[FoundToolkit]:
        """Return the toolkits in the configured files."""
        files = dict.fromkeys(file for path in map(Path, self.config.paths) for file in files_in(path))
        if not (toolkits := found_toolkits(files)):
            names = ", ".join(self.config.paths) or "[plugins.local_files] paths"
            logger.warning("no tools are defined in %s: name a file with tools at its top level", names)
        # modules beside a folder's `tools` can be imported, too
        roots = tuple(str(path.resolve()) for path in map(Path, self.config.paths) if path.is_dir())
        return [toolkit._replace(folders=tuple(dict.fromkeys((*toolkit.folders, *roots)))) for toolkit in toolkits]


def files_in(path: Path) -> Iterable[Path]:
    """Return a file, or the files of a folder that may define tools.

    Raises:
        PluginError: the folder has too many files.
    """
    if not path.is_dir():
        return [path]
    files = sorted({file for pattern in PATTERNS for file in path.glob(pattern)})
    files = list(_inside(path, files))
    if len(files) > MAX_FILES_COUNT:
        raise PluginError(f"{path} has more than {MAX_FILES_COUNT} Python files: name the files with tools")
    return files


def _inside(folder: Path, files: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that are not tests, are not hidden, and are not links that lead out of the folder."""
    root = folder.resolve()
    for file in files:
        parts = file.relative_to(folder).parts
        if any(part.startswith(".") or part == "site-packages" for part in parts) or not file.is_file():
            continue
        if any(fnmatch(file.name, pattern) for pattern in SKIPPED):
            continue
        if file.resolve().is_relative_to(root):
            yield file
        else:
            logger.warning("%s is not used: it is a link that leads out of %s", file, folder)
