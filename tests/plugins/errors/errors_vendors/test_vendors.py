"""Failures of vendors' libraries, raised by their real clients with responses as the vendors document them."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple, Self

import pytest

from tests.plugins.errors.errors_http.service import CANARY, Service, answer
from tests.support.environments import built_wheels, executable, make_environment
from tests.support.peer import WAIT

LIBRARIES = (
    "google-api-python-client==2.202.0",
    "gql[aiohttp,httpx,requests]==4.4.0",
    "msgraph-sdk==1.65.0",
    "slack-sdk==3.47.0",
)
"""The current releases."""
SCRIPT = Path(__file__).parent / "scripts" / "tools.py"


class Program:
    """The script, run by the interpreter of an environment.

    Attributes:
        slugs: the adapters of its host, in order.
        environment: the environment.
    """

    def __init__(self, environment: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [executable(environment), SCRIPT],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        )
        self.slugs: list[str] = []
        self.environment = environment

    def __enter__(self) -> Self:
        self.slugs = self._line()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def fail(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the failure of a call, and check that it shows nothing of the response."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"name": name, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        reply: dict[str, Any] = self._line()
        assert "message" in reply, reply
        masked = reply["message"] == "It failed unexpectedly."  # its developer message is for the operator alone
        assert CANARY not in json.dumps({**reply, "developer_message": None} if masked else reply)
        return reply

    def _line(self) -> Any:
        assert self._process.stdout is not None
        timer = Timer(WAIT, self._process.kill)
        timer.start()
        try:
            return json.loads(self._process.stdout.readline())
        finally:
            timer.cancel()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Start a program in an environment with all libraries. Calls import them one after the other."""
    environment = make_environment("vendors", "pegboard", *LIBRARIES, wheels=built_wheels(), compiled=False)
    with Program(environment, tmp_path_factory.mktemp("vendors")) as running:
        yield running


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with Service() as running:
        yield running


JSON = {"Content-Type": "application/json"}
AUTH, BAD, GONE, LIMIT, BROKEN = (
    f"UPSTREAM_RUNTIME_{kind}" for kind in ("AUTH_ERROR", "BAD_REQUEST", "NOT_FOUND", "RATE_LIMIT", "SERVER_ERROR")
)
TIMEOUT, UNREACHABLE, UNMAPPED = (
    f"NETWORK_TRANSPORT_RUNTIME_{kind}" for kind in ("TIMEOUT", "UNREACHABLE", "UNMAPPED")
)
RETRY = {"Retry-After": "30"}
DATE = {"Date": "Wed, 18 May 2033 03:33:20 GMT"}


class Case(NamedTuple):
    """A call and its failure.

    Attributes:
        tool: the function of the program that is called.
        path: the path that it requests; "" if it takes no URL.
        sent: the response; b"" closes the connection. "held", "refused" and "no TLS" are other kinds of silence.
        failure: members of the failure and of its `extra`. `endpoint` is a path.
        how: the argument of a function without a URL.
    """

    tool: str
    path: str
    sent: bytes | str
    failure: dict[str, Any]
    how: str = ""


def body(status: int, content: Any, headers: dict[str, str] | None = None) -> bytes:
    return answer(status, {**JSON, **(headers or {})}, json.dumps(content).encode())


def limited(wait: int, **more: Any) -> dict[str, Any]:
    return {"type": "UpstreamRateLimitError", "kind": LIMIT, "retry_after_ms": wait, "status_code": 429, **more}


def upstream(status: int, kind: str, **more: Any) -> dict[str, Any]:
    retry = {"can_retry": status >= 500, "retry_after_ms": None}
    return {"type": "UpstreamError", "kind": kind, "status_code": status, **retry, **more}


def network(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "NetworkTransportError", "kind": kind, **more}


# --- Slack

