"""Toolkits that stand in a Python file, which somebody named; nothing of it is installed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType

from pegboard.authoring import ToolFunction
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.loading.failure_text import failure_location, failure_text

_loading: ContextVar[Path | None] = ContextVar("pegboard.loading.file", default=None)


def toolkits_in(files: Iterable[Path]) -> dict[str, ToolkitBase]:
    """The toolkits at the top level of Python files, by name. The files are run, as Python runs them.

    Where there is none, what `@tool` made of functions is one, called like the file.

    Raises:
        PluginError: a file is not there, fails, holds no toolkit, or holds one of a name that there is already.
    """
    found: dict[str, ToolkitBase] = {}
    for file in files:
        for kit in _toolkits(file):
            if found.setdefault(kit.name, kit) is not kit:
                raise PluginError(f"{file}: there are two toolkits of the name {kit.name!r}")
    return found


def being_loaded() -> Path | None:
    """The file that is run at this moment for its toolkits, None when there is none."""
    return _loading.get()


def _toolkits(file: Path) -> list[ToolkitBase]:
    if not file.is_file():
        raise PluginError(f"there is no file {file}")
    module = _run(file)
    values = {id(value): value for value in vars(module).values()}.values()
    if kits := [value for value in values if isinstance(value, ToolkitBase)]:
        return kits
    if tools := [value for value in values if isinstance(value, ToolFunction)]:
        kit = ToolkitBase(file.stem)
        kit.add(tools)
        return [kit]
    raise PluginError(f'{file} has no toolkit at its top level; write one: kit = Toolkit("{file.stem}")')


def _run(file: Path) -> ModuleType:
    # as `__main__`: what a file is called is no name that anybody imports
    name = f"__{file.stem}__"
    while name in sys.modules:
        name += "_"
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise PluginError(f"{file} is no Python file; its name must end with .py")
    module = importlib.util.module_from_spec(spec)
    # what stands beside it can be imported, and never in the place of a module that somebody else needs
    sys.path.append(str(file.resolve().parent))
    sys.modules[name] = module
    token = _loading.set(file)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginError(f"{file}: {failure_text(error)}{failure_location(error, name)}") from error
    finally:
        _loading.reset(token)
    return module
