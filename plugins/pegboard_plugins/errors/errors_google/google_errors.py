"""Exceptions of Google's client as typed errors.

Responses have the error format of https://google.aip.dev/193 or the older format with `errors`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pegboard import ErrorKind, ToolRuntimeError
from pegboard.plugin import Upstream, instance_of

_ERRORS = "googleapiclient.errors"
_AUTH = "google.auth.exceptions"
_LIMITED = {"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED"}
_UNMAPPED = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED
_UNREADABLE = "Google sent a response that cannot be read."
_CLIENTS = (
    ("UnknownApiNameOrVersion", 404, "Google has no API of the name and version that the tool requests."),
    ("UnacceptableMimeTypeError", 400, "Google does not accept media of this type."),
    ("MediaUploadSizeError", 400, "The media are larger than Google accepts."),
    ("InvalidChunkSizeError", 400, "The tool's upload has a chunk size that Google does not accept."),
    ("InvalidNotificationError", 400, "The tool received a notification that is not from Google."),
)
"""Exceptions that the client raises without a response: class, equivalent status, and message for the caller."""


def map_google_error(error: Any, slug: str) -> ToolRuntimeError | None:
    """Return a typed error, or None for exceptions of other libraries."""
    google = Upstream(slug, "Google")
    if instance_of(error, _ERRORS, "HttpError"):
        return _response_error(error, google)
    if instance_of(error, _ERRORS, "InvalidJsonError"):
        return google.unanswered(error, _UNREADABLE, kind=_UNMAPPED)
    for name, status, message in _CLIENTS:
        if instance_of(error, _ERRORS, name):
            return google.answered(error, status, message=message, extra={"error_type": type(error).__name__})
    if instance_of(error, _ERRORS, "Error"):
        return google.unsent(error)
    return _credentials_error(error, google)


def _response_error(error: Any, google: Upstream) -> ToolRuntimeError:
    status = getattr(error.resp, "status", None)
    if not isinstance(status, int):  # the client refused a batch
        return google.unsent(error)
    url = getattr(error, "uri", None)
    if status < 300:  # the response to a batch is not a batch
        return google.unanswered(error, _UNREADABLE, kind=_UNMAPPED, url=url)
    body = _error_body(error.content)
    reasons = list(_reasons(body))
    limited = status in (403, 429) and not _LIMITED.isdisjoint(reasons)
    wait = _retry_delay(body)
    return google.answered(
        error, status, error.resp, code=next(iter(reasons), None), url=url, limited=limited, wait_ms=wait
    )


def _credentials_error(error: Any, google: Upstream) -> ToolRuntimeError | None:
    if instance_of(error, _AUTH, "RefreshError"):
        if getattr(error, "retryable", False):
            return google.answered(error, 503, message="Google could not renew the tool's credentials.")
        answer = error.args[1] if len(error.args) > 1 else None
        reason = answer.get("error") if isinstance(answer, Mapping) else None
        message = "Google does not renew the tool's credentials: they have expired or were revoked."
        return google.answered(error, 401, message=message, code=reason)
    if instance_of(error, _AUTH, "TransportError", "TimeoutError"):
        return google.unanswered(error)
    return None


def _error_body(content: object) -> Mapping[str, Any]:
    """Return the error object in a response's body, or an empty mapping if the body is invalid."""
    try:
        data = json.loads(content) if isinstance(content, bytes) else None
    except (ValueError, RecursionError):
        return {}
    first = data[0] if isinstance(data, list) and data else data
    body = first.get("error") if isinstance(first, dict) else None
    return body if isinstance(body, dict) else {"status": body}


def _reasons(body: Mapping[str, Any]) -> Iterator[str]:
    """Return the reasons of an error, the most specific first."""
    for item in (*_items(body, "errors"), *_items(body, "details"), {"reason": body.get("status")}):
        if reason := Upstream.error_code(item.get("reason")):
            yield reason


def _retry_delay(body: Mapping[str, Any]) -> int | None:
    """Return the delay of a `google.rpc.RetryInfo`, such as "3.5s", in milliseconds."""
    for detail in _items(body, "details"):
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s") and delay[:-1].replace(".", "", 1).isdecimal():
            return math.ceil(float(delay[:-1]) * 1000)
    return None


def _items(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    items = body.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
