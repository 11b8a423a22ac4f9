"""Headers with a retry delay: every form in use, and invalid values."""

from __future__ import annotations

import time

import pytest

from pegboard.adapters.retry_after import is_used_up, retry_after_ms

DATE = "Wed, 18 May 2033 03:33:20 GMT"
NOW = 2_000_000_000
"""The same time in seconds since 1970."""


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"Retry-After": "120"}, 120_000),
        ({"retry-after": " 1.5 "}, 1500),
        ({"retry-after": "Wed, 18 May 2033 03:33:50 GMT"}, 30_000),
        ({"retry-after": "Wed, 18 May 2033 03:33:00 GMT"}, 0),
        ({"retry-after-ms": "250"}, 250),
        ({"x-ratelimit-reset": str(NOW + 60)}, 60_000),
        ({"x-ratelimit-reset": str((NOW + 60) * 1000)}, 60_000),
        ({"x-ratelimit-reset": "45"}, 45_000),
        ({"ratelimit-reset": "45"}, 45_000),
        ({"x-ratelimit-reset-after": "0.75"}, 750),
        ({"x-ratelimit-reset-ms": "1200"}, 1200),
        ({"retry-after": "3", "x-ratelimit-reset": "45"}, 3000),
        ({"retry-after": "soon", "x-ratelimit-reset": "45"}, 45_000),
        *(({"retry-after": wrong}, None) for wrong in ("-5", "nan", "99999999", "Wed, 99 May 2033 03:33:50 GMT", "")),
    ],
    ids=str,
)
def test_the_delay_of_a_header(headers: dict[str, str], expected: int | None) -> None:
    assert retry_after_ms({"date": DATE, **headers}) == expected


def test_without_a_date_the_clock_of_this_machine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW + 10.0)
    assert retry_after_ms({"x-ratelimit-reset": str(NOW + 60)}) == 50_000
    assert retry_after_ms({"x-ratelimit-reset": str(NOW + 60), "date": "today"}) == 50_000


def test_a_rate_limit_is_used_up_when_nothing_remains() -> None:
    for name in ("x-ratelimit-remaining", "ratelimit-remaining", "x-app-rate-limit-remaining"):
        assert is_used_up({name: "0"})
    for headers in ({"x-ratelimit-remaining": "1"}, {"x-ratelimit-remaining": ""}, {}):
        assert not is_used_up(headers)
