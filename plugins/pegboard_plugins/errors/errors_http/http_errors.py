"""Exceptions of HTTP clients as typed errors."""

from __future__ import annotations

from pegboard import ErrorKind, ToolRuntimeError
from pegboard.plugin import Upstream
from pegboard_plugins.errors.errors_http.client_libraries import Cause, ErrorResponse, classify

_SILENCE = {
    Cause.TIMEOUT: (ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, True, "The service did not answer in time."),
    Cause.INSECURE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE,
        False,
        "No secure connection to the service could be made.",
    ),
    Cause.UNREACHABLE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE,
        True,
        "The service could not be reached.",
    ),
    Cause.REDIRECTS: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        False,
        "The service's redirections lead nowhere.",
    ),
    Cause.UNREADABLE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        True,
        "The service sent a response that cannot be read.",
    ),
    Cause.OTHER: (ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED, True, "The request to the service failed."),
}
"""For each cause: the error kind, True if a retry makes sense, and the message for the caller."""


def map_http_error(error: Exception, service: str) -> ToolRuntimeError | None:
    """Return a typed error, or None for exceptions of other libraries.

    Args:
        error: the exception that a tool raised.
        service: the name of the service in the error's `extra`.
    """
    failure, upstream = classify(error), Upstream(service)
    if failure is None:
        return None
    if isinstance(failure, ErrorResponse):
        return upstream.answered(error, failure.status, failure.headers, method=failure.method, url=failure.url)
    if failure.cause is Cause.REQUEST:
        return upstream.unsent(error, method=failure.method, url=failure.url)
    kind, can_retry, message = _SILENCE[failure.cause]
    return upstream.unanswered(error, message, kind=kind, can_retry=can_retry, method=failure.method, url=failure.url)
