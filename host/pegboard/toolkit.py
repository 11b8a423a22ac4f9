"""`Toolkit`, with which authors define tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.types.callers import EMPTY


class Toolkit(ToolkitBase):
    """A named set of tools, resources and prompts that can also run as a program.

    Args:
        name: the name of a toolkit that is not installed. An installed toolkit has the name of its entry point.
        config: a `PluginConfig` model of the `[toolkits.NAME]` section, available to tools as `context.config`.
        title: a name for people.
        description: a sentence about the toolkit.
        version: the toolkit's version; the distribution's when None.
        prefix: False for tool names without `<toolkit>_`.
        instructions: instructions for the model, if the toolkit is served alone.
        skills: the folder of the toolkit's skills, which are folders with a `SKILL.md`. A relative path begins at the
            folder of the file that has the toolkit.
    """

    def run(
        self, transport: str = "stdio", *, plugins: Mapping[str, Mapping[str, Any]] = EMPTY, **settings: Any
    ) -> None:
        """Serve only this toolkit, as a program, until the process is asked to stop.

        It does the same as `pegboard stdio FILE` and `pegboard serve FILE`, including `hostconfig.toml` and environment
        variables.

        Args:
            transport: "stdio", "http", or the name of a plugin's transport.
            plugins: settings of other plugins, such as `{"mcp": {"path": "/tools"}}`. `pegboard.Host` runs plugins that
                are not installed.
            settings: settings of the transport's plugin, such as `port=8001`. They take precedence over variables and
                the file.

        Raises:
            SystemExit: the start or the program failed; with the exit codes of the `pegboard` command.
            RuntimeError: an event loop runs in this thread. Use `pegboard.Host` there.
            TypeError: an address is given for a transport that has none, or a plugin in place of settings.
        """
        from pegboard.cli.serving.toolkit_server import serve_toolkit

        serve_toolkit(self, transport, {**plugins, transport: settings})
