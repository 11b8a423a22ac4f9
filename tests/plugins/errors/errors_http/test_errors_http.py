"""Failures of HTTP clients, raised by the real clients in tools of a real host."""

from __future__ import annotations

import asyncio
import inspect
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import aiohttp
import pytest

from pegboard import (
    ErrorKind,
    FatalToolError,
    Host,
    NetworkTransportError,
    ToolkitError,
    ToolRuntimeError,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.plugin import ErrorAdapter, ToolDefinition
from pegboard.types import Failure
from pegboard_plugins.errors.errors_http import HttpErrorAdapter, HttpErrorsPlugin
from pegboard_testing import ErrorAdapterContract
from tests.host.hosting import failure, make_host, plugin_of
from tests.plugins.errors.errors_http.service import CANARY, LIBRARIES, Service, answer

NAMES = [function.__name__ for function in LIBRARIES]
AUTH, BROKEN, LIMIT = (ErrorKind(f"UPSTREAM_RUNTIME_{kind}") for kind in ("AUTH_ERROR", "SERVER_ERROR", "RATE_LIMIT"))
TIMEOUT, UNREACHABLE, UNMAPPED = (
    ErrorKind(f"NETWORK_TRANSPORT_RUNTIME_{kind}") for kind in ("TIMEOUT", "UNREACHABLE", "UNMAPPED")
)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with Service() as running:
        yield running


async def own_limit(url: str) -> str:
    async with asyncio.timeout(0.05), aiohttp.ClientSession() as session:
        return await (await session.get(url)).text()


def no_library(url: str) -> None:
    raise ConnectionResetError(CANARY)


TOOLS = [*LIBRARIES, own_limit, no_library]


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    tools = [ToolDefinition(function, description="Get a URL.") for function in TOOLS]
    async with make_host(plugins={"adapters": HttpErrorsPlugin, "t": plugin_of(tools=tools)}) as running:
        yield running


def error_of(failed: Failure) -> ToolkitError:
    """Return the error, which shows nothing of the request and the response."""
    error = failed.error
    assert isinstance(error, ToolkitError)
    assert CANARY not in f"{error.message} {error.additional_prompt_content} {error.extra} {error.developer_message}"
    assert error.__cause__ is not None
    of_service = isinstance(error, UpstreamError | NetworkTransportError)
    assert (failed.error_id is None) is of_service  # failures of services are logged without a traceback
    return error


USED_UP = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2000000030", "Date": "Wed, 18 May 2033 03:33:20 GMT"}


@pytest.mark.parametrize(
    ("status", "headers", "kind", "text", "wait"),
    [
        (401, {}, AUTH, "401 Unauthorized", None),
        (503, {"Retry-After": "5"}, BROKEN, "503 Service Unavailable", 5000),
        (429, {}, LIMIT, "", 1000),
        (403, USED_UP, LIMIT, "", 30_000),
        (403, {"retry-after": "60"}, LIMIT, "", 60_000),
    ],
    ids=["401", "503", "429", "used up", "403 with a wait"],
)
async def test_a_status_becomes_an_upstream_error(
    status: int, headers: dict[str, str], kind: ErrorKind, text: str, wait: int | None, service: Service, host: Host
) -> None:
    service.answers["/status"] = answer(status, headers)
    for name in (client for client in NAMES if client != "with_urllib3"):  # urllib3 raises for no status
        error = error_of(await failure(host, name, {"url": service.url("/status")}))
        assert type(error) is (UpstreamRateLimitError if kind is LIMIT else UpstreamError), name
        assert (error.kind, error.can_retry, error.retry_after_ms) == (kind, kind in (LIMIT, BROKEN), wait), name
        if kind is not LIMIT:
            assert error.status_code == status
            assert error.message.startswith(f"The service answered with an error: {text}."), name
        assert wait is None or f"Try again in {wait // 1000} second" in error.message, name
        assert f"{service.place}/status {status}" in (error.developer_message or ""), name
        assert (error.extra["service"], error.extra["endpoint"]) == ("_http", f"http://{service.place}/status"), name
        assert error.extra.get("http_method") == (None if name == "with_urllib" else "GET"), name


IN_TIME, NOT_REACHED = "The service did not answer in time.", "The service could not be reached."
INSECURE, REDIRECTS = "No secure connection to the service could be made.", "The service's redirections lead nowhere."
SILENCE: dict[str, tuple[bytes, ErrorKind | None, bool, str | None]] = {
    "no response in time": (b"", TIMEOUT, True, IN_TIME),
    "no body in time": (answer(200, {"Content-Length": "100000"}), TIMEOUT, True, None),
    "refused": (b"", UNREACHABLE, True, NOT_REACHED),
    "unknown host": (b"", UNREACHABLE, True, None),
    "not HTTP": (b"this is no HTTP\r\n\r\n", UNREACHABLE, True, None),
    "not TLS": (b"", UNREACHABLE, False, INSECURE),
    "redirects": (answer(302, {"Location": f"/redirects?token={CANARY}"}), UNMAPPED, False, REDIRECTS),
    "not gzip": (answer(200, {"Content-Encoding": "gzip"}), None, True, None),
}


@pytest.mark.parametrize("what", SILENCE)
async def test_no_response_becomes_a_network_error(what: str, service: Service, host: Host) -> None:
    sent, kind, can_retry, message = SILENCE[what]
    path = "/" + what.replace(" ", "-")
    service.answers[path] = sent
    arguments: dict[str, Any] = {"url": service.url(path, "https" if what == "not TLS" else "http")}
    if what.endswith("in time"):
        service.held.add(path)
        arguments["timeout"] = 0.05
    if what == "unknown host":
        arguments["url"] = f"http://nobody.invalid/it?token={CANARY}"
    with socket.socket() as taken:
        if what == "refused":
            taken.bind(("127.0.0.1", 0))  # bound and not listening
            arguments["url"] = f"http://127.0.0.1:{taken.getsockname()[1]}/it?token={CANARY}"
        for name in NAMES:
            if name == "with_urllib" and what in ("redirects", "not gzip"):
                continue  # it raises the status of an endless redirect, and decodes nothing
            error = error_of(await failure(host, name, arguments))
            assert (type(error), error.can_retry) == (NetworkTransportError, can_retry), name
            assert kind is None or error.kind == kind, name
            assert message is None or error.message == message, name


async def test_a_request_that_cannot_be_sent_is_fatal(host: Host) -> None:
    for name in NAMES:
        error = error_of(await failure(host, name, {"url": f"gopher://127.0.0.1/it?token={CANARY}"}))
        assert type(error) is FatalToolError, name
        assert error.message == "The request that the tool made to the service cannot be sent.", name


async def test_errors_of_no_library_stay_masked(service: Service, host: Host) -> None:
    service.held.add("/never")
    for tool in (no_library, own_limit):
        failed = await failure(host, tool.__name__, {"url": service.url("/never")})
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
                    returned = function(self.service.url(path))
                    if inspect.iscoroutine(returned):
                        asyncio.run(returned)
                except Exception as error:  # noqa: BLE001 - each library has its own
                    yield error, expected
