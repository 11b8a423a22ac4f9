"""The tools and resources that the modules of a package define."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pegboard.plugin import ToolFunction
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration

_DECORATED = re.compile(r"^@(?:\w+\.)?(?:tool|resource)\b", re.MULTILINE)
_LEFT_OUT = frozenset(("__pycache__", "build", "dist"))


def defined_in(module: ModuleType) -> Iterator[ToolFunction[..., Any] | ResourceDeclaration]:
    """Yield the tools and declared resources of a module, and of all modules of a package.

    Of the modules of a package, only those with the decorators `tool` or `resource` are imported. The module that runs
    as a program is not imported again.
    """
    for submodule in dict.fromkeys((module, *_submodules(module))):
        yield from items_of(submodule)


def items_of(module: ModuleType) -> Iterator[ToolFunction[..., Any] | ResourceDeclaration]:
    """Yield the tools and declared resources that a module defines, without those that it imports."""
    for value in vars(module).values():
        made_by = value.function if isinstance(value, ResourceDeclaration) else value
        if isinstance(value, ToolFunction | ResourceDeclaration) and made_by.__module__ == module.__name__:
            yield value


def _submodules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules of a package, also those in folders without `__init__.py`."""
    program = getattr(sys.modules["__main__"], "__file__", None)
    for folder in map(Path, getattr(package, "__path__", ())):
        for file in sorted(folder.rglob("*.py")):
            path = file.relative_to(folder).with_suffix("")
            if str(file) == program or not _LEFT_OUT.isdisjoint(path.parts):
                continue
            if _DECORATED.search(file.read_text("utf-8")):
                parts = path.parts[:-1] if path.name == "__init__" else path.parts
                yield import_module(".".join((package.__name__, *parts)))
