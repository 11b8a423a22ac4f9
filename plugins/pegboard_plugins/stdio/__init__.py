"""The stdio transport: one client, which started this process, over standard input and output.

This module only describes the plugin; what takes the descriptors over is imported when the transport runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from pegboard import PluginConfig
from pegboard.plugin import Middleware, Plugin, Transport, hookimpl
from pegboard_plugins.stdio.running_tools import RunningTools
from pegboard_plugins.stdio.stdio_transport import StdioTransport


class StdioConfig(PluginConfig):
    """`[plugins.stdio]`.

    Attributes:
        max_message_bytes: the longest incoming message. A longer one is answered with an error and not kept.
        after_eof: what happens to the calls in flight when the client closes standard input: "drop" cancels them, as
            clients expect that nothing is written any more; "finish" answers them first, for input from a pipe or file.
    """

    max_message_bytes: int = Field(default=10 * 1024 * 1024, ge=1024)
    after_eof: Literal["drop", "finish"] = "drop"


class StdioPlugin(Plugin):
    """The transport, and a middleware that knows which tools run, for naming the one that printed."""

    Config = StdioConfig

    def __init__(self, config: StdioConfig) -> None:
        super().__init__(config)
        self._running = RunningTools()

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        """Standard input and output."""
        return [
            StdioTransport(self._running, self.config.max_message_bytes, finishes=self.config.after_eof == "finish")
        ]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Around tools only; it changes nothing."""
        return [self._running]
