"""Errors for error responses, missing responses and requests that were not sent; headers with a retry delay."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from typing import Any
from xml.parsers.expat import ExpatError

import pytest

from pegboard import ErrorKind, FatalToolError, UpstreamError, UpstreamRateLimitError
from pegboard.adapters.retry_after import is_used_up, retry_after_ms
from pegboard.plugin import Upstream, instance_of

ACME = Upstream("acme", "Acme")
URL = "https://user:canary@acme.example:8443/v1/it?token=canary#canary"
TIMEOUT = ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT
UNREACHABLE = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE


def answered(status: int, headers: dict[str, str] | None = None, **more: Any) -> UpstreamError:
    return ACME.answered(ValueError("canary"), status, headers or {}, **more)


def test_an_error_response_names_status_and_place_without_secrets() -> None:
    error = answered(404, {"X": "canary"}, code="no_item", method="GET", url=URL, extra={"more": 1, "less": None})
    assert type(error) is UpstreamError
    assert error.to_payload() == {
        "message": "Acme answered with an error: 404 Not Found, no_item.",
        "developer_message": "builtins.ValueError GET https://acme.example:8443/v1/it 404 no_item",
        "kind": "UPSTREAM_RUNTIME_NOT_FOUND",
        "can_retry": False,
        "status_code": 404,
        "retry_after_ms": None,
        "additional_prompt_content": None,
        "stacktrace": None,
        "extra": {
            "service": "acme",
            "endpoint": "https://acme.example:8443/v1/it",
            "http_method": "GET",
            "error_code": "no_item",
            "more": 1,
        },
    }


@pytest.mark.parametrize(
    ("status", "headers", "more", "limited", "wait"),
    [
        (429, {"Retry-After": "7"}, {"wait_ms": 2500}, True, 2500),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "3"}, {}, True, 3000),
        (200, {"RETRY-AFTER": "5"}, {"limited": True}, True, 5000),
        (503, {"X-RateLimit-Reset-After": "5"}, {}, False, None),
        (403, {"X-RateLimit-Remaining": "1"}, {}, False, None),
        (404, {"Retry-After": "5"}, {}, False, None),
    ],
)
def test_a_rate_limit_has_a_delay_and_other_responses_if_the_service_requests_one(
    status: int, headers: Any, more: Any, limited: bool, wait: int | None
) -> None:
    error = answered(status, headers, **more)
    assert type(error) is (UpstreamRateLimitError if limited else UpstreamError)
    assert (error.status_code, error.retry_after_ms) == (429 if limited else status, wait)
    assert error.message.startswith("Acme limits how often it may be asked (") is limited
    if wait is not None:
        assert error.message.endswith(f"Try again in {-(-wait // 1000)} second{'s' * (wait > 1000)}.")


def test_a_message_may_be_given_and_a_url_is_reduced_to_host_and_path() -> None:
    assert answered(400, message="It is too large.").message == "It is too large."
    assert answered(429, message="Too fast.").message == "Too fast. Try again in 1 second."
    assert answered(599).message == "Acme answered with an error: 599."
    endpoints = {"http://[::1]:80/x?canary": "http://[::1]:80/x", "//h/x": "h/x", "http://[broken": None, "": None}
    assert {url: answered(400, url=url).extra.get("endpoint") for url in endpoints} == endpoints


def wrapped(cause: BaseException) -> Exception:
    """Wrap an exception as client libraries do: as a cause and as an argument."""
    inner = ExpatError("canary")
    inner.__cause__ = cause
    return ValueError("canary", inner)


@pytest.mark.parametrize(
    ("cause", "kind", "can_retry", "message"),
    [
        (TimeoutError(), TIMEOUT, True, "Acme did not answer in time."),
        (ssl.SSLError("canary"), UNREACHABLE, False, "No secure connection to Acme could be made."),
        (ssl.SSLEOFError("canary"), UNREACHABLE, True, "Acme could not be reached."),
        (ConnectionResetError("canary"), UNREACHABLE, True, "Acme could not be reached."),
    ],
    ids=repr,
)
def test_a_missing_response(cause: BaseException, kind: ErrorKind, can_retry: bool, message: str) -> None:
    error = ACME.unanswered(wrapped(cause), url=URL)
    assert (error.kind, error.can_retry, error.message) == (kind, can_retry, message)
    assert error.extra == {"service": "acme", "endpoint": "https://acme.example:8443/v1/it", "error_type": "ValueError"}


def test_an_error_that_causes_itself_and_a_request_that_was_not_sent() -> None:
    circular = ValueError()
    circular.__cause__ = circular
    assert ACME.unanswered(circular).kind == UNREACHABLE
    error = Upstream("acme").unsent(ValueError("canary"), method="PUT", url=URL)
    assert type(error) is FatalToolError
    assert error.message == "The request that the tool made to the service cannot be sent."
    assert error.developer_message == "builtins.ValueError PUT https://acme.example:8443/v1/it"


def test_an_error_code_is_one_word() -> None:
    for word in ("channel_not_found", "RESOURCE_EXHAUSTED", "itemNotFound", "access-denied", "a.b"):
        assert Upstream.error_code(word) == word
    for value in ("", "two words", "xoxb-5d0c", "_a", "a@b.c", "é", "a\n", "a" * 65, 404, None):
        assert Upstream.error_code(value) is None


def test_classes_are_found_only_in_imported_modules() -> None:
    assert instance_of(ExpatError(), "xml.parsers.expat", "Nothing", "ExpatError")
    assert not instance_of(ExpatError(), "xml.parsers.expat", "errors")
    assert not instance_of(ExpatError(), "no.such.module", "ExpatError")


DATE = "Wed, 18 May 2033 03:33:20 GMT"
NOW = 2_000_000_000
"""The same time in seconds since 1970."""


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the local time zone, where that is possible."""
    set_zone = getattr(time, "tzset", lambda: None)
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "EST5EDT")
        set_zone()
        yield
    set_zone()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"Retry-After": "120"}, 120_000),
        ({"retry-after": " 1.5 "}, 1500),
        ({"retry-after": "Wed, 18 May 2033 03:33:50 GMT"}, 30_000),
        ({"retry-after": "Wed, 18 May 2033 03:33:00 GMT"}, 0),
        ({"retry-after": "Wed May 18 03:33:50 2033"}, 30_000),
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
def test_the_delay_of_a_header(headers: dict[str, str], expected: int | None, new_york: None) -> None:
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
