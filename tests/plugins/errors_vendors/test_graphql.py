"""Failures of `gql`, met by its real transports, with answers as services that speak GraphQL document them."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from tests.plugins.errors_http.service import CANARY, Service, answer
from tests.plugins.errors_vendors.conftest import Program

CLIENTS = ["gql_requests", "gql_aiohttp", "gql_httpx"]
JSON = {"Content-Type": "application/json"}


def says(*errors: dict[str, Any], status: int = 200) -> bytes:
    """An answer with errors."""
    body = {"data": None, "errors": [{"message": CANARY, "path": [CANARY], **error} for error in errors]}
    return answer(status, JSON, json.dumps(body).encode())


def code(word: object) -> dict[str, Any]:
    """An error as Apollo writes it."""
    return {"extensions": {"code": word, "stacktrace": [CANARY]}}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("errors", "status", "word"),
    [
        ([code("UNAUTHENTICATED")], 401, "UNAUTHENTICATED"),
        ([code("FORBIDDEN")], 403, "FORBIDDEN"),
        ([{"type": "NOT_FOUND"}], 404, "NOT_FOUND"),
        ([code("validation-failed")], 400, "validation-failed"),
        ([code("BAD_USER_INPUT"), code("INTERNAL_SERVER_ERROR")], 500, "INTERNAL_SERVER_ERROR"),
        ([code("SOMETHING_ELSE")], 422, "SOMETHING_ELSE"),
        ([code(f"{CANARY} in words"), {"extensions": None}], 422, None),
    ],
    ids=["Apollo's", "forbidden", "GitHub's", "Hasura's", "two", "unknown", "none"],
)
def test_errors_in_an_answer(
    client: str, errors: list[dict[str, Any]], status: int, word: str | None, program: Program, service: Service
) -> None:
    service.answers["/graphql"] = says(*errors)
    told = program.fail(client, url=f"{service.root}/graphql")
    assert told["cause"] == "gql.transport.exceptions.TransportQueryError"
    assert (told["type"], told["status_code"], told["can_retry"]) == ("UpstreamError", status, status == 500)
    assert told["message"].startswith(f"The GraphQL service answered with an error: {status} ")
    words = [one["extensions"]["code"] for one in errors if one.get("extensions")] if word else None
    assert told["extra"].get("gql_error_codes") == (words or (["NOT_FOUND"] if word else None))
    assert told["extra"].get("error_code") == word
    assert told["extra"]["service"] == "_graphql"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "errors", [[{"type": "RATE_LIMITED"}], [code("INTERNAL_SERVER_ERROR"), code("THROTTLED")]], ids=["GitHub's", "two"]
)
def test_a_limit_of_calls_in_an_answer(client: str, errors: list[Any], program: Program, service: Service) -> None:
    service.answers["/graphql"] = says(*errors)
    told = program.fail(client, url=f"{service.root}/graphql")
    assert (told["type"], told["status_code"], told["retry_after_ms"]) == ("UpstreamRateLimitError", 429, 1000)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("status", "headers", "kind", "wait"),
    [
        (401, {}, "UPSTREAM_RUNTIME_AUTH_ERROR", None),
        (502, {}, "UPSTREAM_RUNTIME_SERVER_ERROR", None),
        (503, {"Retry-After": "4"}, "UPSTREAM_RUNTIME_SERVER_ERROR", 4000),
        (429, {"Retry-After": "4"}, "UPSTREAM_RUNTIME_RATE_LIMIT", 4000),
        (
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000000030", "Date": "Wed, 18 May 2033 03:33:20 GMT"},
            "UPSTREAM_RUNTIME_RATE_LIMIT",
            30_000,
        ),
    ],
    ids=["no auth", "server", "down for a while", "too often", "used up"],
)
def test_an_answer_of_another_status(
    client: str, status: int, headers: dict[str, str], kind: str, wait: int | None, program: Program, service: Service
) -> None:
    service.answers["/graphql"] = answer(status, headers)
    told = program.fail(client, url=f"{service.root}/graphql")
    assert told["cause"] == "gql.transport.exceptions.TransportServerError"
    assert (told["kind"], told["retry_after_ms"]) == (kind, wait)
    assert told["extra"] == {"service": "_graphql", "endpoint": f"{service.place}/graphql", "http_method": "POST"}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("body", [CANARY.encode(), b"{}"], ids=["text", "nothing in it"])
def test_an_answer_that_is_no_graphql(client: str, body: bytes, program: Program, service: Service) -> None:
    service.answers["/graphql"] = answer(200, JSON, body)
    told = program.fail(client, url=f"{service.root}/graphql")
    assert told["cause"] == "gql.transport.exceptions.TransportProtocolError"
    assert (told["kind"], told["can_retry"]) == ("NETWORK_TRANSPORT_RUNTIME_UNREACHABLE", True)
    assert told["message"] == "The GraphQL service sent an answer that is no GraphQL."


@pytest.mark.parametrize("client", CLIENTS)
def test_no_answer_in_time(client: str, program: Program, service: Service) -> None:
    service.held.add("/graphql")
    told = program.fail(client, url=f"{service.root}/graphql", timeout=0.05)
    assert told["cause"] == "gql.transport.exceptions.TransportConnectionFailed"
    assert (told["kind"], told["can_retry"]) == ("NETWORK_TRANSPORT_RUNTIME_TIMEOUT", True)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_service_that_is_not_there(client: str, program: Program) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        told = program.fail(client, url=f"http://127.0.0.1:{taken.getsockname()[1]}/graphql")
    assert told["cause"] == "gql.transport.exceptions.TransportConnectionFailed"
    assert (told["kind"], told["can_retry"]) == ("NETWORK_TRANSPORT_RUNTIME_UNREACHABLE", True)
    assert told["message"] == "The GraphQL service could not be reached."


@pytest.mark.parametrize("client", CLIENTS)
def test_a_connection_that_is_not_secure(client: str, program: Program, service: Service) -> None:
    told = program.fail(client, url=f"https://{service.place}/graphql")
    assert told["cause"] == "gql.transport.exceptions.TransportConnectionFailed"
    assert (told["kind"], told["can_retry"]) == ("NETWORK_TRANSPORT_RUNTIME_UNREACHABLE", False)
    assert told["message"] == "No secure connection to the GraphQL service could be made."


def test_a_transport_that_is_closed(program: Program, service: Service) -> None:
    told = program.fail("gql_closed", url=service.root)
    assert told["cause"] == "gql.transport.exceptions.TransportClosed"
    assert (told["type"], told["extra"]["error_type"]) == ("FatalToolError", "TransportClosed")