POST, ROTATE = "/chat.postMessage", "/oauth.v2.access"
SLACK = {"service": "_slack_sdk", "cause": "slack_sdk.errors.SlackApiError"}
ROTATION = {"cause": "slack_sdk.errors.SlackTokenRotationError", "endpoint": ROTATE}


def slack(status: int, code: str, headers: dict[str, str] | None = None) -> bytes:
    content = {"ok": False, "error": code, "needed": CANARY, "response_metadata": {"messages": [CANARY]}}
    return body(status, content, headers)


def slack_code(code: str, status: int, kind: str, tool: str = "slack") -> Case:
    expected = upstream(status, kind, error_code=code, endpoint=POST, http_method="POST", **SLACK)
    return Case(tool, POST, slack(200, code), expected)


SLACK_CASES = [
    slack_code("channel_not_found", 404, GONE),
    slack_code("channel_not_found", 404, GONE, "slack_async"),
    slack_code("invalid_auth", 401, AUTH),
    slack_code("missing_scope", 403, AUTH),
    slack_code("msg_too_long", 400, BAD),
    slack_code("fatal_error", 500, BROKEN),
    Case("slack", POST, slack(429, "ratelimited"), limited(1000, error_code="ratelimited")),
    Case("slack", POST, slack(200, "ratelimited", RETRY), limited(30_000)),
    Case("slack_async", POST, slack(429, "ratelimited", RETRY), limited(30_000)),
    Case("slack_async", POST, answer(503), {"message": "Slack answered with an error: 503 Service Unavailable."}),
    Case("slack", POST, answer(200, JSON), network(UNMAPPED, **SLACK)),
    Case("slack", POST, "held", network(TIMEOUT, service="_http")),
    Case("slack_rotate", ROTATE, slack(200, "invalid_refresh_token"), upstream(401, AUTH, **ROTATION)),
    Case("slack_rotate", ROTATE, slack(429, "ratelimited", RETRY), limited(30_000, **ROTATION)),
    Case("slack_refuses", "", b"", upstream(400, BAD, cause="slack_sdk.errors.SlackRequestError"), "request"),
    Case("slack_refuses", "", b"", upstream(403, AUTH, error_type="BotUserAccessError"), "bot"),
    Case("slack_refuses", "", b"", {"type": "FatalToolError", "status_code": 500}, "other"),
]

# --- Google

FILE = "/files/f1"
GOOGLE = {"service": "_google_api_client", "cause": "googleapiclient.errors.HttpError", "endpoint": FILE}
INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": CANARY, "metadata": {"consumer": CANARY}}
TOKEN = {"cause": "google.auth.exceptions.RefreshError"}
UNREADABLE = {"message": "Google answered with an error: 502 Bad Gateway.", "error_code": None}


def google(code: int, headers: dict[str, str] | None = None, *, reason: str | None = None, **more: Any) -> bytes:
    """Return an error of Google, in the older form if a reason is given."""
    error = {"code": code, "message": CANARY, **more}
    if reason:
        error["errors"] = [{"domain": CANARY, "reason": reason, "message": CANARY, "location": CANARY}]
    return body(code, {"error": error}, headers)


def google_reason(code: int, kind: str, reason: str) -> Case:
    return Case("google", FILE, google(code, reason=reason), upstream(code, kind, error_code=reason, **GOOGLE))


def google_details(*details: Any, code: int = 429, status: str = "RESOURCE_EXHAUSTED") -> bytes:
    return google(code, status=status, details=[{**INFO, **detail} for detail in details])


