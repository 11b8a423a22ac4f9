"""A middleware that tracks running tools, so that the log can name the tool that printed."""

from __future__ import annotations

from typing import Protocol

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Outcome


class OutputWatcher(Protocol):
    """A listener for the end of tools."""

    def collect(self) -> None:
        """Read printed output while the tool still counts as running."""

    def settle(self) -> None:
        """Log the incomplete lines of tools that have ended."""


class RunningTools(Middleware):
    """The names of the running tools, each with the number of its calls.

    Attributes:
        watcher: notified when a tool ends. None while standard output is not redirected.
    """

    name = "stdio"

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self.watcher: OutputWatcher | None = None

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
        self._counts[name] = self._counts.get(name, 0) + 1
        try:
            return await call_next(call)
        finally:
            self._ended(name)

    def _ended(self, name: str) -> None:
        watcher = self.watcher
        if watcher is not None:
            watcher.collect()
        if self._counts[name] == 1:
            del self._counts[name]
        else:
            self._counts[name] -= 1
        if watcher is not None:
            watcher.settle()
