"""Loopback servers: a GitHub that judges requests and its own responses by the description, and a log storage.

The GitHub server answers each operation with the description's example, unless a test scripts another response.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from base64 import encodebytes
from collections import defaultdict, deque
from collections.abc import Mapping
from traceback import format_exc
from typing import Any, NamedTuple, Self

from aiohttp import web

from toolkits.github.tests.support.description import Mismatch, Request, check_request, check_response
from toolkits.github.tests.support.examples import example, success

TOKEN = "ghp_canary0123456789"
REPO = "octocat/Hello-World"
DIRECTORY = "response-if-content-is-a-directory"
OK_HEADERS = {
    "X-GitHub-Request-Id": "0D1E:2F3A:4B5C6D:7E8F90:66AABBCC",
    "X-RateLimit-Remaining": "4987",
    "X-RateLimit-Reset": "1893456000",
    "Content-Type": "application/json; charset=utf-8",
}


class Reply(NamedTuple):
    """A response that must match the description."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = {}


class Rogue(NamedTuple):
    """A response that GitHub never sends. It is not checked. `broken` closes the connection inside the body."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    broken: bool = False


class Silence(NamedTuple):
    """No response."""


class Loopback:
    """A server on a free port of this machine. `url` is its base."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{rest:.*}", self.handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}{self.prefix}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def handle(self, http: web.Request) -> web.StreamResponse:
        raise NotImplementedError


class GithubServer(Loopback):
    """GitHub.

    Attributes:
        log: the URL to which it redirects for the log of a job.
        seen: the valid requests in order.
        statuses: the statuses of their responses, without rogues.
        faults: the errors of invalid requests and responses.
        waiting: set when a request meets silence.
        abandoned: set when its client disconnects.
        connections: the ports of the clients.
    """

    def __init__(self, prefix: str = "") -> None:
        super().__init__(prefix)
        self.reset()

    def reset(self) -> None:
        self._scripted: dict[str, deque[Reply | Rogue | Silence]] = defaultdict(deque)
        self._tokens = {TOKEN}
        self.log = ""
        self.seen: list[Request] = []
        self.statuses: list[int] = []
        self.faults: list[str] = []
        self.waiting = asyncio.Event()
        self.abandoned = asyncio.Event()
        self.connections: set[int] = set()

    def script(self, operation: str, *replies: Reply | Rogue | Silence) -> None:
        """Set the responses to the next requests of an operation."""
        self._scripted[operation].extend(replies)

    def allow(self, token: str) -> None:
        self._tokens.add(token)

    def operations(self) -> list[str]:
        return [request.operation.id for request in self.seen]

    async def handle(self, http: web.Request) -> web.StreamResponse:
        assert http.transport is not None
        self.connections.add(http.transport.get_extra_info("peername")[1])
        try:
            if not http.raw_path.startswith(self.prefix + "/"):
                raise Mismatch(f"{http.raw_path} is not below {self.prefix}")
            target = http.raw_path.removeprefix(self.prefix)
            request = check_request(http.method, target, http.headers, await http.read())
            self.seen.append(request)
            scripted = self._scripted[request.operation.id]
            reply = scripted.popleft() if scripted else self._example(request)
            if isinstance(reply, Silence):
                return await self._stay_silent()
            if isinstance(reply, Rogue):
                return await _misbehave(http, reply)
            return self._response(request, reply)
        except Exception as fault:  # noqa: BLE001 - the fixture reports it at the end of the test
            self.faults.append(str(fault) if isinstance(fault, Mismatch) else format_exc())
            return web.Response(status=599)

    def _example(self, request: Request) -> Reply:
        if request.headers.get("Authorization") not in {f"Bearer {token}" for token in self._tokens}:
            return error(401, "Bad credentials")
        operation = request.operation.id
        if operation == "actions/download-job-logs-for-workflow-run":
            return Reply(302, None, {"Location": self.log})
        if operation == "repos/get-content" and "." in request.path["path"]:
            return file(request.path["path"], b"# Hello\n")
        name = DIRECTORY if operation == "repos/get-content" else ""
        return Reply(success(operation), example(operation, name))

    def _response(self, request: Request, reply: Reply) -> web.Response:
        body = b"" if reply.body is None else json.dumps(reply.body, ensure_ascii=False).encode()
        headers = {**OK_HEADERS, **reply.headers}
        status = reply.status
        if request.operation.method == "GET" and status == 200:
            headers["ETag"] = f'W/"{hashlib.sha256(body).hexdigest()}"'
            if request.headers.get("If-None-Match") == headers["ETag"]:
                status, body = 304, b""
        if not body:
            del headers["Content-Type"]
        check_response(request.operation, status, {name.lower(): value for name, value in headers.items()}, body)
        self.statuses.append(status)
        return web.Response(status=status, body=body, headers=headers)

    async def _stay_silent(self) -> web.StreamResponse:
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.abandoned.set()
        raise AssertionError("the event is never set")


class Storage(Loopback):
    """The host where GitHub stores job logs. It must never see the token.

    Attributes:
        content: the log, None for a missing log.
        location: the target of a redirect, if any.
        headers: the headers of each request.
    """

    content: bytes | None = None
    location = ""

    def __init__(self) -> None:
        super().__init__()
        self.headers: list[Mapping[str, str]] = []

    async def handle(self, http: web.Request) -> web.StreamResponse:
        self.headers.append(http.headers)
        if self.location:
            return web.Response(status=302, headers={"Location": self.location})
        return web.Response(status=404) if self.content is None else web.Response(body=self.content)


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any) -> Reply:
    """Return an error response of GitHub."""
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", **more}
    return Reply(status, body if status == 422 else {**body, "status": str(status)}, headers or {})


def file(path: str, content: bytes) -> Reply:
    """Return the response for a file. GitHub leaves out the content of files above 1 MB."""
    inline = len(content) <= 1 << 20
    body = example("repos/get-content", "response-if-content-is-a-file")
    body |= {"path": path, "name": path.rpartition("/")[2], "size": len(content), "sha": blob_sha(content)}
    body |= {"content": encodebytes(content).decode() if inline else "", "encoding": "base64" if inline else "none"}
    return Reply(body=body)


def blob_sha(content: bytes) -> str:
    """Return the name that git gives to the content of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


async def _misbehave(http: web.Request, reply: Rogue) -> web.StreamResponse:
    response = web.StreamResponse(status=reply.status, headers=reply.headers)
    if reply.broken:
        response.content_length = len(reply.body) + 1
    await response.prepare(http)
    await response.write(reply.body)
    if reply.broken and http.transport is not None:
        http.transport.abort()
    return response
