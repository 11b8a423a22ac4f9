"""Protocols that clients speak to the host, and an extension of MCP."""
