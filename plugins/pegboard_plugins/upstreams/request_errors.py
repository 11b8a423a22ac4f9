"""JSON-RPC errors of mounted servers as errors of calls. Most of them reach the caller unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard import NotFoundError, UpstreamError
from pegboard.plugin import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    ClientCapabilityError,
    ProtocolError,
    encode,
)
from pegboard_plugins.upstreams.hops import LOOP

MAX_ERROR_CHARACTERS = 2000
"""The maximum length of a server's error message that a caller receives."""
MAX_ERROR_DATA_BYTES = 64 * 1024
"""The maximum size of the data of a server's error that a caller receives. Larger data are left out."""

_BETWEEN_SERVERS = frozenset((PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, -32020, -32022))
"""The codes of errors that concern only the connection between the host and the server."""


def request_error(server: str, method: str, params: Mapping[str, Any], error: ProtocolError) -> Exception:
    """Return the error of a call that a server answered with a JSON-RPC error.

    Args:
        server: the name of the server.
        method: the method of the request.
        params: the parameters of the request.
        error: the error of the server.
    """
    is_loop = isinstance(error.data, dict) and LOOP in error.data
    is_optional = error.code == METHOD_NOT_FOUND and method == "completion/complete"
    if error.code in _BETWEEN_SERVERS and not is_loop and not is_optional:
        return UpstreamError(
            f"The server {server!r} refused the request.",
            f"error {error.code}: {error.message[:MAX_ERROR_CHARACTERS]}",
            status_code=400,
            extra={"upstream": server},
        )
    if error.code == MISSING_CLIENT_CAPABILITY and (missing := _capability(error.data)):
        return ClientCapabilityError(missing)
    if error.code == RESOURCE_NOT_FOUND and method == "resources/read":
        return NotFoundError("Resource not found", data={"uri": params.get("uri")})
    data = None if len(encode(error.data)) > MAX_ERROR_DATA_BYTES else error.data
    return ProtocolError(error.code, error.message[:MAX_ERROR_CHARACTERS], data)


def _capability(data: Any) -> str:
    """Return the first capability that a server requires, such as "elicitation.url", or "" if it names none."""
    required = data.get("requiredCapabilities") if isinstance(data, dict) else None
    names: list[str] = []
    while isinstance(required, dict) and required:
        name = next(iter(required))
        names.append(str(name)[:MAX_ERROR_CHARACTERS])
        required = required[name]
    return ".".join(names[:2])
