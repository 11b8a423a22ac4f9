"""The stdio transport: one client, which started this process, on standard input and output.

This module only describes the plugin. The transport imports the rest when it runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from pegboard import PluginConfig
from pegboard.plugin import Middleware, Plugin, Transport, hookimpl
from pegboard_plugins.transports.stdio.running_tools import RunningTools
from pegboard_plugins.transports.stdio.stdio_transport import StdioTransport


class StdioConfig(PluginConfig):
    """The settings `[plugins.stdio]`.

    Attributes:
        max_message_bytes: the largest incoming message, in bytes.
        after_eof: the handling of calls in flight when the client closes standard input: "drop" cancels them, "finish"
            answers them first, for input from a pipe or file.
    """

    max_message_bytes: int = Field(default=10 * 1024 * 1024, ge=1024)
    after_eof: Literal["drop", "finish"] = "drop"


class StdioPlugin(Plugin):
    """The stdio transport, and a middleware that names the tool that printed to standard output."""

    Config = StdioConfig

    def __init__(self, config: StdioConfig) -> None:
        super().__init__(config)
        self._running = RunningTools()

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        return [
            StdioTransport(self._running, self.config.max_message_bytes, finishes=self.config.after_eof == "finish")
        ]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware that notes running tools."""
        return [self._running]
