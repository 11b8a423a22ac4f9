"""Python files as modules, and the toolkits in files that the command line names."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from contextvars import ContextVar
from importlib import import_module
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from pegboard.authoring import ToolFunction
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.loading.plugin_facts import own_entry_points
from pegboard.messages.error_fields import failure_location, failure_text
from pegboard.plugin.origin import Origin

_loading: ContextVar[Path | None] = ContextVar("pegboard.loading.file", default=None)


def toolkits_in(files: Iterable[Path]) -> dict[str, ToolkitBase]:
    """Run Python files and return the toolkits at their top level, by name.

    If a file has no toolkit, its functions decorated with `@tool` form a toolkit that is named after the file.

    Raises:
        PluginError: a file does not exist or fails, it has no toolkit, or two toolkits have one name.
    """
    kits: dict[str, ToolkitBase] = {}
    for file in files:
        for kit in _toolkits(file):
            kit.source_folder = str(file.resolve().parent)
            if kits.setdefault(kit.name, kit) is not kit:
                raise PluginError(f"{file}: two toolkits have the name {kit.name!r}: rename one toolkit")
    return kits


def being_loaded() -> Path | None:
    """Return the file that is being loaded. Return None if no file is."""
    return _loading.get()


def _toolkits(file: Path) -> list[ToolkitBase]:
    if not file.is_file():
        raise PluginError(f"there is no file {file}: correct the path")
    module = run_file(file)
    values = {id(value): value for value in vars(module).values()}.values()
    if kits := [value for value in values if isinstance(value, ToolkitBase) and not value.is_mounted]:
        return kits
    if tools := [value for value in values if isinstance(value, ToolFunction)]:
        kit = ToolkitBase(file.stem)
        kit.add(tools)
        return [kit]
    advice = server_advice(values) or f': add kit = Toolkit("{file.stem}")'
    raise PluginError(f"{file} has no toolkit at its top level{advice}")


def run_file(file: Path) -> ModuleType:
    """Run a Python file and return its module, which no other module can import. Its folder joins the module path.

    Raises:
        PluginError: the file fails.
    """
    # no module imports this name, as with `__main__`
    name = f"__{file.stem}__"
    while name in sys.modules:
        name += "_"
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise PluginError(f"{file} is not a Python file: its name must end with .py")
    module = importlib.util.module_from_spec(spec)
    # modules beside the file can be imported, and come after all others
    if (folder := str(file.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    token = _loading.set(file)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        text = f"{failure_text(error)}{failure_location(error, name)}{import_advice(error)}"
        raise PluginError(f"{file}: {text}") from error
    finally:
        _loading.reset(token)
    return module


_GROUP = "pegboard.replacements"
"""The entry points of pegboard that name packages of other frameworks, each with the module that takes its place."""


def import_advice(error: BaseException) -> str:
    """Return the module that replaces a missing package of another framework, as advice. Return "" for other errors."""
    missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    place = _place(missing)
    return f"; if the file is a server of {_package(missing)}, import from {place} instead" if place else ""


def server_advice(values: Iterable[Any]) -> str:
    """Return which class to import if one of the values is a server of another framework. Return "" otherwise."""
    for kind in map(type, values):
        place = _place(kind.__module__)
        if place and hasattr(kind, "run") and hasattr(import_module(place), kind.__name__):
            return f"; it has a server of {_package(kind.__module__)}: import {kind.__name__} from {place} instead"
    return ""


def _place(module: str) -> str | None:
    """Return the module that replaces a package of another framework."""
    return next((entry.value for entry in own_entry_points(_GROUP).select(name=_package(module))), None)


def _package(module: str) -> str:
    return module.partition(".")[0]


# --- Compiled files, which are removed so that Python compiles changed source files again.


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
