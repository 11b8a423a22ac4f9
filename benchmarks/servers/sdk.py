"""The official SDK's server with the tools that every contender serves, written as its documentation recommends."""

from __future__ import annotations

import sys

from bench_tools import FUNCTIONS, lookups, port  # type: ignore[import-not-found]  # beside this
from mcp.server.mcpserver import MCPServer  # type: ignore[import-not-found]  # in an environment of its own

server = MCPServer("bench")
for function in FUNCTIONS:
    server.add_tool(function)
for name, description, function in lookups():
    server.add_tool(function, name=name, description=description)


def serve_fast() -> None:
    """Serve over HTTP with the fastest known settings: JSON responses, uvloop, httptools, and no log."""
    import uvicorn  # type: ignore[import-not-found]

    app = server.streamable_http_app(json_response=True)
    uvicorn.run(app, port=port(), loop="uvloop", http="httptools", access_log=False, log_level="warning")


def main(way: str) -> None:
    """Serve over stdio (`stdio`) or over HTTP: with defaults (`http`), `stateless` or `fast`."""
    if way == "stdio":
        server.run("stdio")
    elif way == "fast":
        serve_fast()
    elif way == "stateless":
        server.run("streamable-http", port=port(), stateless_http=True, json_response=True)
    else:
        server.run("streamable-http", port=port())


if __name__ == "__main__":
    main(sys.argv[1])
