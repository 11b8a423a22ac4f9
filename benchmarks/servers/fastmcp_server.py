"""FastMCP's server with the tools that every contender serves."""

from __future__ import annotations

import sys

from bench_tools import FUNCTIONS, lookups, port  # type: ignore[import-not-found]  # beside this
from fastmcp import FastMCP  # type: ignore[import-not-found, unused-ignore]  # in an environment of its own

server = FastMCP("bench")
for function in FUNCTIONS:
    server.tool(function)
for name, description, function in lookups():
    server.tool(function, name=name, description=description)

if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio", show_banner=False)
    else:
        server.run("http", host="127.0.0.1", port=port(), show_banner=False)
