"""A middleware that tracks running tools, so that the log can name the tool that printed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Outcome

if TYPE_CHECKING:
    from pegboard_plugins.transports.stdio.stdio_connection import StdioConnection


class OutputWatcher(Protocol):
    """A listener for the end of tools."""

    def collect(self) -> None:
        """Read printed output while the tool still counts as running."""

    def settle(self) -> None:
        """Log the incomplete lines of tools that have ended."""


class RunningTools(Middleware):
    """The names of the running tools, each with the number of its calls.

    A tool that has ended counts as running until its output has been read. This is at once after a single request. If
    several requests arrived together, it is before a tool of another name begins, or after this turn of the event loop.

    Attributes:
        watcher: notified when tools end. None while standard output is not redirected.
        connection: the connection to the client, or None before it.
    """

    name = "stdio"

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._ended: list[str] = []
        self.watcher: OutputWatcher | None = None
        self.connection: StdioConnection | None = None

    def names(self) -> tuple[str, ...]:
        """Return the names in alphabetical order. Any thread may call it."""
        return tuple(sorted(self._counts.copy()))

    def wants(self, call: Call) -> bool:
        """Return True if a watcher exists."""
        return self.watcher is not None

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Count the tool while it runs."""
        name = call.params.get("name")
        if type(name) is not str:
            return await call_next(call)
        if self._ended and self._ended[-1] != name:
            self._settle()
        self._counts[name] = self._counts.get(name, 0) + 1
        try:
            return await call_next(call)
        finally:
            self._end(name)

    def _end(self, name: str) -> None:
        is_first = not self._ended
        self._ended.append(name)
        if self.connection is None or not self.connection.together:
            self._settle()
        elif is_first:
            asyncio.get_running_loop().call_soon(self._settle)

    def _settle(self) -> None:
        """Read the output of the tools that have ended."""
        ended, watcher = self._ended, self.watcher
        if not ended:
            return
        if watcher is not None:
            watcher.collect()
        for name in ended:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]
        ended.clear()
        if watcher is not None:
            watcher.settle()
