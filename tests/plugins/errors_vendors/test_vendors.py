"""Failures of vendors' libraries, raised by their real clients with responses as the vendors document them."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.plugins.errors_http.service import CANARY, Service, answer
from tests.plugins.errors_vendors.conftest import Program

JSON = {"Content-Type": "application/json"}
AUTH, BAD, GONE, LIMIT, BROKEN = (
    f"UPSTREAM_RUNTIME_{kind}" for kind in ("AUTH_ERROR", "BAD_REQUEST", "NOT_FOUND", "RATE_LIMIT", "SERVER_ERROR")
)
TIMEOUT, UNREACHABLE, UNMAPPED = (
    f"NETWORK_TRANSPORT_RUNTIME_{kind}" for kind in ("TIMEOUT", "UNREACHABLE", "UNMAPPED")
)
DATE = {"Date": "Wed, 18 May 2033 03:33:20 GMT"}


def body(status: int, content: Any, headers: dict[str, str] | None = None) -> bytes:
    return answer(status, {**JSON, **(headers or {})}, json.dumps(content).encode())


class Case(NamedTuple):
    """A call and its failure.

    Attributes:
        tool: the function of the program that is called.
        path: the path that it requests, "" for none.
        sent: the response; b"" closes the connection.
        failure: members of the failure and of its `extra`. `endpoint` is a path.
        arguments: the arguments of the call.
    """

    tool: str
    path: str
    sent: bytes
    failure: dict[str, Any]
    arguments: Mapping[str, Any] = MappingProxyType({})


def limited(wait: int, **more: Any) -> dict[str, Any]:
    return {"type": "UpstreamRateLimitError", "kind": LIMIT, "retry_after_ms": wait, "status_code": 429, **more}


def upstream(status: int, kind: str, **more: Any) -> dict[str, Any]:
    retry = {"can_retry": status >= 500, "retry_after_ms": None}
    return {"type": "UpstreamError", "kind": kind, "status_code": status, **retry, **more}


def network(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "NetworkTransportError", "kind": kind, **more}


# --- Slack

POST = "/chat.postMessage"
SLACK = {"service": "_slack_sdk", "cause": "slack_sdk.errors.SlackApiError"}


def slack(status: int, word: str, headers: dict[str, str] | None = None) -> bytes:
    content = {"ok": False, "error": word, "needed": CANARY, "response_metadata": {"messages": [CANARY]}}
    return body(status, content, headers)


def slack_word(word: str, status: int, kind: str) -> tuple[bytes, dict[str, Any]]:
    return slack(200, word), upstream(status, kind, error_code=word, endpoint=POST, http_method="POST", **SLACK)


SLACK_RESPONSES: list[tuple[bytes, dict[str, Any]]] = [
    slack_word("channel_not_found", 404, GONE),
    slack_word("invalid_auth", 401, AUTH),
    slack_word("missing_scope", 403, AUTH),
    slack_word("msg_too_long", 400, BAD),
    slack_word("fatal_error", 500, BROKEN),
    (slack(429, "ratelimited", {"Retry-After": "30"}), limited(30_000, error_code="ratelimited")),
    (slack(429, "ratelimited", {"retry-after": "Wed, 18 May 2033 03:33:50 GMT", **DATE}), limited(30_000)),
    (slack(429, "ratelimited"), limited(1000)),
    (slack(200, "ratelimited", {"Retry-After": "30"}), limited(30_000)),
    (
        answer(503, {"Retry-After": "7"}),
        {"message": "Slack answered with an error: 503 Service Unavailable. Try again in 7 seconds."},
    ),
    *((answer(200, JSON, sent), network(UNMAPPED, **SLACK)) for sent in (CANARY.encode(), b'{"error": "in words"}')),
]
ROTATE = "/oauth.v2.access"
ROTATION = {"cause": "slack_sdk.errors.SlackTokenRotationError", "endpoint": ROTATE}


def slack_refuses(what: str, error: str, status: int, kind: str = "UpstreamError") -> Case:
    told = {"cause": f"slack_sdk.errors.{error}", "error_type": error, "status_code": status, "type": kind}
    return Case("slack_refuses", "", b"", told, {"what": what})


SLACK_CASES = [
    *(Case(tool, POST, sent, told) for tool in ("slack", "slack_async") for sent, told in SLACK_RESPONSES),
    *(
        Case(tool, POST, b"held", network(TIMEOUT, service="_http"), {"timeout": 1})
        for tool in ("slack", "slack_async")
    ),
    Case("slack_rotate", ROTATE, slack(200, "invalid_refresh_token"), upstream(401, AUTH, **ROTATION)),
    Case("slack_rotate", ROTATE, slack(429, "ratelimited", {"Retry-After": "30"}), limited(30_000, **ROTATION)),
    Case("slack_rotate", ROTATE, answer(429, {"Retry-After": "30"}), limited(30_000, **ROTATION)),
    Case("slack_rotate", ROTATE, answer(502), upstream(502, BROKEN, **ROTATION)),
    slack_refuses("request", "SlackRequestError", 400),
    slack_refuses("object", "SlackObjectFormationError", 400),
    slack_refuses("configuration", "SlackClientConfigurationError", 400),
    slack_refuses("send", "SlackClientNotConnectedError", 503),
    slack_refuses("bot", "BotUserAccessError", 403),
    slack_refuses("other", "SlackClientError", 500, "FatalToolError"),
]

# --- Google

FILE = "/files/f1"
GOOGLE = {"service": "_google_api_client", "cause": "googleapiclient.errors.HttpError", "endpoint": FILE}
INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": CANARY, "metadata": {"consumer": CANARY}}


def google(code: int, headers: dict[str, str] | None = None, *, reason: str | None = None, **more: Any) -> bytes:
    """Return an error of Google, in the older form if a reason is given."""
    error = {"code": code, "message": CANARY, **more}
    if reason:
        error["errors"] = [{"domain": CANARY, "reason": reason, "message": CANARY, "location": CANARY}]
    return body(code, {"error": error}, headers)


def google_reason(code: int, kind: str, reason: str) -> tuple[bytes, dict[str, Any]]:
    return google(code, reason=reason), upstream(code, kind, error_code=reason, **GOOGLE)


EXHAUSTED: dict[str, Any] = {"status": "RESOURCE_EXHAUSTED"}
GOOGLE_RESPONSES: list[tuple[bytes, dict[str, Any]]] = [
    google_reason(404, GONE, "notFound"),
    google_reason(401, AUTH, "authError"),
    google_reason(403, AUTH, "insufficientFilePermissions"),
    google_reason(403, AUTH, "dailyLimitExceeded"),
    google_reason(500, BROKEN, "backendError"),
    (
        google(400, status="INVALID_ARGUMENT", details=[{**INFO, "reason": "API_KEY_INVALID"}]),
        {"status_code": 400, "error_code": "API_KEY_INVALID"},
    ),
    (google(400, status="FAILED_PRECONDITION"), upstream(400, BAD, error_code="FAILED_PRECONDITION")),
    (body(404, [{"error": {"status": "NOT_FOUND"}}]), {"error_code": "NOT_FOUND"}),
    (google(429, {"Retry-After": "12"}, reason="rateLimitExceeded"), limited(12_000)),
    (google(403, reason="userRateLimitExceeded"), limited(1000)),
    (google(403, {"Retry-After": "12"}, reason="rateLimitExceeded"), limited(12_000)),
    (
        google(429, details=[{**INFO, "reason": "RATE_LIMIT_EXCEEDED"}, {"retryDelay": "3.5s"}], **EXHAUSTED),
        limited(3500),
    ),
    (google(429, details=[{"retryDelay": CANARY}], **EXHAUSTED), limited(1000)),
    *(
        (answer(502, JSON, sent), {"message": "Google answered with an error: 502 Bad Gateway.", "error_code": None})
        for sent in (CANARY.encode(), b"[[]]", b'{"error": {"details": {"a": 1}, "errors": [null]}}', b"\xff")
    ),
]
TOKEN = {"cause": "google.auth.exceptions.RefreshError"}
REVOKED = upstream(401, AUTH, error_code="invalid_grant", **TOKEN)


def google_refuses(what: str, error: str, status: int) -> Case:
    kind = "FatalToolError" if status == 500 else "UpstreamError"
    told = {"cause": f"googleapiclient.errors.{error}", "error_type": error, "status_code": status, "type": kind}
    return Case("google_refuses", "", b"", told, {"what": what})


GOOGLE_CASES = [
    *(Case("google", FILE, sent, told) for sent, told in GOOGLE_RESPONSES),
    Case(
        "google_credentials",
        "/token",
        body(400, {"error": "invalid_grant"}),
        upstream(401, AUTH, error_code="invalid_grant", **TOKEN),
    ),
    Case(
        "google_credentials", "/token", body(503, {"error": "temporarily_unavailable"}), {"status_code": 503, **TOKEN}
    ),
    Case("google_credentials", "/token", b"", network(UNREACHABLE, cause="google.auth.exceptions.TransportError")),
    Case("google_batch", "/batch", answer(200, JSON), network(UNMAPPED, cause="googleapiclient.errors.BatchError")),
    Case("google_batch", "/batch", google(401, reason="authError"), {"status_code": 401, "endpoint": "/batch"}),
    Case("google_refuses", "/discovery", answer(200), network(UNMAPPED), {"what": "unreadable description"}),
    google_refuses("unknown API", "UnknownApiNameOrVersion", 404),
    google_refuses("chunks", "InvalidChunkSizeError", 400),
    google_refuses("notification", "InvalidNotificationError", 400),
    google_refuses("size", "MediaUploadSizeError", 400),
    google_refuses("picture.png", "UnacceptableMimeTypeError", 400),
    google_refuses("something", "UnknownFileType", 500),
    google_refuses("batch", "BatchError", 500),
    Case("google", FILE, b"held", network(TIMEOUT, service="_http"), {"timeout": 0.05}),
    Case("google", FILE, b"", network(UNREACHABLE, service="_http")),
    Case("google", "", b"", network(UNREACHABLE, service="_http"), {"url": "http://nobody.invalid"}),
]

# --- Microsoft

USER = "/users/u1"
GRAPH = {"service": "_microsoft_graph", "cause": "msgraph.generated.models.o_data_errors.o_data_error.ODataError"}


def graph(status: int, code: str, headers: dict[str, str] | None = None) -> bytes:
    inner = {"date": "2033-05-18T03:33:20", "request-id": CANARY, "client-request-id": CANARY}
    return body(status, {"error": {"code": code, "message": CANARY, "innerError": inner}}, headers)


def graph_code(status: int, code: str, kind: str) -> Case:
    return Case("graph", USER, graph(status, code), upstream(status, kind, error_code=code, **GRAPH))


WAIT = {"Retry-After": "10"}
API_ERROR = {
    "cause": "kiota_abstractions.api_error.APIError",
    "message": "Microsoft Graph answered with an error: 502 Bad Gateway.",
}
KIOTA = "kiota_http._exceptions"
AZURE = "kiota_authentication_azure._exceptions"
UNSENT = {"type": "FatalToolError", "message": "The request that the tool made to Microsoft Graph cannot be sent."}
MICROSOFT_CASES = [
    graph_code(400, "ErrorInvalidRequest", BAD),
    graph_code(401, "InvalidAuthenticationToken", AUTH),
    graph_code(403, "Authorization_RequestDenied", AUTH),
    graph_code(404, "itemNotFound", GONE),
    graph_code(500, "generalException", BROKEN),
    Case("graph", USER, graph(429, "TooManyRequests", WAIT), limited(10_000, **GRAPH)),
    Case("graph", USER, graph(429, "x", {"RateLimit-Remaining": "0", "RateLimit-Reset": "13"}), limited(13_000)),
    Case("graph", USER, graph(429, "x", {"x-ms-retry-after-ms": "250"}), limited(250)),
    Case("graph", USER, graph(429, "x"), limited(1000)),
    Case("graph", USER, graph(503, "TooManyRequests", WAIT), limited(10_000)),
    Case("graph", USER, graph(503, "serviceNotAvailable", WAIT), upstream(503, BROKEN, retry_after_ms=10_000)),
    *(Case(tool, USER, answer(502), API_ERROR) for tool in ("graph", "kiota")),
    Case("kiota", USER, graph(429, "TooManyRequests", WAIT), limited(10_000, error_code=None)),
    Case("kiota", USER, b"redirected", network(UNMAPPED, cause=f"{KIOTA}.RedirectError", can_retry=False)),
    Case("kiota_refuses", "", b"", {"cause": f"{KIOTA}.RequestError", **UNSENT}, {"what": "method"}),
    Case("kiota_refuses", "", b"", {"cause": f"{AZURE}.HTTPError", **UNSENT}, {"what": "scheme"}),
    *(
        Case("kiota_refuses", "", b"", network(UNMAPPED), {"what": what})
        for what in ("no status", "no answer", "model")
    ),
    Case("graph", USER, b"", network(UNREACHABLE, service="_http")),
]

# --- GraphQL

QUERY, SERVER, CONNECTION, PROTOCOL = (
    {"cause": f"gql.transport.exceptions.Transport{name}"}
    for name in ("QueryError", "ServerError", "ConnectionFailed", "ProtocolError")
)


def graphql(*errors: dict[str, Any]) -> bytes:
    return body(200, {"data": None, "errors": [{"message": CANARY, "path": [CANARY], **error} for error in errors]})


def code(word: object) -> dict[str, Any]:
    """Return an error as Apollo writes it."""
    return {"extensions": {"code": word, "stacktrace": [CANARY]}}


def graphql_words(status: int, kind: str, words: list[str], *errors: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    told = {"gql_error_codes": words or None, "error_code": words[-1] if words else None, "service": "_graphql"}
    return graphql(*errors), upstream(status, kind, **told, **QUERY)


USED_UP = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000000030", **DATE}
GRAPHQL_RESPONSES: list[tuple[bytes, dict[str, Any]]] = [
    graphql_words(401, AUTH, ["UNAUTHENTICATED"], code("UNAUTHENTICATED")),
    graphql_words(403, AUTH, ["FORBIDDEN"], code("FORBIDDEN")),
    graphql_words(404, GONE, ["NOT_FOUND"], {"type": "NOT_FOUND"}),  # GitHub's
    graphql_words(400, BAD, ["validation-failed"], code("validation-failed")),  # Hasura's
    graphql_words(500, BROKEN, ["BAD_USER_INPUT", "INTERNAL"], code("BAD_USER_INPUT"), code("INTERNAL")),
    graphql_words(422, BAD, ["SOMETHING_ELSE"], code("SOMETHING_ELSE")),
    graphql_words(422, BAD, [], code(f"{CANARY} in words"), {"extensions": None}),
    (graphql({"type": "RATE_LIMITED"}), limited(1000)),
    (graphql(code("INTERNAL_SERVER_ERROR"), code("THROTTLED")), limited(1000)),
    (answer(401), upstream(401, AUTH, endpoint="/graphql", http_method="POST", **SERVER)),
    (answer(502), upstream(502, BROKEN, **SERVER)),
    (answer(503, {"Retry-After": "4"}), upstream(503, BROKEN, retry_after_ms=4000)),
    (answer(429, {"Retry-After": "4"}), limited(4000)),
    (answer(403, USED_UP), limited(30_000, status_code=429)),
    *((answer(200, JSON, sent), network(UNREACHABLE, can_retry=True, **PROTOCOL)) for sent in (CANARY.encode(), b"{}")),
]
GRAPHQL_CASES = [
    case
    for tool in ("gql_requests", "gql_aiohttp", "gql_httpx")
    for case in [
        *(Case(tool, "/graphql", sent, told) for sent, told in GRAPHQL_RESPONSES),
        Case(tool, "/graphql", b"held", network(TIMEOUT, can_retry=True, **CONNECTION), {"timeout": 0.05}),
        Case(tool, "/graphql", b"refused", network(UNREACHABLE, can_retry=True, **CONNECTION)),
        Case(tool, "/graphql", b"plain", network(UNREACHABLE, can_retry=False, **CONNECTION)),
    ]
] + [Case("gql_closed", "/graphql", b"", {"type": "FatalToolError", "error_type": "TransportClosed"})]


CASES = [*SLACK_CASES, *GOOGLE_CASES, *MICROSOFT_CASES, *GRAPHQL_CASES]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.tool}-{number}" for number, case in enumerate(CASES)])
def test_a_failure_becomes_a_typed_error(case: Case, program: Program, service: Service) -> None:
    root, path = service.root, "/graphql" if case.path == "/graphql" else ""
    service.answers[case.path] = case.sent
    if case.sent == b"held":
        service.answers[case.path] = b""
        service.held.add(case.path)
    elif case.sent == b"redirected":
        service.answers[case.path] = answer(302, {"Location": f"{root}{case.path}?{CANARY}"})
    elif case.sent == b"plain":
        root = root.replace("http", "https")
    with socket.socket() as taken:
        if case.sent == b"refused":
            taken.bind(("127.0.0.1", 0))  # bound and not listening
            root = f"http://127.0.0.1:{taken.getsockname()[1]}"
        asks = case.path or "url" in case.arguments
        arguments = {**({"url": root + path} if asks else {}), **case.arguments}
        failure = program.fail(case.tool, **arguments)
    found = {**failure["extra"], **failure}
    if "endpoint" in found:
        found["endpoint"] = found["endpoint"].removeprefix(service.place)
    assert {name: found.get(name) for name in case.failure} == case.failure


@pytest.mark.parametrize(
    ("tool", "slug", "path", "sent"),
    [
        ("slack", "_slack_sdk", POST, slack(200, "channel_not_found")),
        ("slack_async", "_slack_sdk", POST, slack(200, "channel_not_found")),
        ("google", "_google_api_client", FILE, google(404, reason="notFound")),
        ("graph", "_microsoft_graph", USER, graph(404, "itemNotFound")),
        *((tool, "_graphql", "/graphql", graphql({"type": "NOT_FOUND"})) for tool in ("gql_requests", "gql_aiohttp")),
    ],
)
def test_each_adapter_keeps_the_contract(
    tool: str, slug: str, path: str, sent: bytes, program: Program, service: Service
) -> None:
    url = service.root if path != "/graphql" else f"{service.root}/graphql"
    for gives, response in (("UpstreamError", sent), ("UpstreamRateLimitError", answer(429, {"Retry-After": "3"}))):
        service.answers[path] = response
        assert program.call("contract", tool=tool, slug=slug, gives=gives, url=url) == {}


SLUGS = ["_google_api_client", "_graphql", "_microsoft_graph", "_slack_sdk", "_http"]
HTTP, OF_SLACK = "pegboard_plugins.errors_http.http_errors", "pegboard_plugins.errors_slack.slack_errors"


def test_adapters_import_no_library_and_run_only_for_imported_ones(program_without: Program, fresh: Program) -> None:
    for running in (program_without, fresh):
        failure = running.fail("plain")
        assert (running.slugs, failure["message"]) == (SLUGS, "It failed unexpectedly.")
        assert (failure["loaded"], failure["explained"]) == ([], [HTTP])
    failure = fresh.fail("plain", loads="slack_sdk")
    assert failure["message"] == "It failed unexpectedly."
    assert (failure["loaded"], failure["explained"]) == (["slack_sdk"], [HTTP, OF_SLACK])
