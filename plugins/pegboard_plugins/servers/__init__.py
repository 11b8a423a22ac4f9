"""Other MCP servers: mounted in the host, and used by commands."""
