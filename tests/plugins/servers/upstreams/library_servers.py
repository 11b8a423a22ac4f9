"""A host that mounts a server of another library: `library_servers.py high|low|fastmcp`. It prints what a client sees.

It runs in an environment with the library.
"""

import asyncio
import json
import sys
from typing import Any

from pydantic import BaseModel

from pegboard_testing import connect


class Person(BaseModel):
    name: str


def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


def official() -> Any:
    try:
        from mcp.server import MCPServer as Server  # type: ignore[import-not-found]
        from mcp.server.mcpserver import Context  # type: ignore[import-not-found]
    except ImportError:
        from mcp.server.fastmcp import Context  # type: ignore[import-not-found]
        from mcp.server.fastmcp import FastMCP as Server
    server = Server("shop")
    server.add_tool(add)

    async def ask(ctx: Context) -> str:
        """Ask for a name."""
        answer = await ctx.elicit("What is your name?", Person)
        return f"Hello, {answer.data.name}"

    server.add_tool(ask)
    return server


def low_level() -> Any:
    from mcp import types  # type: ignore[import-not-found]
    from mcp.server.lowlevel import Server  # type: ignore[import-not-found]

    def text_content(arguments: Any) -> list[Any]:
        return [types.TextContent(type="text", text=add(**arguments))]

    tool = types.Tool.model_validate({"name": "add", "inputSchema": {"type": "object"}})
    if not hasattr(Server, "list_tools"):

        async def listed(context: Any, params: Any) -> Any:
            return types.ListToolsResult(tools=[tool])

        async def called(context: Any, params: Any) -> Any:
            return types.CallToolResult(content=text_content(params.arguments))

        return Server("shop", on_list_tools=listed, on_call_tool=called)
    server = Server("shop")

    async def tools() -> Any:
        return [tool]

    async def call(name: str, arguments: Any) -> Any:
        return text_content(arguments)

    server.list_tools()(tools)
    server.call_tool()(call)
    return server


def fastmcp() -> Any:
    from fastmcp import Context, FastMCP  # type: ignore[import-not-found]

    server = FastMCP("shop")
    server.tool(add)

    @server.tool  # type: ignore[untyped-decorator]
    async def ask(ctx: Context) -> str:
        """Ask for a name."""
        answer = await ctx.elicit("What is your name?", Person)
        return f"Hello, {answer.data.name}"

    return server


async def main(kind: str) -> None:
    server = {"high": official, "low": low_level, "fastmcp": fastmcp}[kind]()
    section = {"object": server, "revision": "2025-11-25"}  # these libraries ask in sessions only
    config = {"servers": {"shop": section}, "first_list_seconds": 30}
    async with connect("upstreams", config=config, answers=[{"name": "Ann"}]) as client:
        names = sorted(tool["name"] for tool in await client.tools())
        answer = (await client.call("shop_ask")).text if "shop_ask" in names else None
        report = {"tools": names, "sum": (await client.call("shop_add", a=1, b=2)).text, "asked": answer}
    print(json.dumps(report))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
