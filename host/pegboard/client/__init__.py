"""pegboard.client: a client for any MCP server. The host does not import it."""
