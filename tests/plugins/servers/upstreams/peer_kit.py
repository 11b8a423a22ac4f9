"""The toolkit of a peer: a `pegboard` process that tests mount."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from pegboard import Context, Toolkit
from pegboard.plugin import ToolDefinition

kit = Toolkit("peer", prefix=False)


@kit.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@kit.tool
async def die() -> str:
    """End the process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


@kit.tool
async def pid() -> int:
    """Return the process id."""
    return os.getpid()


@kit.tool
async def grow(context: Context[Any], name: str) -> str:
    """Add a tool."""

    def grown() -> str:
        """Grown."""
        return name

    context.catalogue.add(ToolDefinition(grown, name=name))
    return name


@kit.tool
async def shrink(context: Context[Any], name: str) -> str:
    """Remove a tool."""
    context.catalogue.remove("tools", name)
    return name


@kit.tool
async def complain(text: str) -> str:
    """Write to standard error."""
    print(text, file=sys.stderr, flush=True)
    return text


@kit.tool
async def whoami(context: Context[Any]) -> dict[str, str | None]:
    """Return the caller and its session."""
    return {"subject": context.caller.subject, "session": context.session_id}


@kit.tool
async def declared(context: Context[Any]) -> dict[str, Any]:
    """Return the capabilities of the client."""
    return dict(context.client.capabilities)


@kit.tool(scopes=["secret"])
async def private(context: Context[Any]) -> str | None:
    """Return the caller; only for callers with a scope."""
    return context.caller.subject


@kit.resource("peer://me", name="me")
async def me(context: Context[Any]) -> str:
    """Return the caller."""
    return str(context.caller.subject)


@kit.prompt
async def greet(context: Context[Any], name: str) -> str:
    """Greet."""
    return f"{context.caller.subject} greets {name}"
