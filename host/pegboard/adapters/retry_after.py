"""How long a service asks to wait, from the headers of its answer (RFC 9110 section 10.2.3, and common usage)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_EPOCH = 1_000_000_000
"""Numbers from here on are points in time, in seconds since 1970; as a duration it would be 31 years."""
_EPOCH_MS = _EPOCH * 1000
_MAX_SECONDS = 366 * 24 * 3600.0
"""Seconds; what asks for more is no sound header."""

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


_ASKING = ("retry-after", "retry-after-ms", "x-ms-retry-after-ms")


def lower(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with their names in lower case, as the other functions here expect them."""
    return {str(name).lower(): str(value) for name, value in headers.items()}


def is_used_up(headers: Mapping[str, str]) -> bool:
    """Whether a service says that nothing remains of what its caller may ask for; names in lower case."""
    return any(_number(headers.get(name)) == 0 for name in _REMAINING)


def asks_to_wait(headers: Mapping[str, str]) -> bool:
    """Whether a service names a time before which it should not be asked again; names in lower case."""
    return any(name in headers for name in _ASKING)


def retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """For how long to wait before the next try, by the headers of an answer.

    It reads `Retry-After` in seconds and as a date, and the headers of rate limits in seconds, in milliseconds and as
    points in time since 1970. Points in time are measured from the `Date` that the answer itself carries, else from
    this machine's clock.

    Args:
        headers: of the answer; names in any case.

    Returns:
        Milliseconds; None when the headers do not say, or nothing sound.
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
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None


def _now(headers: Mapping[str, str]) -> float:
    date = headers.get("date")
    at = None if date is None else _date(date)
    return time.time() if at is None else at
