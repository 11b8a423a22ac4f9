"""Compiled files that are removed, so that Python compiles changed source files again."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from pegboard.plugin.origin import Origin


def forget_compiled(path: str) -> None:
    """Remove the compiled file of a source file."""
    if path.endswith(".py"):
        with suppress(OSError, NotImplementedError):
            os.unlink(cache_from_source(path))


def forget_outdated(origin: Origin) -> None:
    """Remove the compiled files that are older than their source files, of a plugin that is not imported yet.

    Python compares whole seconds, and would run the old code of a file that was changed soon after it was compiled.
    """
    folders = [*origin.found.folders] if origin.found else []
    files = []
    package = origin.module.partition(".")[0]
    if package and package not in sys.modules and (spec := find_spec(package)):
        folders += spec.submodule_search_locations or ()
        files.append(spec.origin or "")
    files += [str(file) for folder in folders for file in Path(folder).rglob("*.py")]
    for file in files:
        with suppress(OSError, NotImplementedError):
            if os.stat(cache_from_source(file)).st_mtime_ns < os.stat(file).st_mtime_ns:
                forget_compiled(file)
