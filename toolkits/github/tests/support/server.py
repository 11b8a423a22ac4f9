"""A loopback server that stands for GitHub: it checks each request and each of its own answers by the description.

What it answers comes from a world (what exists there), or for one request from what a test puts before that. What the
description cannot bless, such as half an answer, is sent by `rogue` and so named. A fault ends the test that caused it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from traceback import format_exc
from typing import Any, NamedTuple, Self

from aiohttp import web
from multidict import CIMultiDict

from toolkits.github.tests.support.description import Mismatch, Request, check_answer, check_request

TOKEN = "ghp_canary0123456789"


class Reply(NamedTuple):
    """An answer before it is written."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = {}


class Rogue(NamedTuple):
    """An answer that GitHub does not give: sent as it is and checked by nobody; `broken` ends the connection in it."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    broken: bool = False


class Silence(NamedTuple):
    """No answer, ever."""


Scripted = Reply | Rogue | Silence
Answers = Callable[[Request, str], Reply]
"""Answers a request, given the URL it came to without the query."""


class GithubServer:
    """Serves one world on a free port.

    Attributes:
        url: the base of the API, with a prefix such as `/api/v3` if one was asked for.
        seen: the requests that fitted, in their order.
        statuses: those of the answers to them, without scripted rogues.
        faults: what did not fit.
        waiting: set when a request is met with silence.
        abandoned: set when the one who sent it went away.
        connections: the ports that requests came from.
    """

    def __init__(self, answers: Answers, *, prefix: str = "", tokens: tuple[str, ...] = (TOKEN,)) -> None:
        self._answers = answers
        self._prefix = prefix
        self._tokens = set(tokens)
        self._scripted: dict[str, deque[Scripted]] = defaultdict(deque)
        self._runner: web.AppRunner | None = None
        self.url = ""
        self.seen: list[Request] = []
        self.statuses: list[int] = []
        self.faults: list[str] = []
        self.waiting = asyncio.Event()
        self.abandoned = asyncio.Event()
        self.connections: set[int] = set()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{rest:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}{self._prefix}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def script(self, operation: str, *answers: Scripted) -> None:
        """Answer the next requests for an operation so."""
        self._scripted[operation].extend(answers)

    def allow(self, token: str) -> None:
        """Take another token too."""
        self._tokens.add(token)

    def operations(self) -> list[str]:
        """The operations that were asked for, in their order."""
        return [request.operation.id for request in self.seen]

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        self.connections.add((http.transport.get_extra_info("peername") if http.transport else ("", 0))[1])
        try:
            request = self._checked(http.method, http.raw_path, http.headers, await http.read())
            scripted = self._scripted[request.operation.id]
            answer = scripted.popleft() if scripted else self._answer(request, http.raw_path)
            if isinstance(answer, Silence):
                return await self._say_nothing()
            if isinstance(answer, Rogue):
                return await _misbehave(http, answer)
            self.statuses.append(answer.status)
            return _written(request, answer)
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is told at the end of the test
            self.faults.append(str(fault) if isinstance(fault, Mismatch) else format_exc())
            return web.Response(status=599)

    def _checked(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
        if not target.startswith(self._prefix + "/"):
            raise Mismatch(f"{target} is not below {self._prefix}")
        request = check_request(method, target.removeprefix(self._prefix), headers, body)
        self.seen.append(request)
        return request

    def _answer(self, request: Request, raw_path: str) -> Reply:
        if request.headers.get("Authorization") not in {f"Bearer {token}" for token in self._tokens}:
            return error(401, "Bad credentials")
        reply = self._answers(request, self.url.removesuffix(self._prefix) + raw_path.partition("?")[0])
        if reply.status in (200, 201):
            tag = f'W/"{hashlib.sha256(json.dumps(reply.body).encode()).hexdigest()}"'
            if request.operation.method == "GET" and request.headers.get("If-None-Match") == tag:
                return Reply(304, None, {"ETag": tag})
            return reply._replace(headers={**reply.headers, "ETag": tag})
        return reply

    async def _say_nothing(self) -> web.StreamResponse:
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.abandoned.set()
        raise AssertionError("nobody sets it")


def error(status: int, message: str, **more: Any) -> Reply:
    """An error as GitHub words it."""
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", **more}
    return Reply(status, body if status == 422 else {**body, "status": str(status)})


def limited(status: int, message: str, headers: Mapping[str, str]) -> Reply:
    """An answer by which GitHub asks to wait."""
    return error(status, message)._replace(headers=headers)


def _written(request: Request, reply: Reply) -> web.Response:
    headers = CIMultiDict(
        {
            "X-GitHub-Request-Id": "0D1E:2F3A:4B5C6D:7E8F90:66AABBCC",
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": "4987",
            "X-RateLimit-Reset": "1893456000",
            "X-RateLimit-Resource": "core",
        }
    )
    if reply.body is not None:
        headers["Content-Type"] = "application/json; charset=utf-8"
    headers.update(reply.headers)
    body = b"" if reply.body is None else json.dumps(reply.body, ensure_ascii=False).encode()
    check_answer(request.operation, reply.status, {name.lower(): value for name, value in headers.items()}, body)
    return web.Response(status=reply.status, body=body, headers=headers)


async def _misbehave(http: web.Request, answer: Rogue) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=answer.headers)
    if answer.broken:
        response.content_length = len(answer.body) + 1
    await response.prepare(http)
    await response.write(answer.body)
    if answer.broken and http.transport is not None:
        http.transport.abort()
    return response
