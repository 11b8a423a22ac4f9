"""The official SDK's server with the tools that every contender serves, written as its documentation recommends."""

from __future__ import annotations

import os
import sys
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


def serve_fast(port: int) -> None:
    """Serve over HTTP with all that is known to make it faster: JSON answers, uvloop, httptools, and no log."""
    import uvicorn  # type: ignore[import-not-found]

    app = server.streamable_http_app(json_response=True)
    uvicorn.run(app, port=port, loop="uvloop", http="httptools", access_log=False, log_level="warning")


def main(way: str) -> None:
    """Serve over standard streams (`stdio`) or over HTTP: as it comes (`http`), `stateless` or `fast`."""
    port = int(os.environ.get("BENCH_PORT", "0"))
    if way == "stdio":
        server.run("stdio")
    elif way == "fast":
        serve_fast(port)
    elif way == "stateless":
        server.run("streamable-http", port=port, stateless_http=True, json_response=True)
    else:
        server.run("streamable-http", port=port)


if __name__ == "__main__":
    main(sys.argv[1])
