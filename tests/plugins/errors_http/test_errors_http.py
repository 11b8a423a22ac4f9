"""Failures of HTTP clients, raised by the real clients in tools of a real host."""

from __future__ import annotations

import asyncio
import inspect
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import aiohttp
import pytest
import requests
import urllib3
from requests.adapters import HTTPAdapter

from pegboard import ErrorKind, FatalToolError, Host, NetworkTransportError, UpstreamError, UpstreamRateLimitError
from pegboard.plugin import ErrorAdapter, ToolDefinition, ToolkitError, ToolRuntimeError
from pegboard.testing import ErrorAdapterContract
from pegboard.types import Failure
from pegboard_plugins.errors_http import HttpErrorAdapter, HttpErrorsPlugin
from tests.host.hosting import failure, make_host, plugin_of
from tests.plugins.errors_http.service import CANARY, LIBRARIES, NAMES, PATIENCE, TOOLS, Service, answer

STATUS_NAMES = [name for name in NAMES if name != "with_urllib3"]
"""The tools that raise for a status of 400 or more."""
TIMEOUT = ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT
UNREACHABLE = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE
UNMAPPED = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as running:
        running.held.add("/never")
        yield running


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    async with make_host(plugins={"adapters": HttpErrorsPlugin, "t": plugin_of(tools=TOOLS)}) as running:
        yield running


def told(failed: Failure) -> ToolkitError:
    """Return the error, which shows nothing of the request and the response."""
    error = failed.error
    assert isinstance(error, ToolkitError)
    assert CANARY not in f"{error.message} {error.additional_prompt_content} {error.extra} {error.developer_message}"
    assert error.__cause__ is not None
    of_service = isinstance(error, UpstreamError | NetworkTransportError)
    assert (failed.error_id is None) is of_service  # failures of services are logged without a traceback
    return error


# --- responses with an error


USED_UP = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2000000030", "Date": "Wed, 18 May 2033 03:33:20 GMT"}


@pytest.mark.parametrize("name", STATUS_NAMES)
@pytest.mark.parametrize(
    ("status", "headers", "kind", "text", "wait"),
    [
        (400, {}, ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST, "400 Bad Request", None),
        (401, {}, ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR, "401 Unauthorized", None),
        (404, {}, ErrorKind.UPSTREAM_RUNTIME_NOT_FOUND, "404 Not Found", None),
        (499, {}, ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST, "499", None),
        (503, {"Retry-After": "5"}, ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR, "503 Service Unavailable", 5000),
        (429, {"Retry-After": "7"}, ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT, "", 7000),
        (429, {}, ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT, "", 1000),
        (403, USED_UP, ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT, "", 30_000),
        (403, {"retry-after": "60"}, ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT, "", 60_000),
    ],
    ids=["400", "401", "404", "499", "503", "429", "429 without a wait", "used up", "403 with a wait"],
)
async def test_a_status_becomes_an_upstream_error(
    name: str,
    status: int,
    headers: dict[str, str],
    kind: ErrorKind,
    text: str,
    wait: int | None,
    service: Service,
    host: Host,
) -> None:
    service.answers["/it"] = answer(status, headers)
    error = told(await failure(host, name, {"url": service.url("/it")}))
    limited = kind is ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT
    assert type(error) is (UpstreamRateLimitError if limited else UpstreamError)
    assert (error.kind, error.can_retry, error.retry_after_ms) == (kind, limited or status == 503, wait)
    if not limited:
        assert error.status_code == status
        assert error.message.startswith(f"The service answered with an error: {text}.")
    assert wait is None or f"Try again in {wait // 1000} second" in error.message
    assert f"{service.place}/it {status}" in (error.developer_message or "")
    assert (error.extra["service"], error.extra["endpoint"]) == ("_http", f"{service.place}/it")
    assert error.extra.get("http_method") == (None if name == "with_urllib" else "GET")


# --- no response

IN_TIME, NOT_REACHED = "The service did not answer in time.", "The service could not be reached."
INSECURE, REDIRECTS = "No secure connection to the service could be made.", "The service's redirections lead nowhere."
SILENCE: dict[str, tuple[ErrorKind, bool, str | None]] = {
    "no response in time": (TIMEOUT, True, IN_TIME),
    "no body in time": (TIMEOUT, True, None),
    "refused": (UNREACHABLE, True, NOT_REACHED),
    "unknown host": (UNREACHABLE, True, None),
    "closed": (UNREACHABLE, True, None),
    "not HTTP": (UNREACHABLE, True, None),
    "half a body": (UNREACHABLE, True, None),
    "not TLS": (UNREACHABLE, False, INSECURE),
    "redirects": (UNMAPPED, False, REDIRECTS),
    "not gzip": (UNMAPPED, True, None),
}
RESPONSES = {
    "not HTTP": b"this is no HTTP\r\n\r\n",
    "half a body": answer(200, {"Content-Length": "100"}),
    "no body in time": answer(200, {"Content-Length": "100000"}),
    "redirects": answer(302, {"Location": f"/it?token={CANARY}"}),
    "not gzip": answer(200, {"Content-Encoding": "gzip"}),
}


URLLIB_CANNOT = ("redirects", "not gzip")
"""Failures that urllib cannot have: it raises the status of an endless redirect, and decodes nothing."""


