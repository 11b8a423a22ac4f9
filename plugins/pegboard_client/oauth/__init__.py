"""OAuth 2.1 for the client, as the MCP authorization specification (2025-11-25, 2026-07-28) requires."""
