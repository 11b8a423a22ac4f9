"""The import of a toolkit of the Arcade system, and its tools as a toolkit of pegboard."""

from __future__ import annotations

import builtins
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context, ContextVar
from functools import partial, wraps
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any

from pegboard import Toolkit
from pegboard.plugin import PluginError, ToolDefinition, ToolFunction
from pegboard_plugins.compat.arcade.modules import items_of
from pegboard_plugins.compat.arcade.names import pascal_case
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration
from pegboard_plugins.toolkit_sources.arcade_toolkits.finder import InstalledToolkit

Variables = Mapping[ContextVar[Any], Any]


class ArcadeToolkit(Toolkit):
    """A toolkit of the Arcade system.

    Args:
        installed: the distribution.
        variables: the context variables that the imports have set.
    """

    def __init__(self, installed: InstalledToolkit, variables: Variables) -> None:
        super().__init__(installed.toolkit, description=installed.summary)
        self._distribution_version = installed.distribution.version
        self._variables = variables

    def put(self, item: ToolFunction[..., Any] | ResourceDeclaration) -> None:
        """Add a tool or a declared resource."""
        if isinstance(item, ResourceDeclaration):
            self._declared(item)
            return
        definition: ToolDefinition = item.definition
        interface = definition.extensions.get("ui")
        if isinstance(interface, ResourceDeclaration):
            definition = definition._replace(extensions={"ui": self._declared(interface)})
        self.add(definition._replace(function=_within(definition.function, self._variables)))

    def _declared(self, declaration: ResourceDeclaration) -> str:
        """Add a declared resource, and return its URI."""
        definition = declaration.definition(pascal_case(self.name), self._distribution_version)
        if all(resource.uri != definition.uri for resource in self._resources):
            self._resources.append(definition)
        return definition.uri


def load_toolkit(installed: InstalledToolkit) -> ArcadeToolkit:
    """Import the modules with tools of a toolkit. Its warning filters and context variables do not reach the process.

    Raises:
        PluginError: its modules were imported before, with the original framework.
    """
    ALIASED.add(installed.packages(), installed.name)
    context = Context()
    with warnings.catch_warnings(action="ignore"):
        modules = [context.run(import_module, name) for name in installed.modules()]
    items = [item for module in modules for item in items_of(module)]
    if not items:
        raise PluginError(
            f"{installed.name} was imported before it is served, with the original framework: serve it in another "
            "process"
        )
    kit = ArcadeToolkit(installed, context)
    for item in items:
        kit.put(item)
    return kit


def _within(function: Callable[..., Any], variables: Variables) -> Callable[..., Any]:
    """Let a sync function run with these context variables, such as the precision of decimal numbers."""
    if not variables or inspect.iscoroutinefunction(function):
        return function

    @wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        tokens = [(variable, variable.set(value)) for variable, value in variables.items()]
        try:
            return function(*arguments, **keywords)
        finally:
            for variable, token in tokens:
                variable.reset(token)

    return run


# --- Imports of the Arcade system that mean the names of pegboard, in the modules of its toolkits and in no others.
# Each such module has an `__import__` of its own, which its functions use, too. `sys.modules` never holds a module of
# pegboard under a name of that system: the rest of the process imports the original, if it is installed.
# `importlib.import_module` is not aliased. No other module of pegboard may change imports (tests/structure).

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
