"""`pegboard configure`: entries of this server in the configuration files of MCP clients."""
