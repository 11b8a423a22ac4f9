"""The files of a bundle: distributions with all that they require, and the Python files of a server."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import importlib_metadata

from pegboard.terminal import UsageError

_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:\[([^]]*)\])?[^;]*;?(.*)")
"""The name, the extras and the marker of a requirement (PEP 508)."""
_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([^'"]+)""")
_LEFT_OUT = {"..", "__pycache__", "direct_url.json"}
"""Parts of paths: files outside of the modules, byte code, and the place from which a distribution was installed."""


def required_distributions(names: Iterable[str]) -> list[Any]:
    """Return installed distributions, and the installed ones that they require. Markers other than extras are ignored.

    Raises:
        UsageError: a distribution is installed in place, so its files are elsewhere.
    """
    distributions: dict[str, Any] = {}
    waiting = [(name, "") for name in names]
    for name, wanted in waiting:
        distribution = next(iter(importlib_metadata.distributions(name=name)), None)
        if distribution is None:
            continue  # its marker does not apply here
        if getattr(getattr(distribution.origin, "dir_info", None), "editable", False):
            raise UsageError(f"{name} is installed in place (editable): install its wheel, and bundle again")
        distributions[distribution.metadata["Name"]] = distribution
        for line in distribution.requires or ():
            requirement, extras, marker = _REQUIREMENT.fullmatch(line).groups("")  # type: ignore[union-attr]  # any line
            extra = _EXTRA.search(marker)
            if (extra[1] if extra else "") == wanted:
                further = ((requirement, part.strip()) for part in ("", *filter(None, extras.split(","))))
                waiting += [pair for pair in further if pair not in waiting]
    return list(distributions.values())


def files_of(distribution: Any) -> Iterator[tuple[str, Path]]:
    """Yield the path in a folder of modules, and the file, of each portable file of a distribution."""
    for file in distribution.files or ():
        if not _LEFT_OUT & set(file.parts):
            yield file.as_posix(), Path(str(file.locate()))


def server_files(paths: Iterable[Path], root: Path) -> list[Path]:
    """Return the files among some paths, and the imported files below a folder, without installed ones."""
    loaded = (getattr(module, "__file__", None) for module in [*sys.modules.values()])
    files = {Path(file).resolve() for file in loaded if file is not None} | {path for path in paths if path.is_file()}
    installed = [Path(folder).resolve() for folder in (sys.prefix, sysconfig.get_path("stdlib"))]
    return sorted(
        file
        for file in files
        if file.is_relative_to(root)
        and not any(file.is_relative_to(folder) for folder in installed)
        and "site-packages" not in file.parts
    )


def distributions_imported_by(files: Iterable[Path]) -> Iterator[str]:
    """Yield the names of the distributions whose modules files import anywhere."""
    owners = importlib_metadata.packages_distributions()
    for file in files:
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                yield from owners.get(name.partition(".")[0], ())
