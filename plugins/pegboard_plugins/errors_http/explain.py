"""What a failure of an HTTP client amounts to for the caller of a tool.

The message says it in our own words: nothing of the URL's query, of a header or of a body is in it.
"""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from pegboard import (
    ErrorKind,
    FatalToolError,
    NetworkTransportError,
    ToolRuntimeError,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard_plugins.errors_http.recognize import Answer, Cause, Silence, recognize
from pegboard_plugins.errors_http.waiting import is_used_up, wait_ms

DEFAULT_WAIT_MS = 1000
"""How long to wait when a service limits its callers and does not say for how long."""

_SILENCE = {
    Cause.REQUEST: (None, False, "The request that the tool made to the service cannot be sent."),
    Cause.TIMEOUT: (ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, True, "The service did not answer in time."),
    Cause.INSECURE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE,
        False,
        "No secure connection to the service could be made.",
    ),
    Cause.UNREACHABLE: (ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, True, "The service could not be reached."),
    Cause.REDIRECTS: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        False,
        "The service's redirections lead nowhere.",
    ),
    Cause.UNREADABLE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        True,
        "The service sent an answer that cannot be read.",
    ),
    Cause.OTHER: (ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED, True, "The request to the service failed."),
}
"""For each cause: the kind, whether it can be tried again, and what the caller is told."""


def explain(error: Exception, service: str) -> ToolRuntimeError | None:
    """The error for the caller, None when the exception is of no HTTP client.

    Args:
        error: what a tool raised.
        service: stands in the error's `extra`.
    """
    found = recognize(error)
    if found is None:
        return None
    endpoint = _endpoint(found.url)
    extra = {"service": service, "endpoint": endpoint, "http_method": found.method}
    if isinstance(found, Silence):
        extra["error_type"] = type(error).__name__
    known = {name: value for name, value in extra.items() if value is not None}
    detail = [f"{type(error).__module__}.{type(error).__qualname__}", found.method, endpoint]
    if isinstance(found, Answer):
        return _answered(found, " ".join([*filter(None, detail), str(found.status)]), known)
    return _silent(found.cause, " ".join(filter(None, detail)), known)


def _answered(answer: Answer, detail: str, extra: dict[str, Any]) -> UpstreamError:
    wait = wait_ms(answer.headers)
    limited = answer.status == 429 or (answer.status == 403 and (is_used_up(answer.headers) or _asks_to_wait(answer)))
    if limited:
        wait = wait or DEFAULT_WAIT_MS
        message = f"The service limits how often it may be asked ({_status(answer.status)}). {_later(wait)}"
        return UpstreamRateLimitError(message, wait, detail, extra=extra)
    message = f"The service answered with an error: {_status(answer.status)}."
    error = UpstreamError(message, detail, status_code=answer.status, extra=extra)
    if error.can_retry and wait is not None and _asks_to_wait(answer):
        error = UpstreamError(f"{message} {_later(wait)}", detail, status_code=answer.status, extra=extra)
        error.retry_after_ms = wait
    return error


def _asks_to_wait(answer: Answer) -> bool:
    return any(answer.headers.get(name) is not None for name in ("retry-after", "retry-after-ms"))


def _silent(cause: Cause, detail: str, extra: dict[str, Any]) -> ToolRuntimeError:
    kind, can_retry, message = _SILENCE[cause]
    if kind is None:
        return FatalToolError(message, detail, extra=extra)
    return NetworkTransportError(message, detail, kind=kind, can_retry=can_retry, extra=extra)


def _status(status: int) -> str:
    """The number with the name that the standard gives it; the service's own words stay out."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _later(wait: int) -> str:
    seconds = math.ceil(wait / 1000)
    return f"Try again in {seconds} second{'' if seconds == 1 else 's'}."


def _endpoint(url: str | None) -> str | None:
    """Host and path of a URL, without user, password, query and fragment."""
    try:
        parts = urlsplit(url or "")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    name = f"[{host}]" if ":" in host else host
    return (f"{name}:{port}{parts.path}" if port is not None else f"{name}{parts.path}") or None
