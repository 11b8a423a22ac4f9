"""Hosts that serve the toolkit, and short ways to call its tools."""

from __future__ import annotations

from typing import Any, Protocol

from pegboard import Host, ToolResult
from pegboard.plugin import ToolkitError
from pegboard.types import Call, Failure, Outcome


class Served:
    """A host with the toolkit."""

    def __init__(self, host: Host) -> None:
        self.host = host

    async def outcome(self, tool: str, **arguments: Any) -> Outcome:
        """Call a tool; its outcome, whatever it is."""
        return await self.host.dispatch(Call("tools/call", {"name": f"github_{tool}", "arguments": arguments}))

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that succeeds; its result, which fits its own schema."""
        outcome = await self.outcome(tool, **arguments)
        assert isinstance(outcome, ToolResult), outcome
        return outcome.value

    async def fail(self, tool: str, **arguments: Any) -> ToolkitError:
        """Call a tool that fails; its error."""
        outcome = await self.outcome(tool, **arguments)
        assert isinstance(outcome, Failure), outcome
        assert isinstance(outcome.error, ToolkitError), outcome.error
        return outcome.error


class Serve(Protocol):
    """Starts a host against the server of the test, with settings of the toolkit."""

    async def __call__(self, *, token: str = ..., **settings: Any) -> Served: ...
