"""`pegboard bundle`: a file for clients that install a server with one click (MCP Bundles, `.mcpb`)."""