@pytest.mark.parametrize(
    ("name", "what"),
    [(name, what) for name in NAMES for what in SILENCE if name != "with_urllib" or what not in URLLIB_CANNOT],
)
async def test_no_response_becomes_a_network_error(name: str, what: str, service: Service, host: Host) -> None:
    service.answers["/it"] = RESPONSES.get(what, b"")
    if what.endswith("in time"):
        service.held.add("/it")
    arguments: dict[str, Any] = {"url": service.url("/it", "https" if what == "not TLS" else "http")}
    if what.endswith("in time"):
        arguments["timeout"] = 0.05
    if what == "unknown host":
        arguments["url"] = f"http://nobody.invalid/it?token={CANARY}"
    with socket.socket() as taken:
        if what == "refused":
            taken.bind(("127.0.0.1", 0))  # bound and not listening
            arguments["url"] = f"http://127.0.0.1:{taken.getsockname()[1]}/it?token={CANARY}"
        error = told(await failure(host, name, arguments))
    kind, can_retry, message = SILENCE[what]
    assert (type(error), error.can_retry) == (NetworkTransportError, can_retry)
    assert what == "not gzip" or error.kind == kind
    assert message is None or error.message == message


@pytest.mark.parametrize("name", NAMES)
async def test_a_request_that_cannot_be_sent_is_fatal(name: str, host: Host) -> None:
    error = told(await failure(host, name, {"url": f"gopher://127.0.0.1/it?token={CANARY}"}))
    assert type(error) is FatalToolError
    assert error.message == "The request that the tool made to the service cannot be sent."


# --- single libraries


async def fails(tool: Any, **arguments: Any) -> Failure:
    plugins = {"adapters": HttpErrorsPlugin, "t": plugin_of(tools=[ToolDefinition(tool, name="tool")])}
    async with make_host(plugins=plugins) as host:
        return await failure(host, "tool", arguments)


async def aiohttp_text(url: str) -> str:
    """Get a URL."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=0.05)) as session:
        return await (await session.get(url)).text()


async def aiohttp_json(url: str) -> Any:
    """Get JSON."""
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.json()


def requests_json(url: str) -> Any:
    """Get JSON."""
    return requests.get(url, timeout=PATIENCE).json()


RETRY = urllib3.Retry(1, status_forcelist=[503], backoff_factor=0)


def urllib3_retries(url: str) -> int:
    """Get a URL twice."""
    with urllib3.PoolManager() as pool:
        return pool.request("GET", url, retries=RETRY).status


def requests_retries(url: str) -> int:
    """Get a URL twice."""
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=RETRY))
        return session.get(url, timeout=PATIENCE).status_code


def own_error(url: str) -> None:
    """Raise an error of the library."""
    raise requests.HTTPError(f"made up: {CANARY}")


HTML = {"Content-Type": "text/html"}
UNREADABLE = "The service sent a response that cannot be read."


@pytest.mark.parametrize(
    ("tool", "sent", "kind", "message"),
    [
        (aiohttp_text, b"held", TIMEOUT, IN_TIME),
        (aiohttp_json, answer(200, HTML), UNMAPPED, UNREADABLE),
        (requests_json, answer(200), UNMAPPED, UNREADABLE),
        (urllib3_retries, answer(503), ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR, None),
        (requests_retries, answer(503), ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR, None),
        (own_error, b"", UNMAPPED, "The request to the service failed."),
    ],
)
async def test_single_libraries(tool: Any, sent: bytes, kind: ErrorKind, message: str | None, service: Service) -> None:
    service.answers["/it"] = b"" if sent == b"held" else sent
    if sent == b"held":
        service.held.add("/it")
    error = told(await fails(tool, url=service.url("/it")))
    assert error.kind == kind
    assert error.message == message if message else error.status_code == 503


async def own_limit(url: str) -> str:
    """Get a URL within the limit of the tool."""
    async with asyncio.timeout(0.05), aiohttp.ClientSession() as session:
        return await (await session.get(url)).text()


@pytest.mark.parametrize("error", [ValueError, TimeoutError, ConnectionResetError])
async def test_errors_of_no_library_stay_masked(error: type[Exception], service: Service) -> None:
    def raises(url: str) -> None:
        """Fail."""
        raise error(CANARY)

    for tool in (raises, own_limit):
        failed = await fails(tool, url=service.url("/never"))
        assert (type(failed.error), failed.error.message) == (FatalToolError, "It failed unexpectedly.")


class TestContract(ErrorAdapterContract):
    canary = CANARY
    libraries = ("aiohttp", "httpx", "httpx2", "httplib2", "requests", "urllib3", "urllib.error")

    @pytest.fixture(autouse=True)
    def started(self, service: Service) -> None:
        service.answers.update({"/gone": answer(410), "/limited": answer(429, {"Retry-After": "3"})})
        self.service = service

    def make(self) -> ErrorAdapter:
        return HttpErrorAdapter()

    def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
        types = {"/gone": UpstreamError, "/limited": UpstreamRateLimitError, "/nothing": NetworkTransportError}
        for function in LIBRARIES:
            for path, expected in types.items():
                try:
                    given = function(self.service.url(path))
                    if inspect.iscoroutine(given):
                        asyncio.run(given)
                except Exception as error:  # noqa: BLE001 - each library has its own
                    yield error, expected
