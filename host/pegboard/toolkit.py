"""`Toolkit`, with which authors define tools, resources and prompts."""

from __future__ import annotations

from typing import Any

from pegboard.authoring.toolkit_base import ToolkitBase


class Toolkit(ToolkitBase):
    """A named set of tools, resources and prompts that can also run as a program.

    Args:
        name: used where the toolkit is not installed; an installed one is known by its entry point's name.
        config: a `PluginConfig` model of the `[toolkits.NAME]` section, given to tools as `context.config`.
        title: a name for people.
        description: one sentence about the whole.
        version: the toolkit's own version; the distribution's when None.
        prefix: False leaves tool names without `<toolkit>_` before them.
    """

    def run(self, transport: str = "stdio", **settings: Any) -> None:
        """Serve this toolkit alone, as a program of its own, until it is told to end.

        It does what `pegboard stdio FILE` and `pegboard serve FILE` do, `hostconfig.toml` and variables included.

        Args:
            transport: "stdio", "http", or whatever a plugin brings.
            settings: of the transport's plugin, such as `port=8001`; they come before variables and the file.

        Raises:
            SystemExit: it could not start, or failed; with the exit codes of the `pegboard` command.
            RuntimeError: an event loop runs in this thread already; `pegboard.Host` serves there.
            TypeError: an address is given, and not the transport that has one.
        """
        from pegboard.cli.toolkit_server import serve_toolkit

        serve_toolkit(self, transport, settings)