GOOGLE_CASES = [
    google_reason(404, GONE, "notFound"),
    google_reason(403, AUTH, "dailyLimitExceeded"),
    google_reason(500, BROKEN, "backendError"),
    Case(
        "google",
        FILE,
        google_details({"reason": "API_KEY_INVALID"}, code=400, status="INVALID_ARGUMENT"),
        upstream(400, BAD, error_code="API_KEY_INVALID"),
    ),
    Case("google", FILE, body(404, [{"error": {"status": "NOT_FOUND"}}]), {"error_code": "NOT_FOUND"}),
    Case("google", FILE, google(403, reason="userRateLimitExceeded"), limited(1000)),
    Case("google", FILE, google(403, RETRY, reason="rateLimitExceeded"), limited(30_000)),
    Case("google", FILE, google_details({"reason": "RATE_LIMIT_EXCEEDED"}, {"retryDelay": "3.5s"}), limited(3500)),
    Case("google", FILE, google_details({"retryDelay": CANARY}), limited(1000)),
    *(
        Case("google", FILE, answer(502, JSON, sent), UNREADABLE)
        for sent in (CANARY.encode(), b"[[]]", b'{"error": {"details": {"a": 1}, "errors": [null]}}')
    ),
    Case("google", FILE, "held", network(TIMEOUT, service="_http")),
    Case("google", FILE, b"", network(UNREACHABLE, service="_http")),
    Case(
        "google_credentials",
        "/token",
        body(400, {"error": "invalid_grant"}),
        upstream(401, AUTH, error_code="invalid_grant", **TOKEN),
    ),
    Case("google_credentials", "/token", b"", network(UNREACHABLE, cause="google.auth.exceptions.TransportError")),
]

# --- Microsoft

USER = "/users/u1"
GRAPH = {"service": "_microsoft_graph", "cause": "msgraph.generated.models.o_data_errors.o_data_error.ODataError"}
API_ERROR = {
    "cause": "kiota_abstractions.api_error.APIError",
    "message": "Microsoft Graph answered with an error: 502 Bad Gateway.",
}


def graph(status: int, code: str, headers: dict[str, str] | None = None) -> bytes:
    inner = {"date": "2033-05-18T03:33:20", "request-id": CANARY, "client-request-id": CANARY}
    return body(status, {"error": {"code": code, "message": CANARY, "innerError": inner}}, headers)


def graph_code(status: int, code: str, kind: str) -> Case:
    return Case("graph", USER, graph(status, code), upstream(status, kind, error_code=code, **GRAPH))


MICROSOFT_CASES = [
    graph_code(400, "ErrorInvalidRequest", BAD),
    graph_code(403, "Authorization_RequestDenied", AUTH),
    graph_code(404, "itemNotFound", GONE),
    Case("graph", USER, graph(429, "x", {"RateLimit-Remaining": "0", "RateLimit-Reset": "13"}), limited(13_000)),
    Case("graph", USER, graph(429, "x", {"x-ms-retry-after-ms": "250"}), limited(250, **GRAPH)),
    Case("graph", USER, graph(503, "TooManyRequests", RETRY), limited(30_000)),
    Case("graph", USER, graph(503, "serviceNotAvailable", RETRY), upstream(503, BROKEN, retry_after_ms=30_000)),
    Case("graph", USER, answer(502), API_ERROR),
    Case("graph", USER, b"", network(UNREACHABLE, service="_http")),
]

# --- GraphQL

GQL = "/graphql"
TRANSPORT = "gql.transport.exceptions.Transport"
USED_UP = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000000030", **DATE}
NOT_FOUND = {"type": "NOT_FOUND"}  # GitHub's


def graphql(*errors: dict[str, Any]) -> bytes:
    return body(200, {"data": None, "errors": [{"message": CANARY, "path": [CANARY], **error} for error in errors]})


def code(word: str) -> dict[str, Any]:
    """Return an error as Apollo writes it."""
    return {"extensions": {"code": word, "stacktrace": [CANARY]}}


def graphql_codes(status: int, kind: str, codes: list[str], *errors: dict[str, Any], tool: str = "requests") -> Case:
    members = {"gql_error_codes": codes or None, "error_code": codes[-1] if codes else None, "service": "_graphql"}
    expected = upstream(status, kind, cause=f"{TRANSPORT}QueryError", **members)
    return Case(f"gql_{tool}", GQL, graphql(*errors), expected)


