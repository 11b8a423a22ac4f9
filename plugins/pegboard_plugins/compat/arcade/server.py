"""`MCPServer`, at the path of `arcade_mcp_server.server`."""

from __future__ import annotations

from typing import Any

from pegboard_plugins.compat.arcade.app import MCPApp
from pegboard_plugins.compat.arcade.catalog import ToolCatalog
from pegboard_plugins.compat.arcade.settings import MCPSettings
from pegboard_plugins.compat.missing import Elsewhere, missing_names

__getattr__ = missing_names(__name__)


class MCPServer(MCPApp):
    """The tools of a catalog as one server. It has the methods of `MCPApp`, such as `run`.

    The names of tools that are added to the server itself begin with `ArcadeMCP`.

    Args:
        catalog: the tools. Later changes of the catalog have no effect.
        name: the name of the server; that of the settings when None.
        version: its version; that of the settings when None.
        title: a name for people.
        instructions: instructions for the model.
        settings: the settings; those of the environment variables when None.
        options: further options of `MCPApp`.

    Raises:
        ValueError: the version is invalid, or a toolkit of the catalog has no tools.
        TypeError: an option does not exist, or belongs to another place in pegboard.
    """

    def __init__(
        self,
        catalog: ToolCatalog,
        *,
        name: str | None = None,
        version: str | None = None,
        title: str | None = None,
        instructions: str | None = None,
        settings: MCPSettings | None = None,
        **options: Any,
    ) -> None:
        identity = (settings or MCPSettings()).server
        name = name or identity.name
        super().__init__(
            version=version or identity.version,
            title=title or identity.title or name,
            instructions=instructions or identity.instructions,
            **options,
        )
        self.name = name  # of any characters: names of tools begin with their toolkit
        for toolkit, app in catalog.toolkits.items():
            if not app._tools:
                raise ValueError(
                    f"the toolkit {toolkit.name!r} has no tools: change its imports to pegboard_plugins.compat.arcade, "
                    f"or serve a published toolkit with `pegboard serve --tool-package {toolkit.name}`"
                )
            self._tools += [tool._replace(toolkit=toolkit) for tool in app._tools]
            self._resources += [resource._replace(toolkit=toolkit) for resource in app._resources]

    start = Elsewhere("call run(), or serve create_arcade_mcp(catalog)")
    handle_message = Elsewhere("in tests, use pegboard_testing.connect(server)")
