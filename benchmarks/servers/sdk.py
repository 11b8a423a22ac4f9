"""The official SDK's server with the tools that every contender serves, written as its documentation recommends."""

from __future__ import annotations

import os
from collections.abc import Callable

from mcp.server.mcpserver import MCPServer  # type: ignore[import-not-found]  # in an environment of its own

server = MCPServer("bench")


@server.tool()  # type: ignore[untyped-decorator]
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()  # type: ignore[untyped-decorator]
def add_thread(a: int, b: int) -> int:
    """Add two numbers, in a thread."""
    return a + b


def _lookup(number: int) -> Callable[[str, int], str]:
    def lookup(name: str, limit: int = 10) -> str:
        return f"{number} {name} {limit}"

    return lookup


for _number in range(int(os.environ.get("BENCH_MORE_TOOLS", "0"))):
    server.add_tool(_lookup(_number), name=f"lookup_{_number:04}", description=f"Look a name up in table {_number}.")

if __name__ == "__main__":
    server.run("stdio")
