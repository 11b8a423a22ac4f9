"""Which tools run right now, for naming the one that printed. It changes no call."""

from __future__ import annotations

from typing import Protocol

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Outcome


class OutputWatcher(Protocol):
    """Wants to know when a tool ends."""

    def collect(self) -> None:
        """Take what was printed while the tool still counts as running."""

    def settle(self) -> None:
        """Finish the lines of tools that do not run any more."""


class RunningTools(Middleware):
    """The names of the running tools, each as often as it runs.

    Attributes:
        watcher: is told when a tool ends; None while nothing is diverted.
    """

    name = "stdio"

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self.watcher: OutputWatcher | None = None

    def names(self) -> tuple[str, ...]:
        """Their names in order. May be called from any thread."""
        return tuple(sorted(self._counts.copy()))

    def wants(self, call: Call) -> bool:
        """Whether there is anybody to tell."""
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
