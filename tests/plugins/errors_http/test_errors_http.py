"""Failures of every HTTP client, met by real ones in tools of a real host, and what the caller is told of them."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest
import requests
import urllib3
from requests.adapters import HTTPAdapter

from pegboard import ErrorKind, FatalToolError, Host, NetworkTransportError, UpstreamError, UpstreamRateLimitError
from pegboard.plugin import ToolDefinition, ToolkitError
from pegboard.types import Failure
from pegboard_plugins.errors_http import HttpErrorsPlugin
from tests.host.hosting import failure, make_host, plugin_of
from tests.plugins.errors_http.service import CANARY, NAMES, PATIENCE, TOOLS, Service, answer

STATUS_NAMES = [name for name in NAMES if name != "with_urllib3"]
"""The tools that take a status of 400 and above for a failure."""
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
    """The error, of which the caller sees nothing that is not ours to show."""
    error = failed.error
    assert isinstance(error, ToolkitError)
    assert CANARY not in f"{error.message} {error.additional_prompt_content} {error.extra} {error.developer_message}"
    assert error.__cause__ is not None
    of_service = isinstance(error, UpstreamError | NetworkTransportError)
    assert (failed.error_id is None) is of_service  # these take one line of the log, without a traceback
    return error


# --- answers


@pytest.mark.parametrize("name", STATUS_NAMES)
@pytest.mark.parametrize(
    ("status", "kind", "can_retry", "text"),
    [
        (400, ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST, False, "400 Bad Request"),
        (401, ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR, False, "401 Unauthorized"),
        (403, ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR, False, "403 Forbidden"),
        (404, ErrorKind.UPSTREAM_RUNTIME_NOT_FOUND, False, "404 Not Found"),
        (499, ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST, False, "499"),
        (503, ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR, True, "503 Service Unavailable"),
    ],
)
async def test_an_answer_with_an_error(
    name: str, status: int, kind: ErrorKind, can_retry: bool, text: str, service: Service, host: Host
) -> None:
    service.answers["/it"] = answer(status)
    error = told(await failure(host, name, {"url": service.url("/it")}))
    assert type(error) is UpstreamError
    assert (error.kind, error.status_code, error.can_retry, error.retry_after_ms) == (kind, status, can_retry, None)
    assert error.message == f"The service answered with an error: {text}."
    assert f"{service.place}/it {status}" in (error.developer_message or "")
    assert error.extra["service"] == "_http"
    assert error.extra["endpoint"] == f"{service.place}/it"
    assert error.extra.get("http_method") == (None if name == "with_urllib" else "GET")


@pytest.mark.parametrize("name", STATUS_NAMES)
@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {"Retry-After": "7"}, 7000),
        (429, {}, 1000),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2000000030", "Date": ""}, 30_000),
        (403, {"retry-after": "60"}, 60_000),
    ],
    ids=["seconds", "nothing said", "used up", "asked to wait"],
)
async def test_a_service_that_limits_its_callers(
    name: str, status: int, headers: dict[str, str], wait: int, service: Service, host: Host
) -> None:
    if "Date" in headers:
        headers = {**headers, "Date": "Wed, 18 May 2033 03:33:20 GMT"}  # 2000000000
    service.answers["/it"] = answer(status, headers)
    error = told(await failure(host, name, {"url": service.url("/it")}))
    assert type(error) is UpstreamRateLimitError
    assert (error.kind, error.can_retry) == (ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT, True)
    assert error.retry_after_ms == wait
    assert f"Try again in {wait // 1000} second" in error.message


@pytest.mark.parametrize("name", STATUS_NAMES)
async def test_a_service_that_is_down_for_a_while_says_for_how_long(name: str, service: Service, host: Host) -> None:
    service.answers["/it"] = answer(503, {"Retry-After": "5"})
    error = told(await failure(host, name, {"url": service.url("/it")}))
    assert (type(error), error.status_code, error.retry_after_ms) == (UpstreamError, 503, 5000)
    assert error.message.endswith("503 Service Unavailable. Try again in 5 seconds.")


# --- no answer


@pytest.mark.parametrize("name", NAMES)
async def test_a_service_that_does_not_answer_in_time(name: str, service: Service, host: Host) -> None:
    error = told(await failure(host, name, {"url": service.url("/never"), "timeout": 0.05}))
    assert type(error) is NetworkTransportError
    assert (error.kind, error.can_retry) == (TIMEOUT, True)
    assert error.message == "The service did not answer in time."


@pytest.mark.parametrize("name", NAMES)
async def test_a_body_that_does_not_come_in_time(name: str, service: Service, host: Host) -> None:
    service.answers["/slow"] = answer(200, {"Content-Length": "100000"})
    service.held.add("/slow")
    error = told(await failure(host, name, {"url": service.url("/slow"), "timeout": 0.05}))
    assert (type(error), error.kind, error.can_retry) == (NetworkTransportError, TIMEOUT, True)


@pytest.mark.parametrize("name", NAMES)
async def test_a_service_that_is_not_there(name: str, host: Host) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/it?token={CANARY}"
        error = told(await failure(host, name, {"url": url}))
    assert (type(error), error.kind, error.can_retry) == (NetworkTransportError, UNREACHABLE, True)
    assert error.message == "The service could not be reached."


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_that_nobody_has(name: str, host: Host) -> None:
    error = told(await failure(host, name, {"url": f"http://nobody.invalid/it?token={CANARY}"}))
    assert (type(error), error.kind, error.can_retry) == (NetworkTransportError, UNREACHABLE, True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "sent",
    [b"", b"this is no HTTP\r\n\r\n", answer(200, {"Content-Length": "100"})],
    ids=["nothing", "no HTTP", "half a body"],
)
async def test_a_connection_that_breaks(name: str, sent: bytes, service: Service, host: Host) -> None:
    service.answers["/it"] = sent
    error = told(await failure(host, name, {"url": service.url("/it")}))
    assert (type(error), error.kind, error.can_retry) == (NetworkTransportError, UNREACHABLE, True)


@pytest.mark.parametrize("name", NAMES)
async def test_a_connection_that_is_not_secure(name: str, service: Service, host: Host) -> None:
    error = told(await failure(host, name, {"url": service.url("/it", "https")}))
    assert (type(error), error.kind, error.can_retry) == (NetworkTransportError, UNREACHABLE, False)
    assert error.message == "No secure connection to the service could be made."


@pytest.mark.parametrize("name", [name for name in NAMES if name != "with_urllib"])
async def test_redirections_without_end(name: str, service: Service, host: Host) -> None:
    service.answers["/it"] = answer(302, {"Location": f"/it?token={CANARY}"})
    error = told(await failure(host, name, {"url": service.url("/it")}))
    assert (type(error), error.kind, error.can_retry) == (NetworkTransportError, UNMAPPED, False)
    assert error.message == "The service's redirections lead nowhere."


@pytest.mark.parametrize("name", [name for name in NAMES if name != "with_urllib"])  # it decodes nothing
async def test_a_body_that_is_not_what_its_encoding_says(name: str, service: Service, host: Host) -> None:
    service.answers["/it"] = answer(200, {"Content-Encoding": "gzip"})
    error = told(await failure(host, name, {"url": service.url("/it")}))
    assert type(error) is NetworkTransportError
    assert error.can_retry


@pytest.mark.parametrize("name", NAMES)
async def test_a_request_that_cannot_be_sent_is_nothing_that_the_caller_can_mend(name: str, host: Host) -> None:
    error = told(await failure(host, name, {"url": f"gopher://127.0.0.1/it?token={CANARY}"}))
    assert type(error) is FatalToolError
    assert error.message == "The request that the tool made to the service cannot be sent."


# --- what is peculiar to one library


async def fail(tool: Any, **arguments: Any) -> ToolkitError:
    """How a tool of one's own fails."""
    plugins = {"adapters": HttpErrorsPlugin, "t": plugin_of(tools=[ToolDefinition(tool, name="tool")])}
    async with make_host(plugins=plugins) as host:
        return told(await failure(host, "tool", arguments))


