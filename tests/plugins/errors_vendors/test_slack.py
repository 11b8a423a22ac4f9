"""Failures of `slack_sdk`, met by its real clients, with answers as Slack documents them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.plugins.errors_http.service import CANARY, Service, answer
from tests.plugins.errors_vendors.conftest import Program

CLIENTS = ["slack", "slack_async"]
POST = "/chat.postMessage"
JSON = {"Content-Type": "application/json; charset=utf-8"}


def says(status: int, word: str, headers: dict[str, str] | None = None, **more: Any) -> bytes:
    """An answer of Slack's, with a word for what went wrong."""
    body = {"ok": False, "error": word, "response_metadata": {"messages": [CANARY]}, **more}
    return answer(status, {**JSON, **(headers or {})}, json.dumps(body).encode())


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("word", "status", "kind", "can_retry"),
    [
        ("channel_not_found", 404, "UPSTREAM_RUNTIME_NOT_FOUND", False),
        ("invalid_auth", 401, "UPSTREAM_RUNTIME_AUTH_ERROR", False),
        ("missing_scope", 403, "UPSTREAM_RUNTIME_AUTH_ERROR", False),
        ("msg_too_long", 400, "UPSTREAM_RUNTIME_BAD_REQUEST", False),
        ("fatal_error", 500, "UPSTREAM_RUNTIME_SERVER_ERROR", True),
    ],
)
def test_a_word_in_an_answer_of_status_200(
    client: str, word: str, status: int, kind: str, can_retry: bool, program: Program, service: Service
) -> None:
    service.answers[POST] = says(200, word, needed=CANARY)
    told = program.fail(client, url=service.root)
    assert told["cause"] == "slack_sdk.errors.SlackApiError"
    assert (told["type"], told["kind"], told["status_code"]) == ("UpstreamError", kind, status)
    assert (told["can_retry"], told["retry_after_ms"]) == (can_retry, None)
    assert told["message"].startswith(f"Slack answered with an error: {status} ")
    assert told["message"].endswith(f", {word}.")
    assert told["extra"] == {
        "service": "_slack_sdk",
        "endpoint": f"{service.place}{POST}",
        "http_method": "POST",
        "error_code": word,
    }


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {"Retry-After": "30"}, 30_000),
        (429, {"retry-after": "Wed, 18 May 2033 03:33:50 GMT", "Date": "Wed, 18 May 2033 03:33:20 GMT"}, 30_000),
        (429, {}, 1000),
        (200, {"Retry-After": "30"}, 30_000),
    ],
    ids=["seconds", "a date", "nothing said", "status 200"],
)
def test_a_limit_of_calls(
    client: str, status: int, headers: dict[str, str], wait: int, program: Program, service: Service
) -> None:
    service.answers[POST] = says(status, "ratelimited", headers)
    told = program.fail(client, url=service.root)
    assert (told["type"], told["status_code"], told["can_retry"]) == ("UpstreamRateLimitError", 429, True)
    assert told["retry_after_ms"] == wait
    assert told["extra"]["error_code"] == "ratelimited"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_error_without_a_word(client: str, program: Program, service: Service) -> None:
    service.answers[POST] = answer(503, {"Content-Type": "text/html", "Retry-After": "7"})
    told = program.fail(client, url=service.root)
    assert (told["type"], told["status_code"], told["retry_after_ms"]) == ("UpstreamError", 503, 7000)
    assert told["message"] == "Slack answered with an error: 503 Service Unavailable. Try again in 7 seconds."


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "body", [CANARY.encode(), json.dumps({"ok": False, "error": f"{CANARY} in words"}).encode()], ids=["text", "words"]
)
def test_an_answer_without_sense(client: str, body: bytes, program: Program, service: Service) -> None:
    service.answers[POST] = answer(200, JSON, body)
    told = program.fail(client, url=service.root)
    assert told["cause"] == "slack_sdk.errors.SlackApiError"
    assert (told["type"], told["kind"]) == ("NetworkTransportError", "NETWORK_TRANSPORT_RUNTIME_UNMAPPED")
    assert told["message"] == "Slack sent an answer that cannot be read."


@pytest.mark.parametrize(
    ("sent", "status", "kind", "wait"),
    [
        (says(200, "invalid_refresh_token"), 401, "UPSTREAM_RUNTIME_AUTH_ERROR", None),
        (says(200, "invalid_client_id"), 401, "UPSTREAM_RUNTIME_AUTH_ERROR", None),
        (says(429, "ratelimited", {"Retry-After": "30"}), 429, "UPSTREAM_RUNTIME_RATE_LIMIT", 30_000),
        (answer(429, {"Retry-After": "30"}), 429, "UPSTREAM_RUNTIME_RATE_LIMIT", 30_000),
        (answer(502), 502, "UPSTREAM_RUNTIME_SERVER_ERROR", None),
    ],
    ids=["expired", "another client", "too often", "too often, without a word", "down"],
)
def test_a_token_that_cannot_be_renewed(
    sent: bytes, status: int, kind: str, wait: int | None, program: Program, service: Service
) -> None:
    service.answers["/oauth.v2.access"] = sent
    told = program.fail("slack_rotate", url=service.root)
    assert told["cause"] == "slack_sdk.errors.SlackTokenRotationError"
    assert (told["status_code"], told["kind"], told["retry_after_ms"]) == (status, kind, wait)
    assert told["extra"]["endpoint"] == f"{service.place}/oauth.v2.access"


@pytest.mark.parametrize(
    ("what", "error", "status"),
    [
        ("request", "SlackRequestError", 400),
        ("object", "SlackObjectFormationError", 400),
        ("configuration", "SlackClientConfigurationError", 400),
        ("send", "SlackClientNotConnectedError", 503),
        ("bot", "BotUserAccessError", 403),
        ("other", "SlackClientError", 500),
    ],
)
def test_what_the_client_itself_refuses(what: str, error: str, status: int, program: Program) -> None:
    told = program.fail("slack_refuses", what=what)
    assert told["cause"] == f"slack_sdk.errors.{error}"
    assert told["type"] == ("FatalToolError" if status == 500 else "UpstreamError")
    assert told["status_code"] == status
    assert told["extra"] == {"service": "_slack_sdk", "error_type": error}
    assert "Slack" in told["message"]


@pytest.mark.parametrize("client", CLIENTS)
def test_no_answer_is_for_the_adapter_of_http_clients(client: str, program: Program, service: Service) -> None:
    service.held.add(POST)
    told = program.fail(client, url=service.root, timeout=1)
    assert (told["kind"], told["extra"]["service"]) == ("NETWORK_TRANSPORT_RUNTIME_TIMEOUT", "_http")
