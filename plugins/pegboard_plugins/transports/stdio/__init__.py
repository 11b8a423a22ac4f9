"""The stdio transport: one client, which started this process, on standard input and output.

This module only describes the plugin. The transport imports the rest when it runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.plugin import Middleware, Plugin, Transport, hookimpl
from pegboard_plugins.transports.stdio.running_tools import RunningTools
from pegboard_plugins.transports.stdio.settings import StdioConfig
from pegboard_plugins.transports.stdio.stdio_transport import StdioTransport


class StdioPlugin(Plugin):
    """The stdio transport, and a middleware that names the tool that printed to standard output."""

    Config = StdioConfig

    def __init__(self, config: StdioConfig) -> None:
        super().__init__(config)
        self._running = RunningTools()

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        """Return the transport for standard input and output."""
        return [
            StdioTransport(self._running, self.config.max_message_bytes, finishes=self.config.after_eof == "finish")
        ]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware that counts running tools."""
        return [self._running]
