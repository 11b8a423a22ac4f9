"""`ToolCatalog`, at the path of `arcade_core.catalog`."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pegboard_evals
from pegboard.types import ToolkitInfo
from pegboard_plugins.compat.arcade.app import MCPApp
from pegboard_plugins.compat.arcade.names import checked_name
from pegboard_plugins.compat.missing import missing_names

__getattr__ = missing_names(__name__)


class ToolCatalog(pegboard_evals.ToolCatalog):
    """The tools of several toolkits, for `MCPServer`, `create_arcade_mcp`, and the suites of `pegboard_evals`.

    Attributes:
        toolkits: the tools and declared resources of each toolkit.
    """

    def __init__(self) -> None:
        super().__init__()
        self.toolkits: dict[ToolkitInfo, MCPApp] = {}

    def add_tool(
        self,
        tool_func: Callable[..., Any],
        toolkit_or_name: object = None,
        module: ModuleType | None = None,
        toolkit_version: str | None = None,
        toolkit_description: str | None = None,
    ) -> None:
        """Add a function, or a result of `tool`, as a tool of a toolkit.

        Args:
            tool_func: the function.
            toolkit_or_name: the name of the toolkit, of letters, digits and single underscores.
            module: has no effect.
            toolkit_version: the version of the toolkit.
            toolkit_description: the description of the toolkit.

        Raises:
            ValueError: the name or the version is invalid.
        """
        self._toolkit(toolkit_or_name, toolkit_version, toolkit_description).add_tool(tool_func)
        super().add_tool(tool_func)

    def add_module(
        self,
        module: ModuleType,
        name: str | None = None,
        version: str | None = None,
        description: str | None = None,
    ) -> None:
        """Add the tools and declared resources of a module, or of all modules of a package, as a toolkit.

        Args:
            module: the module.
            name: the name of the toolkit; the last part of the module's name, without `arcade_`, when None.
            version: the version of the toolkit.
            description: the description of the toolkit.

        Raises:
            ValueError: the name or the version is invalid.
        """
        name = name or module.__name__.rpartition(".")[2].removeprefix("arcade_")
        self._toolkit(name, version, description).add_tools_from_module(module)
        super().add_module(module)

    def _toolkit(self, name: object, version: str | None, description: str | None) -> MCPApp:
        toolkit = ToolkitInfo(checked_name(name), description, version, prefix=False)
        return self.toolkits.setdefault(toolkit, MCPApp(toolkit.name, version or "0.1.0"))
