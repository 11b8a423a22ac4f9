"""The import of a toolkit of the Arcade system, and its tools as a toolkit of pegboard."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from contextvars import Context, ContextVar
from functools import wraps
from importlib import import_module
from typing import Any

from pegboard import Toolkit
from pegboard.plugin import PluginError, ToolDefinition, ToolFunction
from pegboard_plugins.compat.arcade.modules import items_of
from pegboard_plugins.compat.arcade.names import pascal_case
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration
from pegboard_plugins.toolkit_sources.arcade_toolkits.finder import InstalledToolkit
from pegboard_plugins.toolkit_sources.arcade_toolkits.own_imports import ALIASED

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
    """Return a sync function that runs with context variables, such as the precision of decimal numbers."""
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
