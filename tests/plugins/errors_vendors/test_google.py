"""Failures of `googleapiclient`, met by real clients of Drive and Gmail, with answers as Google documents them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.plugins.errors_http.service import CANARY, Service, answer
from tests.plugins.errors_vendors.conftest import Program

FILE = "/files/f1"
JSON = {"Content-Type": "application/json; charset=UTF-8"}
UNMAPPED = "NETWORK_TRANSPORT_RUNTIME_UNMAPPED"


def says(code: int, headers: dict[str, str] | None = None, *, reason: str | None = None, **more: Any) -> bytes:
    """An answer of Google's, in the older form when a reason is given."""
    error = {"code": code, "message": CANARY, **more}
    if reason:
        error["errors"] = [{"domain": CANARY, "reason": reason, "message": CANARY, "location": CANARY}]
    return answer(code, {**JSON, **(headers or {})}, json.dumps({"error": error}).encode())


def info(reason: str) -> dict[str, Any]:
    """What the newer form says."""
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    return {"@type": kind, "reason": reason, "domain": CANARY, "metadata": {"consumer": CANARY}}


@pytest.mark.parametrize(
    ("sent", "status", "kind", "word"),
    [
        (says(404, reason="notFound"), 404, "UPSTREAM_RUNTIME_NOT_FOUND", "notFound"),
        (says(401, reason="authError"), 401, "UPSTREAM_RUNTIME_AUTH_ERROR", "authError"),
        (says(403, reason="insufficientFilePermissions"), 403, "UPSTREAM_RUNTIME_AUTH_ERROR", None),
        (says(400, status="INVALID_ARGUMENT", details=[info("API_KEY_INVALID")]), 400, "", "API_KEY_INVALID"),
        (says(400, status="FAILED_PRECONDITION"), 400, "UPSTREAM_RUNTIME_BAD_REQUEST", "FAILED_PRECONDITION"),
        (says(403, reason="dailyLimitExceeded"), 403, "UPSTREAM_RUNTIME_AUTH_ERROR", "dailyLimitExceeded"),
        (says(500, reason="backendError"), 500, "UPSTREAM_RUNTIME_SERVER_ERROR", "backendError"),
    ],
    ids=["not found", "no auth", "forbidden", "details", "status", "daily limit", "server"],
)
def test_an_answer_with_an_error(
    sent: bytes, status: int, kind: str, word: str | None, program: Program, service: Service
) -> None:
    service.answers[FILE] = sent
    told = program.fail("google", url=service.root)
    assert told["cause"] == "googleapiclient.errors.HttpError"
    assert (told["type"], told["status_code"]) == ("UpstreamError", status)
    assert told["kind"] == kind or not kind
    assert told["retry_after_ms"] is None
    assert told["message"].startswith(f"Google answered with an error: {status} ")
    assert told["extra"]["error_code"] == (word or "insufficientFilePermissions")
    assert told["extra"]["service"] == "_google_api_client"
    assert told["extra"]["endpoint"] == f"{service.place}{FILE}"


@pytest.mark.parametrize(
    ("sent", "wait"),
    [
        (says(429, {"Retry-After": "12"}, reason="rateLimitExceeded"), 12_000),
        (says(403, reason="userRateLimitExceeded"), 1000),
        (says(403, {"Retry-After": "12"}, reason="rateLimitExceeded"), 12_000),
        (says(429, status="RESOURCE_EXHAUSTED", details=[info("RATE_LIMIT_EXCEEDED"), {"retryDelay": "3.5s"}]), 3500),
        (says(429, status="RESOURCE_EXHAUSTED", details=[{"retryDelay": CANARY}]), 1000),
    ],
    ids=["seconds", "forbidden", "forbidden for seconds", "RetryInfo", "no RetryInfo"],
)
def test_a_limit_of_calls(sent: bytes, wait: int, program: Program, service: Service) -> None:
    service.answers[FILE] = sent
    told = program.fail("google", url=service.root)
    assert (told["type"], told["kind"]) == ("UpstreamRateLimitError", "UPSTREAM_RUNTIME_RATE_LIMIT")
    assert (told["can_retry"], told["retry_after_ms"]) == (True, wait)


@pytest.mark.parametrize(
    "body",
    [CANARY.encode(), b"", b"[]", b"[[]]", b'{"error": {"details": {"a": 1}, "errors": [null]}}', b"\xff"],
    ids=["text", "nothing", "a list", "lists", "odd members", "no text"],
)
def test_a_body_without_sense_leaves_the_status(body: bytes, program: Program, service: Service) -> None:
    service.answers[FILE] = answer(502, JSON, body)
    told = program.fail("google", url=service.root)
    assert told["message"] == "Google answered with an error: 502 Bad Gateway."
    assert "error_code" not in told["extra"]


