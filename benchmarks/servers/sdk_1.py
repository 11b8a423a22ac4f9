"""The server of version 1 of the official SDK, with the tools that every contender serves."""

from __future__ import annotations

import sys

from bench_tools import FUNCTIONS, lookups, port  # type: ignore[import-not-found]  # beside this
from mcp.server.fastmcp import FastMCP  # type: ignore[import-not-found]  # in an environment of its own

server = FastMCP("bench", port=port())
for function in FUNCTIONS:
    server.add_tool(function)
for name, description, function in lookups():
    server.add_tool(function, name=name, description=description)

if __name__ == "__main__":
    server.run("stdio" if sys.argv[1] == "stdio" else "streamable-http")
