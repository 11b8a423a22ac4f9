"""Imports of the Arcade system that mean the names of pegboard, in the modules of its toolkits and in no others.

Each such module has an `__import__` of its own, which its functions use, too. `sys.modules` never holds a module of
pegboard under a name of that system: the rest of the process imports the original, if it is installed.
`importlib.import_module` is not aliased. No other module of pegboard may change imports (tests/structure).
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any

COMPAT = "pegboard_plugins.compat.arcade"
PLACES: Mapping[str, str] = {
    "arcade_mcp_server": COMPAT,
    "arcade_tdk": COMPAT,
    "arcade_tdk.tool": f"{COMPAT}.decorators",  # `arcade_tdk` itself has a decorator of this name
    "arcade_core": COMPAT,
    "arcade_evals": "pegboard_evals",
    "arcade_evals.critic": "pegboard_evals",
}
"""The modules of pegboard by the names that toolkits import. Submodules of these keep their last names."""


class AliasedModules(MetaPathFinder):
    """Finds the modules whose imports are aliased. Other finders know where they are."""

    def __init__(self) -> None:
        self._distributions: dict[str, str] = {}

    def add(self, packages: Iterable[str], distribution: str) -> None:
        """Alias the imports in these packages.

        Args:
            packages: names without a dot.
            distribution: the toolkit, for messages.
        """
        for package in packages:
            self._distributions.setdefault(package, distribution)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of another finder, with a loader that gives the module its own imports."""
        distribution = self._distributions.get(fullname.partition(".")[0])
        if distribution is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, str(spec.loader.path), distribution)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, distribution: str) -> None:
        super().__init__(fullname, path)
        self.distribution = distribution

    def exec_module(self, module: ModuleType) -> None:
        own_import = partial(_import, self.distribution)
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": own_import}
        super().exec_module(module)


def _import(
    distribution: str,
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """Import a module, as `builtins.__import__` does."""
    root = name.partition(".")[0]
    if level or root not in PLACES:
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    module = _alias(distribution, name)
    if not fromlist:
        return _alias(distribution, root)
    for member in fromlist:
        if member != "*" and not _has(module, member):
            _alias(distribution, f"{name}.{member}")
    return module


def _has(module: ModuleType, member: str) -> bool:
    try:
        getattr(module, member)
    except (AttributeError, ImportError):  # a module of pegboard may say what it lacks
        return False
    return True


def _alias(distribution: str, name: str) -> ModuleType:
    """Return the module of pegboard for a name of the Arcade system."""
    root, _, rest = name.partition(".")
    place = PLACES.get(name) or ".".join(filter(None, (PLACES[root], rest)))
    try:
        return import_module(place)
    except ModuleNotFoundError as error:
        if error.name is None or not place.startswith(error.name):
            raise
    raise ImportError(
        f"{distribution} imports {name}, which pegboard does not have: remove the toolkit from [plugins.arcade] names, "
        "and mount its own server in [plugins.upstreams.servers] (docs/arcade-toolkits.md)",
        name=name,
    )


ALIASED = AliasedModules()
"""The aliased modules of this process."""
