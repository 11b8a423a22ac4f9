"""Error codes of JSON-RPC 2.0 (section 5.1)."""

from __future__ import annotations

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
