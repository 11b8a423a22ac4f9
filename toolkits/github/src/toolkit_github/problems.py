"""Errors of GitHub as messages that a model can act on.

A message of GitHub is included, cleaned and shortened, only if it states how to correct the request.
"""

import re
from collections.abc import Mapping
from time import time
from typing import Any, NamedTuple

from pegboard import (
    ErrorKind,
    NetworkTransportError,
    RetryableToolError,
    ToolExecutionError,
    ToolRuntimeError,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.plugin import decode

__all__ = ["Refused", "no_answer", "not_fetched", "not_understood", "refusal", "too_large"]

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)
_PERMISSIONS = re.compile(r"[a-z_]+=(?:read|write|admin)(?:[,;] ?[a-z_]+=(?:read|write|admin))*")
_SECONDARY_MS = 60_000
"""The delay if GitHub states none. GitHub's documentation requests one minute."""
_LONGEST_MS = 24 * 3600 * 1000
_LATER = " Try again later."
_PERHAPS = " GitHub may have made the change: check before you try again."


class Refused(NamedTuple):
    """An error response of GitHub, with a description (`what`) and the method and path pattern of its request.

    `headers` is case-insensitive. `changes` means that the request may have changed something.
    """

    what: str
    request: str
    changes: bool
    token: str
    status: int
    headers: Mapping[str, str]
    body: bytes


def refusal(refused: Refused) -> ToolRuntimeError:
    """Return the error for a response with an error status."""
    if (wait := _wait_ms(refused)) is not None:
        return _rate_limit(wait)
    status = refused.status
    if status in (400, 405, 409, 422):
        return UpstreamError(_explained(refused), status_code=status)
    detail = f"{refused.request} -> {status}, request id {_id(refused)}"
    if status == 404:
        return UpstreamError(
            f"{refused.what} was not found: it does not exist, or the token cannot see it. Check the names.",
            status_code=status,
        )
    error = UpstreamError(_sentence(refused), detail, status_code=status)
    error.can_retry = error.can_retry and not refused.changes
    return error


def _sentence(refused: Refused) -> str:
    status = refused.status
    if status == 401:
        return "GitHub rejected the token: it is invalid or expired."  # the host says how to get another one
    if status == 403 and refused.headers.get("x-github-sso", "").startswith("required"):
        return "The organization requires single sign-on: authorize the token for it."
    if status == 403:
        needed = refused.headers.get("x-accepted-github-permissions", "")
        needs = f" Required: {needed}." if _PERMISSIONS.fullmatch(needed) else ""
        return f"GitHub forbids this: the token lacks a permission, or the repository does not allow it.{needs}"
    if status == 410:
        return f"{refused.what} was deleted, or the feature is disabled for the repository."
    if status == 451:
        return f"{refused.what} is unavailable for legal reasons."
    if status >= 500:
        return f"GitHub failed (status {status})." + (_PERHAPS if refused.changes else _LATER)
    if status < 400:
        return f"{refused.what} may have moved: GitHub sent a redirect (status {status}) that the tools do not follow."
    return f"GitHub refuses the request (status {status})."


def _explained(refused: Refused) -> str:
    body = _object(refused.body)
    parts = [_clean(body.get("message"), refused.token, 200)]
    errors = body.get("errors")
    if isinstance(errors, list):
        parts += [_field(error, refused.token) for error in errors[:5]]
    told = "; ".join(part.rstrip(".") for part in parts if part)
    lead = "The change conflicts with the current state" if refused.status == 409 else "GitHub refuses this"
    return f"{lead}: {told}." if told else f"{lead} (status {refused.status})."


def _field(error: object, token: str) -> str:
    if not isinstance(error, dict):
        return _clean(error, token, 120)
    where = _clean(error.get("field"), token, 60)
    said = _clean(error.get("message") or error.get("code"), token, 120)
    return f"{where}: {said}" if where and said else where or said


def _clean(text: object, token: str, limit: int) -> str:
    """Return a message of GitHub as one short line without URLs, or ""."""
    if not isinstance(text, str):
        return ""
    text = _URL.sub("(URL)", text.replace(token, "(token)"))
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[:limit] + "..."


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = decode(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _id(refused: Refused) -> str:
    found = refused.headers.get("x-github-request-id", "")
    return found if re.fullmatch(r"[A-Za-z0-9:-]{1,80}", found) else "unknown"


def _wait_ms(refused: Refused) -> int | None:
    """Return the delay that GitHub requests, or None if the response is not a rate limit.

    The secondary limit comes first, because it can apply together with the primary one and states an exact delay.
    """
    if refused.status not in (403, 429):
        return None
    headers = refused.headers
    if after := headers.get("retry-after", ""):
        seconds = float(after) if after.isascii() and after.isdigit() else _seconds_until(after, headers)
        return _SECONDARY_MS if seconds is None else _bounded(seconds)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
        return _bounded(float(reset) - _now(headers) + 1)
    said = _object(refused.body).get("message")
    limited = refused.status == 429 or (isinstance(said, str) and "rate limit" in said.lower())
    return _SECONDARY_MS if limited else None


def _seconds_until(date: str, headers: Mapping[str, str]) -> float | None:
    time_of_date = _seconds(date)
    return None if time_of_date is None else time_of_date - _now(headers)


def _now(headers: Mapping[str, str]) -> float:
    """Return the time of GitHub's clock if the response has it, because the local clock may be wrong."""
    told = _seconds(headers.get("date", ""))
    return time() if told is None else told


def _seconds(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None


def _bounded(seconds: float) -> int:
    return int(min(max(seconds * 1000, 1000), _LONGEST_MS))


def _rate_limit(wait_ms: int) -> UpstreamRateLimitError:
    seconds = -(-wait_ms // 1000)
    span = f"{seconds} seconds" if seconds < 120 else f"{-(-seconds // 60)} minutes"
    return UpstreamRateLimitError(f"GitHub's rate limit is reached. Try again in {span}, not before.", wait_ms)


def no_answer(error: Exception, detail: str, *, changes: bool, sent: bool) -> NetworkTransportError:
    """Return the error for a request without a complete response.

    Args:
        error: the exception.
        detail: the same for the log.
        changes: the request may have changed something, so it must not be repeated blindly.
        sent: GitHub may have received the request.
    """
    kind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE
    message = "GitHub cannot be reached."
    if isinstance(error, TimeoutError):
        kind, message = ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, "GitHub did not respond in time."
    elif sent:
        kind, message = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED, "The connection to GitHub was lost."
    uncertain = changes and sent
    if uncertain:
        message += _PERHAPS
    return NetworkTransportError(message, detail, kind=kind, can_retry=not uncertain)


def not_understood(request: str, *, changes: bool = False) -> UpstreamError:
    """Return the error for a response that does not come from GitHub's API."""
    message = "The response does not come from GitHub's API: the operator should check base_url and the proxies."
    if changes:
        message += _PERHAPS
    error = UpstreamError(message, f"{request}: the response does not match the API's description", status_code=502)
    error.can_retry = not changes
    return error


def not_fetched(what: str, status: int) -> UpstreamError:
    """Return the error for a file that is missing at the URL of GitHub."""
    return UpstreamError(
        f"{what} could not be fetched from GitHub's file storage (status {status}).", status_code=status
    )


def too_large(limit: int, *, changes: bool) -> ToolExecutionError:
    """Return the error for a response that is larger than the settings allow."""
    message = f"GitHub's response is larger than {limit} bytes."
    if changes:
        return ToolExecutionError(message + _PERHAPS)
    return RetryableToolError(message + " Request less, such as fewer items per page.")
