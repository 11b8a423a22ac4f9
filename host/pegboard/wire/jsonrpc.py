"""Error codes of JSON-RPC 2.0 (section 5.1) and of MCP."""

from __future__ import annotations

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MISSING_CLIENT_CAPABILITY = -32021
"""The MCP error code for a request that requires a capability that the client does not declare (2026-07-28)."""
