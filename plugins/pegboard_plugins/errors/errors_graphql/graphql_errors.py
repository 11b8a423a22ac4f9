"""Exceptions of a GraphQL client as typed errors.

The status comes from the transport if it has one, otherwise from error codes. No standard defines these codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard import ErrorKind, ToolRuntimeError
from pegboard.plugin import Upstream, instance_of

_ERRORS = "gql.transport.exceptions"
_UNKNOWN_STATUS = 422
"""The status for errors without a known code."""
_STATUS_OF = {
    429: ("RATE_LIMITED", "RATELIMITED", "RATE_LIMIT_EXCEEDED", "THROTTLED", "TOO_MANY_REQUESTS"),
    401: ("UNAUTHENTICATED", "NOT_AUTHENTICATED", "UNAUTHORIZED", "AUTHENTICATION_ERROR", "INVALID_JWT"),
    403: ("FORBIDDEN", "ACCESS_DENIED", "PERMISSION_DENIED", "INSUFFICIENT_SCOPES"),
    404: ("NOT_FOUND",),
    400: (
        "BAD_REQUEST", "BAD_USER_INPUT", "VALIDATION_FAILED", "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED",
        "INVALID_INPUT", "OPERATION_RESOLUTION_FAILURE",
    ),
    500: ("INTERNAL_SERVER_ERROR", "INTERNAL"),
    503: ("SERVICE_UNAVAILABLE",),
}  # fmt: skip
"""The error codes for each equivalent status, in upper case with underscores."""


def map_graphql_error(error: Any, slug: str) -> ToolRuntimeError | None:
    """Return a typed error, or None for exceptions of other libraries."""
    service = Upstream(slug, "The GraphQL service")
    if instance_of(error, _ERRORS, "TransportQueryError"):
        return _query_error(error, service)
    if instance_of(error, _ERRORS, "TransportServerError"):
        return _response_error(error, service)
    if instance_of(error, _ERRORS, "TransportConnectionFailed"):
        method, url = _request(error.__cause__)
        return service.unanswered(error, method=method, url=url)
    if instance_of(error, _ERRORS, "TransportProtocolError"):
        kind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE
        return service.unanswered(error, "The GraphQL service sent a response that is not GraphQL.", kind=kind)
    return service.unsent(error) if instance_of(error, _ERRORS, "TransportError") else None


def _query_error(error: Any, service: Upstream) -> ToolRuntimeError:
    """Return the error for a GraphQL response with errors."""
    codes = list(dict.fromkeys(_codes(error.errors)))
    statuses = {code: status for code in codes if (status := _status_of(code)) is not None}
    status = 429 if 429 in statuses.values() else max(statuses.values(), default=_UNKNOWN_STATUS)
    code = next((code for code in codes if statuses.get(code) == status), next(iter(codes), None))
    extra = {"error_type": type(error).__name__, "gql_error_codes": codes or None}
    return service.answered(error, status, code=code, extra=extra)


def _response_error(error: Any, service: Upstream) -> ToolRuntimeError:
    """Return the error for a response with an error status. `error.__cause__` is an exception of the HTTP client."""
    cause = error.__cause__
    response = getattr(cause, "response", None)
    headers = getattr(cause if response is None else response, "headers", None) or {}
    status = error.code if isinstance(error.code, int) else 500
    method, url = _request(cause)
    return service.answered(error, status, headers, method=method, url=url)


def _codes(errors: object) -> Iterator[str]:
    """Return the code of each error, from its extensions or from the error itself."""
    for error in errors if isinstance(errors, list) else ():
        content = error if isinstance(error, Mapping) else {"extensions": getattr(error, "extensions", None)}
        extensions = content.get("extensions")
        codes = [extensions.get("code")] if isinstance(extensions, Mapping) else []
        for value in (*codes, content.get("type"), content.get("code")):
            if code := Upstream.error_code(value):
                yield code
                break


def _status_of(code: str) -> int | None:
    normal = code.upper().replace("-", "_")
    return next((status for status, codes in _STATUS_OF.items() if normal in codes), None)


def _request(cause: Any) -> tuple[str | None, str | None]:
    """Return the request's method and URL if the HTTP client's exception has both."""
    request = getattr(cause, "request", None) or getattr(cause, "request_info", None)
    method, url = getattr(request, "method", None), getattr(request, "url", None)
    return None if method is None else str(method), None if url is None else str(url)