GRAPHQL_CASES = [
    graphql_codes(401, AUTH, ["UNAUTHENTICATED"], code("UNAUTHENTICATED")),
    graphql_codes(404, GONE, ["NOT_FOUND"], NOT_FOUND),
    graphql_codes(500, BROKEN, ["BAD_USER_INPUT", "INTERNAL"], code("BAD_USER_INPUT"), code("INTERNAL")),
    graphql_codes(422, BAD, ["SOMETHING_ELSE"], code("SOMETHING_ELSE")),
    graphql_codes(422, BAD, [], code(f"{CANARY} in words"), {"extensions": None}),
    Case("gql_requests", GQL, graphql(code("INTERNAL_SERVER_ERROR"), code("THROTTLED")), limited(1000)),
    Case("gql_requests", GQL, answer(403, USED_UP), limited(30_000, status_code=429)),
    *(
        case
        for tool in ("gql_requests", "gql_aiohttp", "gql_httpx")
        for case in (
            graphql_codes(403, AUTH, ["FORBIDDEN"], code("FORBIDDEN"), tool=tool.removeprefix("gql_")),
            Case(tool, GQL, answer(401), upstream(401, AUTH, endpoint=GQL, cause=f"{TRANSPORT}ServerError")),
            Case(tool, GQL, answer(429, RETRY), limited(30_000)),
            Case(tool, GQL, answer(200, JSON), network(UNREACHABLE, can_retry=True, cause=f"{TRANSPORT}ProtocolError")),
            Case(tool, GQL, "held", network(TIMEOUT, can_retry=True, cause=f"{TRANSPORT}ConnectionFailed")),
            Case(tool, GQL, "refused", network(UNREACHABLE, can_retry=True)),
            Case(tool, GQL, "no TLS", network(UNREACHABLE, can_retry=False)),
        )
    ),
]
CASES = [*SLACK_CASES, *GOOGLE_CASES, *MICROSOFT_CASES, *GRAPHQL_CASES]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.tool}-{number}" for number, case in enumerate(CASES)])
def test_a_failure_becomes_a_typed_error(case: Case, program: Program, service: Service) -> None:
    service.answers[case.path] = case.sent if isinstance(case.sent, bytes) else b""
    (service.held.add if case.sent == "held" else service.held.discard)(case.path)
    root = service.root if case.sent != "no TLS" else service.root.replace("http", "https")
    with socket.socket() as taken:
        if case.sent == "refused":
            taken.bind(("127.0.0.1", 0))  # bound and not listening
            root = f"http://127.0.0.1:{taken.getsockname()[1]}"
        arguments: dict[str, Any] = (
            {"url": root + (GQL if case.path == GQL else "")} if case.path else {"how": case.how}
        )
        if case.sent == "held":
            arguments["timeout"] = 1 if case.tool == "slack" else 0.05  # Slack's client takes whole seconds
        failure = program.fail(case.tool, **arguments)
    fields = {**failure["extra"], **failure}
    if "endpoint" in fields:
        fields["endpoint"] = fields["endpoint"].rpartition(service.place)[2]
    assert {name: fields.get(name) for name in case.failure} == case.failure


def test_adapters_import_no_library_and_run_only_for_imported_ones(program: Program, tmp_path: Path) -> None:
    http, of_slack = (
        "pegboard_plugins.errors.errors_http.http_errors",
        "pegboard_plugins.errors.errors_slack.slack_errors",
    )
    with Program(program.environment, tmp_path) as fresh:
        assert fresh.slugs == ["_google_api_client", "_graphql", "_microsoft_graph", "_slack_sdk", "_http"]
        for loads, loaded, explained in (("", [], [http]), ("slack_sdk", ["slack_sdk"], [http, of_slack])):
            failure = fresh.fail("plain", loads=loads)
            assert failure["message"] == "It failed unexpectedly."
            assert (failure["loaded"], failure["explained"]) == (loaded, explained)
