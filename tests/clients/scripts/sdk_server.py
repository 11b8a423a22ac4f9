"""A server with the official Python SDK, of either line: `sdk_server.py stdio|http`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from pydantic import BaseModel

try:  # the second line
    from mcp.server.mcpserver import Context, MCPServer, Resolve  # type: ignore[import-not-found, unused-ignore]
    from mcp.server.mcpserver.resolve import Elicit  # type: ignore[import-not-found, unused-ignore]

    server: Any = MCPServer("peer")
    options = {"port": 0}
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP  # type: ignore[import-not-found, no-redef, unused-ignore]

    server = FastMCP("peer", port=0)
    options = {}


class Person(BaseModel):
    """A form."""

    name: str


@server.tool()  # type: ignore[untyped-decorator, unused-ignore]
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()  # type: ignore[untyped-decorator, unused-ignore]
async def count(context: Context) -> str:
    """Report progress."""
    for step in (1, 2, 3):
        await context.report_progress(step, 3)
    return "counted"


@server.tool()  # type: ignore[untyped-decorator, unused-ignore]
async def grow(context: Context) -> str:
    """Add a tool, and tell clients of both eras."""
    server.add_tool(lambda: "grown", name="grown")
    await context.session.send_tool_list_changed()
    if options:
        await context.notify_tools_changed()
    return "grown"


if options:

    async def person(context: Context) -> Elicit[Person]:
        """Ask for the name."""
        return Elicit("Your name?", Person)

    @server.tool()  # type: ignore[untyped-decorator, unused-ignore]
    async def greet(person: Annotated[Person, Resolve(person)]) -> str:
        """Greet by name."""
        return f"Hello, {person.name}"

else:

    @server.tool()  # type: ignore[untyped-decorator, unused-ignore]
    async def greet(context: Context) -> str:
        """Greet by name."""
        answer = await context.elicit("Your name?", schema=Person)
        return f"Hello, {answer.data.name}"


@server.resource("peer://text")  # type: ignore[untyped-decorator, unused-ignore]
def text() -> str:
    """A text."""
    return "text"


@server.prompt()  # type: ignore[untyped-decorator, unused-ignore]
def review() -> str:
    """A prompt."""
    return "Review."


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", **options)
