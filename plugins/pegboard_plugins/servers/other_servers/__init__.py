"""`list`, `show` and `call` for another MCP server."""
