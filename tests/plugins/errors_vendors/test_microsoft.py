"""Failures of `msgraph`, met by a real client of Graph and by kiota alone, with answers as Microsoft documents them."""

from __future__ import annotations

import json

import pytest

from tests.plugins.errors_http.service import CANARY, Service, answer
from tests.plugins.errors_vendors.conftest import Program

USER = "/users/u1"
JSON = {"Content-Type": "application/json"}
ODATA = "msgraph.generated.models.o_data_errors.o_data_error.ODataError"


def says(status: int, code: str, headers: dict[str, str] | None = None) -> bytes:
    """An answer of Graph's."""
    inner = {"date": "2033-05-18T03:33:20", "request-id": CANARY, "client-request-id": CANARY}
    body = {"error": {"code": code, "message": CANARY, "innerError": inner}}
    return answer(status, {**JSON, "request-id": CANARY, **(headers or {})}, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("status", "code", "kind", "can_retry"),
    [
        (400, "ErrorInvalidRequest", "UPSTREAM_RUNTIME_BAD_REQUEST", False),
        (401, "InvalidAuthenticationToken", "UPSTREAM_RUNTIME_AUTH_ERROR", False),
        (403, "Authorization_RequestDenied", "UPSTREAM_RUNTIME_AUTH_ERROR", False),
        (404, "itemNotFound", "UPSTREAM_RUNTIME_NOT_FOUND", False),
        (500, "generalException", "UPSTREAM_RUNTIME_SERVER_ERROR", True),
    ],
)
def test_an_answer_with_an_error(
    status: int, code: str, kind: str, can_retry: bool, program: Program, service: Service
) -> None:
    service.answers[USER] = says(status, code)
    told = program.fail("graph", url=service.root)
    assert told["cause"] == ODATA
    assert (told["type"], told["kind"], told["status_code"]) == ("UpstreamError", kind, status)
    assert (told["can_retry"], told["retry_after_ms"]) == (can_retry, None)
    assert told["message"].startswith(f"Microsoft Graph answered with an error: {status} ")
    assert told["message"].endswith(f", {code}.")
    assert told["extra"] == {"service": "_microsoft_graph", "error_code": code}


@pytest.mark.parametrize(
    ("status", "code", "headers", "wait"),
    [
        (429, "TooManyRequests", {"Retry-After": "10"}, 10_000),
        (429, "activityLimitReached", {"RateLimit-Remaining": "0", "RateLimit-Reset": "13"}, 13_000),
        (429, "TooManyRequests", {"x-ms-retry-after-ms": "250"}, 250),
        (429, "TooManyRequests", {}, 1000),
        (503, "TooManyRequests", {"Retry-After": "10"}, 10_000),
    ],
    ids=["seconds", "rate limit headers", "milliseconds", "nothing said", "status 503"],
)
def test_a_limit_of_calls(
    status: int, code: str, headers: dict[str, str], wait: int, program: Program, service: Service
) -> None:
    service.answers[USER] = says(status, code, headers)
    told = program.fail("graph", url=service.root)
    assert told["cause"] == ODATA
    assert (told["type"], told["status_code"], told["retry_after_ms"]) == ("UpstreamRateLimitError", 429, wait)


def test_a_service_that_is_down_for_a_while_says_for_how_long(program: Program, service: Service) -> None:
    service.answers[USER] = says(503, "serviceNotAvailable", {"Retry-After": "10"})
    told = program.fail("graph", url=service.root)
    assert (told["type"], told["status_code"], told["retry_after_ms"]) == ("UpstreamError", 503, 10_000)


@pytest.mark.parametrize("tool", ["graph", "kiota"])
def test_a_body_without_sense_leaves_the_status(tool: str, program: Program, service: Service) -> None:
    service.answers[USER] = answer(502, {"Content-Type": "text/html"})
    told = program.fail(tool, url=service.root)
    assert told["cause"] == "kiota_abstractions.api_error.APIError"
    assert told["message"] == "Microsoft Graph answered with an error: 502 Bad Gateway."


def test_of_an_answer_without_a_model_the_headers_are_read(program: Program, service: Service) -> None:
    service.answers[USER] = says(429, "TooManyRequests", {"Retry-After": "10"})
    told = program.fail("kiota", url=service.root)
    assert (told["type"], told["retry_after_ms"]) == ("UpstreamRateLimitError", 10_000)
    assert "error_code" not in told["extra"]


def test_redirections_without_end(program: Program, service: Service) -> None:
    service.answers[USER] = answer(302, {"Location": f"{service.root}{USER}?{CANARY}"})
    told = program.fail("kiota", url=service.root)
    assert told["cause"] == "kiota_http._exceptions.RedirectError"
    assert (told["kind"], told["can_retry"]) == ("NETWORK_TRANSPORT_RUNTIME_UNMAPPED", False)


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("method", "kiota_http._exceptions.RequestError"),
        ("scheme", "kiota_authentication_azure._exceptions.HTTPError"),
    ],
)
def test_a_request_that_cannot_be_sent(what: str, error: str, program: Program) -> None:
    told = program.fail("kiota_refuses", what=what)
    assert told["cause"] == error
    assert told["type"] == "FatalToolError"
    assert told["message"] == "The request that the tool made to Microsoft Graph cannot be sent."


@pytest.mark.parametrize("what", ["no status", "no answer", "model"])
def test_what_is_no_answer_that_can_be_read(what: str, program: Program) -> None:
    told = program.fail("kiota_refuses", what=what)
    assert (told["type"], told["kind"]) == ("NetworkTransportError", "NETWORK_TRANSPORT_RUNTIME_UNMAPPED")
    assert told["message"] == "Microsoft Graph sent an answer that cannot be read."


def test_no_answer_is_for_the_adapter_of_http_clients(program: Program, service: Service) -> None:
    told = program.fail("graph", url=service.root)
    assert (told["kind"], told["extra"]["service"]) == ("NETWORK_TRANSPORT_RUNTIME_UNREACHABLE", "_http")
