"""The toolkits of Python files, found without running the files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from pegboard.authoring import ToolFunction
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.loading.source_files import run_file
from pegboard.loading.tool_syntax import read_syntax
from pegboard.plugin.toolkit_loading import FoundToolkit

logger = logging.getLogger("pegboard.loading.files")


def found_toolkits(
    files: Iterable[Path], load: Callable[[Path], ModuleType] = run_file, *, named: str | None = None
) -> list[FoundToolkit]:
    """Return the toolkits of Python files. The files are parsed, not run. Files without toolkits are left out.

    The functions decorated with `@tool`, in files without toolkits, form one toolkit for each file name.

    Args:
        files: the files.
        load: a function that imports a file. It is called once for each file with tools, when a toolkit is loaded.
        named: the name of the toolkit of decorated functions, instead of the file names.
    """
    load = cache(load)
    toolkits: list[FoundToolkit] = []
    loose: dict[str, list[Path]] = {}
    for file in files:
        try:
            syntax = read_syntax(file.read_bytes())
        except (OSError, SyntaxError) as error:
            line = getattr(error, "lineno", None)
            reason = f"line {line}: {getattr(error, 'msg', '')}" if line else error
            logger.warning("%s is left out, because it cannot be read: %s", file, reason)
            continue
        for variable, name in syntax.toolkits:
            take = partial(_toolkit, load, file, variable)
            toolkits.append(FoundToolkit(name or file.stem, f"{file}:{variable}", take, folders=_folders([file])))
        if syntax.has_tools and not syntax.toolkits:
            loose.setdefault(named or file.stem, []).append(file)
    for name, group in loose.items():
        make = partial(_toolkit_of_functions, name, load, group)
        target = ", ".join(map(str, group))
        toolkits.append(FoundToolkit(name, target, make, folders=_folders(group)))
    return toolkits


def _folders(files: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(file.resolve().parent) for file in files))


def _toolkit(load: Callable[[Path], ModuleType], file: Path, variable: str) -> Any:
    try:
        kit = getattr(load(file), variable)
    except AttributeError:
        raise PluginError(f"{file} has no {variable!r} after it was run: define the toolkit at its top level") from None
    is_served_by_other = isinstance(kit, ToolkitBase) and kit.is_mounted
    return ToolkitBase(kit.name) if is_served_by_other else kit


def _toolkit_of_functions(name: str, load: Callable[[Path], ModuleType], files: Iterable[Path]) -> ToolkitBase:
    kit = ToolkitBase(name)
    for module in map(load, files):
        own = [member for member in vars(module).values() if isinstance(member, ToolFunction)]
        kit.add([function for function in own if function.__module__ == module.__name__])
    return kit
