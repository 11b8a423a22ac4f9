"""Errors for error responses, missing responses and requests that were not sent."""

from __future__ import annotations

import ssl
from typing import Any
from xml.parsers.expat import ExpatError

import pytest

from pegboard import ErrorKind, FatalToolError, UpstreamError, UpstreamRateLimitError
from pegboard.plugin import Upstream, error_code, instance_of

ACME = Upstream("acme", "Acme")
URL = "https://user:canary@acme.example:8443/v1/it?token=canary#canary"
TIMEOUT = ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT
UNREACHABLE = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE


def answered(status: int, headers: dict[str, str] | None = None, **more: Any) -> UpstreamError:
    return ACME.answered(ValueError("canary"), status, headers or {}, **more)


def test_an_error_response_names_status_and_place_without_secrets() -> None:
    error = answered(
        404, {"X": "canary"}, code="item_not_found", method="GET", url=URL, extra={"more": 1, "less": None}
    )
    assert type(error) is UpstreamError
    assert error.to_payload() == {
        "message": "Acme answered with an error: 404 Not Found, item_not_found.",
        "developer_message": "builtins.ValueError GET acme.example:8443/v1/it 404 item_not_found",
        "kind": "UPSTREAM_RUNTIME_NOT_FOUND",
        "can_retry": False,
        "status_code": 404,
        "retry_after_ms": None,
        "additional_prompt_content": None,
        "stacktrace": None,
        "extra": {
            "service": "acme",
            "endpoint": "acme.example:8443/v1/it",
            "http_method": "GET",
            "error_code": "item_not_found",
            "more": 1,
        },
    }


@pytest.mark.parametrize(
    ("status", "headers", "more", "wait"),
    [
        (429, {}, {}, 1000),
        (429, {"RETRY-AFTER": "7"}, {}, 7000),
        (429, {"Retry-After": "0"}, {}, 1000),
        (429, {"Retry-After": "7"}, {"wait_ms": 2500}, 2500),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "3"}, {}, 3000),
        (403, {"Retry-After": "5"}, {}, 5000),
        (200, {"Retry-After": "5"}, {"limited": True}, 5000),
    ],
)
def test_a_rate_limit_has_a_delay(status: int, headers: Any, more: Any, wait: int) -> None:
    error = answered(status, headers, **more)
    assert type(error) is UpstreamRateLimitError
    assert error.retry_after_ms == wait
    assert error.message.startswith("Acme limits how often it may be asked (")
    assert error.message.endswith(f"Try again in {-(-wait // 1000)} second{'s' * (wait > 1000)}.")


@pytest.mark.parametrize(
    ("status", "headers", "more", "wait"),
    [
        (503, {"Retry-After": "5"}, {}, 5000),
        (503, {}, {"wait_ms": 5000}, 5000),
        (503, {"X-RateLimit-Reset-After": "5"}, {}, None),
        (503, {}, {}, None),
        (403, {"X-RateLimit-Remaining": "1"}, {}, None),
        (404, {"Retry-After": "5"}, {}, None),
    ],
)
def test_other_responses_have_a_delay_only_if_the_service_requests_one(
    status: int, headers: Any, more: Any, wait: int | None
) -> None:
    error = answered(status, headers, **more)
    assert type(error) is UpstreamError
    assert (error.status_code, error.retry_after_ms) == (status, wait)
    assert error.message.endswith("Try again in 5 seconds.") is (wait is not None)


def test_a_message_may_be_given_and_a_url_is_reduced_to_host_and_path() -> None:
    assert answered(400, message="It is too large.").message == "It is too large."
    assert answered(429, message="Too fast.").message == "Too fast. Try again in 1 second."
    assert answered(599).message == "Acme answered with an error: 599."
    endpoints = {"http://[::1]:80/x?canary": "[::1]:80/x", "//host/x": "host/x", "http://[broken": None, "": None}
    assert {url: answered(400, url=url).extra.get("endpoint") for url in (*endpoints, "http://h:port/")} == {
        **endpoints,
        "http://h:port/": None,
    }


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
    assert error.extra == {"service": "acme", "endpoint": "acme.example:8443/v1/it", "error_type": "ValueError"}


def test_a_missing_response_of_a_known_kind_or_of_an_error_that_causes_itself() -> None:
    error = ValueError()
    error.__cause__ = error
    assert ACME.unanswered(error).kind == UNREACHABLE
    kind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED
    known = Upstream("acme").unanswered(ValueError("canary"), kind=kind, can_retry=False)
    assert (known.kind, known.can_retry, known.message) == (kind, False, "The request to the service failed.")


def test_a_request_that_was_not_sent() -> None:
    error = Upstream("acme").unsent(ValueError("canary"), method="PUT", url=URL)
    assert type(error) is FatalToolError
    assert error.message == "The request that the tool made to the service cannot be sent."
    assert error.developer_message == "builtins.ValueError PUT acme.example:8443/v1/it"


def test_an_error_code_is_one_word() -> None:
    for word in ("channel_not_found", "RESOURCE_EXHAUSTED", "itemNotFound", "access-denied", "a.b"):
        assert error_code(word) == word
    for value in ("", "two words", "xoxb-5d0c", "_a", "a__b", "a@b.c", "é", "a\n", "a" * 65, 404, None):
        assert error_code(value) is None


def test_classes_are_found_only_in_imported_modules() -> None:
    assert instance_of(ExpatError(), "xml.parsers.expat", "Nothing", "ExpatError")
    assert not instance_of(ExpatError(), "xml.parsers.expat", "errors")
    assert not instance_of(ExpatError(), "no.such.module", "ExpatError")
