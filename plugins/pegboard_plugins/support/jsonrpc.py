"""JSON-RPC 2.0 messages as bytes, for protocols and transports."""

from __future__ import annotations

from typing import Any, TypeAlias

from pegboard.plugin import encode

RequestId: TypeAlias = str | int
"""The id of a request as MCP allows it: never null."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MISSING_CLIENT_CAPABILITY = -32021
"""The MCP error code for a request that requires a capability that the client does not declare (2026-07-28)."""
RESOURCE_NOT_FOUND = -32002
"""The MCP error code for an unknown resource, before revision 2026-07-28."""


def jsonrpc_error(code: int, message: str, request_id: RequestId | None = None, data: Any = None) -> bytes:
    """Return an error response (JSON-RPC 2.0 section 5.1). The id is null if the id of the request cannot be read."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def jsonrpc_result(request_id: RequestId, *result: bytes) -> bytes:
    """Return a response with a result that is already encoded as JSON.

    Args:
        request_id: the id of the request.
        result: the parts of the JSON, which are copied once.
    """
    name = b"%d" % request_id if type(request_id) is int else encode(request_id)
    return b"".join((b'{"jsonrpc":"2.0","id":', name, b',"result":', *result, b"}"))


def jsonrpc_notification(method: str, params: dict[str, Any]) -> bytes:
    """Return a notification."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})
