"""The tools and resources that the modules of a package define."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from pegboard.plugin import ToolFunction
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration

_DECORATED = re.compile(r"^@(?:\w+\.)?(?:tool|resource)\b", re.MULTILINE)


def defined_in(module: ModuleType) -> Iterator[ToolFunction[..., Any] | ResourceDeclaration]:
    """Yield the tools and declared resources of a module, and of all modules of a package.

    Of the modules of a package, only those with the decorators `tool` or `resource` are imported. The module that runs
    as a program is not imported again.
    """
    for submodule in (module, *_submodules(module)):
        for value in vars(submodule).values():
            made_by = value.function if isinstance(value, ResourceDeclaration) else value
            if isinstance(value, ToolFunction | ResourceDeclaration) and made_by.__module__ == submodule.__name__:
                yield value


def _submodules(package: ModuleType) -> Iterator[ModuleType]:
    program = getattr(sys.modules["__main__"], "__file__", None)
    for info in walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        spec = find_spec(info.name)
        if spec is None or spec.origin is None or spec.origin == program or not spec.origin.endswith(".py"):
            continue
        if _DECORATED.search(Path(spec.origin).read_text("utf-8")):
            yield import_module(info.name)