async def test_aiohttp_lets_a_bare_timeout_out_for_the_whole_request(service: Service) -> None:
    async def tool(url: str) -> str:
        """Get a URL."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=0.05)) as session:
            return await (await session.get(url)).text()

    error = await fail(tool, url=service.url("/never"))
    assert isinstance(error.__cause__, TimeoutError)
    assert not isinstance(error.__cause__, aiohttp.ClientError)
    assert error.kind == TIMEOUT


async def test_aiohttp_refuses_a_body_of_another_type(service: Service) -> None:
    async def tool(url: str) -> Any:
        """Get JSON from a URL."""
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            return await response.json()

    service.answers["/it"] = answer(200, {"Content-Type": "text/html"})
    error = await fail(tool, url=service.url("/it"))
    assert (type(error), error.kind) == (NetworkTransportError, UNMAPPED)
    assert error.message == "The service sent an answer that cannot be read."


async def test_requests_raises_its_own_error_for_what_is_no_json(service: Service) -> None:
    def tool(url: str) -> Any:
        """Get JSON from a URL."""
        return requests.get(url, timeout=PATIENCE).json()

    service.answers["/it"] = answer(200)
    error = await fail(tool, url=service.url("/it"))
    assert error.message == "The service sent an answer that cannot be read."


def retrying() -> urllib3.Retry:
    return urllib3.Retry(1, status_forcelist=[503], backoff_factor=0)


async def test_urllib3_gives_up_on_a_status_after_it_has_tried_again(service: Service) -> None:
    def tool(url: str) -> int:
        """Get a URL."""
        with urllib3.PoolManager() as pool:
            return pool.request("GET", url, retries=retrying()).status

    service.answers["/it"] = answer(503)
    error = await fail(tool, url=service.url("/it"))
    assert (type(error), error.status_code) == (UpstreamError, 503)


async def test_requests_gives_up_on_a_status_after_it_has_tried_again(service: Service) -> None:
    def tool(url: str) -> int:
        """Get a URL."""
        with requests.Session() as session:
            session.mount("http://", HTTPAdapter(max_retries=retrying()))
            return session.get(url, timeout=PATIENCE).status_code

    service.answers["/it"] = answer(503)
    error = await fail(tool, url=service.url("/it"))
    assert (type(error), error.status_code) == (UpstreamError, 503)
    assert error.extra["endpoint"] == f"{service.place}/it"


async def test_an_error_that_a_tool_makes_itself_without_an_answer(service: Service) -> None:
    def tool() -> None:
        """Fail."""
        raise requests.HTTPError(f"made up: {CANARY}")

    error = await fail(tool)
    assert (type(error), error.kind) == (NetworkTransportError, UNMAPPED)
    assert error.message == "The request to the service failed."


# --- what is left alone


async def masked(tool: Any, **arguments: Any) -> None:
    plugins = {"adapters": HttpErrorsPlugin, "t": plugin_of(tools=[ToolDefinition(tool, name="tool")])}
    async with make_host(plugins=plugins) as host:
        failed = await failure(host, "tool", arguments)
    assert failed.error.message == "It failed unexpectedly."
    assert type(failed.error) is FatalToolError


async def test_a_limit_that_the_tool_set_itself_is_not_the_librarys(service: Service) -> None:
    async def tool(url: str) -> str:
        """Get a URL."""
        async with asyncio.timeout(0.05), aiohttp.ClientSession() as session:
            return await (await session.get(url)).text()

    await masked(tool, url=service.url("/never"))


@pytest.mark.parametrize("error", [ValueError(CANARY), TimeoutError(CANARY), ConnectionResetError(CANARY)], ids=repr)
async def test_what_comes_out_of_no_library_stays_masked(error: Exception) -> None:
    def tool() -> None:
        """Fail."""
        raise error

    await masked(tool)


PROGRAM = """
import asyncio, sys
from pegboard import Host, Toolkit
from pegboard.types import Call

kit = Toolkit("t")

@kit.tool(inline=True)
def fails() -> str:
    "Fail."
    raise TimeoutError("nobody's")

async def main():
    host = {"autoload": False, "transports": [], "disabled_plugins": ["http", "stdio", "mcp"]}
    async with Host({"host": host}, toolkits={"t": kit}) as running:
        before = set(sys.modules)
        failed = await running.dispatch(Call("tools/call", {"name": "t_fails"}))
        print(failed.error.message)
        print(*(one.slug for one in running.assembly.adapters))
        print("pegboard_plugins.errors_http.client_libraries" in set(sys.modules) - before)
        print(*sorted({"aiohttp", "httpx", "httpx2", "requests", "urllib3", "urllib.error"} & set(sys.modules)))

asyncio.run(main())
"""


def test_it_is_on_by_default_and_imports_no_library() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    slugs = "_google_api_client _graphql _microsoft_graph _slack_sdk _http"
    assert done.stdout.splitlines() == ["It failed unexpectedly.", slugs, "True", ""]
