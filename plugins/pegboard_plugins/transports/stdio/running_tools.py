"""The tools that run, so that the log can name the tool that printed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pegboard.plugin import Middleware
from pegboard.types import Call

if TYPE_CHECKING:
    from pegboard_plugins.transports.stdio.stdout_pipe import StdoutPipe


class RunningTools(Middleware):
    """The names of the running tools, by the tasks of their calls.

    The output of a tool is read before its response is written. If several requests arrived together, a tool that has
    ended counts as running until then, or until a tool of another name begins.

    Attributes:
        pipe: the pipe that replaces standard output. None while there is none.
        together: True if the last requests arrived together.
    """

    name = "stdio"

    def __init__(self) -> None:
        self._tools: dict[asyncio.Task[Any], str] = {}
        self._latest: asyncio.Task[Any] | None = None
        self.pipe: StdoutPipe | None = None
        self.together = False

    def names(self) -> tuple[str, ...]:
        """Return the names in alphabetical order. Any thread may call it."""
        tools = self._tools.copy().items()
        return tuple(sorted({name for task, name in tools if self.together or not task.done()}))

    def check(self, call: Call) -> None:
        """Note the tool of a call, which runs in the task of the call."""
        name, task = call.params.get("name"), asyncio.current_task()
        if self.pipe is None or call.method != "tools/call" or type(name) is not str or task is None:
            return
        latest = self._latest
        if self.together and latest is not None and latest.done() and self._tools.get(latest, name) != name:
            self.settle()
        self._tools.setdefault(task, name)
        self._latest = task

    def responded(self) -> None:
        """Read the output of the tool whose response is sent in the current task."""
        if self.pipe is None or not self._tools:
            return
        self._forget_ended()
        if self.pipe.collect():
            asyncio.get_running_loop().call_soon(self.settle)

    def settle(self) -> None:
        """Read the output of the tools that have ended, and forget them."""
        if self.pipe is None or not self._tools:
            return
        self.pipe.collect()
        self._forget_ended()
        self.pipe.settle()

    def _forget_ended(self) -> None:
        for task in [task for task in self._tools if task.done()]:
            del self._tools[task]
