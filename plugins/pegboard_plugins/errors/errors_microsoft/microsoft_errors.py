"""Exceptions of Microsoft Graph's client as typed errors (https://learn.microsoft.com/graph/errors)."""

from __future__ import annotations

from typing import Any

from pegboard import ErrorKind, ToolRuntimeError
from pegboard.plugin import Upstream, instance_of

_HTTP = "kiota_http._exceptions"
_LIMITED = ("TooManyRequests", "activityLimitReached", "ApplicationThrottled", "throttledRequest")
_UNMAPPED = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED


def map_microsoft_error(error: Any, slug: str) -> ToolRuntimeError | None:
    """Return a typed error, or None for exceptions of other libraries."""
    graph = Upstream(slug, "Microsoft Graph")
    if instance_of(error, "kiota_abstractions.api_error", "APIError"):
        return _response_error(error, graph)
    if instance_of(error, _HTTP, "RedirectError"):
        message = "Microsoft Graph's redirections lead nowhere."
        return graph.unanswered(error, message, kind=_UNMAPPED, can_retry=False)
    if instance_of(error, _HTTP, "ResponseError", "DeserializationError"):
        return graph.unanswered(error, "Microsoft Graph sent a response that cannot be read.", kind=_UNMAPPED)
    if instance_of(error, _HTTP, "KiotaHTTPXError"):
        return graph.unsent(error)
    if instance_of(error, "kiota_authentication_azure._exceptions", "KiotaAuthenticationError"):
        return graph.unsent(error)
    return None


def _response_error(error: Any, graph: Upstream) -> ToolRuntimeError:
    code = getattr(getattr(error, "error", None), "code", None)
    status = error.response_status_code
    if status is None:
        return graph.unanswered(error, "Microsoft Graph sent a response that cannot be read.", kind=_UNMAPPED)
    limited = status == 503 and code in _LIMITED
    return graph.answered(error, status, error.response_headers or {}, code=code, limited=limited)
