"""Arcade's server with the tools that every contender serves."""

from __future__ import annotations

import sys

from arcade_mcp_server import MCPApp  # type: ignore[import-not-found]  # in an environment of its own
from bench_tools import FUNCTIONS, lookups, port  # type: ignore[import-not-found]  # beside this

app = MCPApp(name="bench", log_level="ERROR")
for function in FUNCTIONS:
    app.add_tool(function)
for name, description, function in lookups():
    app.add_tool(function, name=name, desc=description)

if __name__ == "__main__":
    app.run(transport=sys.argv[1], host="127.0.0.1", port=port())
