"""The retry delay from the headers of a response (RFC 9110 section 10.2.3, and common usage)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_EPOCH = 1_000_000_000
"""The number from which a value is read as seconds since 1970. Smaller values are durations. This number would be 31
years."""
_EPOCH_MS = _EPOCH * 1000
_MAX_SECONDS = 366 * 24 * 3600.0
"""The delay above which a header is ignored."""

_SECONDS = (
    "retry-after",
    "x-ratelimit-reset-after",
    "x-ratelimit-reset",
    "x-rate-limit-reset",
    "ratelimit-reset",
    "x-app-rate-limit-reset",
)
_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms", "x-ratelimit-reset-ms")
_REMAINING = (
    "x-ratelimit-remaining",
    "x-rate-limit-remaining",
    "ratelimit-remaining",
    "x-app-rate-limit-remaining",
)


_DELAYS = ("retry-after", "retry-after-ms", "x-ms-retry-after-ms")


def lower(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with names in lower case, as the other functions of this module expect them."""
    return {str(name).lower(): str(value) for name, value in headers.items()}


def is_used_up(headers: Mapping[str, str]) -> bool:
    """Return True if the rate limit of the service is used up. `headers` must have lower-case names."""
    return any(_number(headers.get(name)) == 0 for name in _REMAINING)


def asks_to_wait(headers: Mapping[str, str]) -> bool:
    """Return True if the service requests a delay before a retry. `headers` must have lower-case names."""
    return any(name in headers for name in _DELAYS)


def retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """Return the milliseconds to wait before a retry, according to the headers of a response.

    `Retry-After` has seconds or a date. Rate-limit headers have seconds, milliseconds, or a time since 1970. Dates and
    times are compared with the `Date` of the response, or with the clock of this machine if `Date` is missing.

    Args:
        headers: the headers of the response, with case-insensitive names.

    Returns:
        The delay in milliseconds, or None if no header has a valid value.
    """
    headers = lower(headers)
    for names, unit in ((_SECONDS[:1], 1.0), (_MILLISECONDS, 0.001), (_SECONDS[1:], 1.0)):
        for name in names:
            seconds = _seconds(headers.get(name), unit, headers)
            if seconds is not None:
                return math.ceil(seconds * 1000)
    return None


def _seconds(value: str | None, unit: float, headers: Mapping[str, str]) -> float | None:
    if value is None:
        return None
    number = _number(value)
    if number is None:
        at = _date(value)
        seconds = None if at is None else at - _now(headers)
    elif number >= _EPOCH_MS:
        seconds = number / 1000 - _now(headers)
    elif number >= _EPOCH:
        seconds = number - _now(headers)
    else:
        seconds = number * unit
    return None if seconds is None or seconds > _MAX_SECONDS else max(seconds, 0.0)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str) -> float | None:
    """Return a date of HTTP as seconds since 1970. The form of asctime, which has no zone, is in UTC."""
    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _now(headers: Mapping[str, str]) -> float:
    date = headers.get("date")
    at = None if date is None else _date(date)
    return time.time() if at is None else at