def test_a_list_of_answers_speaks_by_its_first(program: Program, service: Service) -> None:
    service.answers[FILE] = answer(404, JSON, json.dumps([{"error": {"status": "NOT_FOUND"}}]).encode())
    assert program.fail("google", url=service.root)["extra"]["error_code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("sent", "status", "word"),
    [
        (answer(400, JSON, b'{"error": "invalid_grant", "error_description": "%b"}' % CANARY.encode()), 401, None),
        (answer(503, JSON, b'{"error": "temporarily_unavailable"}'), 503, "none"),
    ],
    ids=["revoked", "down"],
)
def test_credentials_that_cannot_be_renewed(
    sent: bytes, status: int, word: str | None, program: Program, service: Service
) -> None:
    service.answers["/token"] = sent
    told = program.fail("google_credentials", url=service.root)
    assert told["cause"] == "google.auth.exceptions.RefreshError"
    assert (told["type"], told["status_code"]) == ("UpstreamError", status)
    assert told["extra"].get("error_code", "none") == (word or "invalid_grant")
    assert "credentials" in told["message"]


def test_credentials_that_nobody_renews(program: Program, service: Service) -> None:
    service.answers["/token"] = b""
    told = program.fail("google_credentials", url=service.root)
    assert told["cause"] == "google.auth.exceptions.TransportError"
    assert told["message"] == "Google could not be reached."


def test_a_batch_that_is_answered_with_something_else(program: Program, service: Service) -> None:
    service.answers["/batch"] = answer(200, JSON)
    told = program.fail("google_batch", url=service.root)
    assert told["cause"] == "googleapiclient.errors.BatchError"
    assert (told["kind"], told["message"]) == (UNMAPPED, "Google sent an answer that cannot be read.")


def test_a_batch_that_is_refused(program: Program, service: Service) -> None:
    service.answers["/batch"] = says(401, reason="authError")
    told = program.fail("google_batch", url=service.root)
    assert (told["status_code"], told["extra"]["endpoint"]) == (401, f"{service.place}/batch")


def test_a_description_of_an_api_that_cannot_be_read(program: Program, service: Service) -> None:
    service.answers["/discovery"] = answer(200)
    told = program.fail("google_refuses", what="unreadable description", url=service.root)
    assert told["cause"] == "googleapiclient.errors.InvalidJsonError"
    assert (told["type"], told["kind"]) == ("NetworkTransportError", UNMAPPED)


@pytest.mark.parametrize(
    ("what", "error", "status"),
    [
        ("unknown API", "UnknownApiNameOrVersion", 404),
        ("chunks", "InvalidChunkSizeError", 400),
        ("notification", "InvalidNotificationError", 400),
        ("size", "MediaUploadSizeError", 400),
        ("picture.png", "UnacceptableMimeTypeError", 400),
        ("something", "UnknownFileType", 500),
        ("batch", "BatchError", 500),
    ],
)
def test_what_the_client_itself_refuses(what: str, error: str, status: int, program: Program) -> None:
    told = program.fail("google_refuses", what=what)
    assert told["cause"] == f"googleapiclient.errors.{error}"
    assert told["type"] == ("FatalToolError" if status == 500 else "UpstreamError")
    assert told["status_code"] == status
    assert told["extra"] == {"service": "_google_api_client", "error_type": error}


@pytest.mark.parametrize(
    ("path", "timeout", "kind"),
    [
        (FILE, 0.05, "NETWORK_TRANSPORT_RUNTIME_TIMEOUT"),
        (FILE, 10.0, "NETWORK_TRANSPORT_RUNTIME_UNREACHABLE"),
    ],
    ids=["in time", "at all"],
)
def test_no_answer_is_for_the_adapter_of_http_clients(
    path: str, timeout: float, kind: str, program: Program, service: Service
) -> None:
    service.answers[path] = b""
    if timeout < 1:
        service.held.add(path)
    told = program.fail("google", url=service.root, timeout=timeout)
    assert (told["kind"], told["extra"]["service"]) == (kind, "_http")


def test_a_name_that_nobody_has_is_for_the_adapter_of_http_clients(program: Program) -> None:
    told = program.fail("google", url="http://nobody.invalid")
    assert told["cause"] == "httplib2.error.ServerNotFoundError"
    assert (told["kind"], told["extra"]["service"]) == ("NETWORK_TRANSPORT_RUNTIME_UNREACHABLE", "_http")
