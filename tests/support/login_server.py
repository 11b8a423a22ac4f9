"""A scripted MCP server on loopback with its authorization server, and the browser of a person who agrees."""

from __future__ import annotations

import asyncio
import sys
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import aiohttp
import pytest
from aiohttp import web

from tests.support.loopback_server import LoopbackServer, challenge_of, redirected
from tests.support.peer import WAIT


class LoginServer(LoopbackServer):
    """Both servers: `async with LoginServer() as server`. Tests change its documents.

    Attributes:
        url: the MCP server, with one tool for requests with the token `accepted`, or with any token of `valid`.
        refusal: the challenge of the response with status 403 to a call; "" for a result.
        resource: its metadata (RFC 9728), at `resource_path`.
        metadata: the metadata of the authorization server, at `metadata_path`.
        asked: the method and path of each request.
        forms: the forms at the token endpoint, with the credentials of the header, and `at`, the query of its URL.
        silent: the paths that do not respond.
        revoked: the forms at the revocation endpoint, which the metadata does not name.
        registered: the documents at the registration endpoint.
        pages: the queries of the authorization endpoint.
        answer: members of the authorization response to change; "" removes one.
        tokens: the next responses of the token endpoint; without one it sends "token-1", "token-2", and so on.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self.resource_path = "/.well-known/oauth-protected-resource/mcp"
        self.metadata_path = f"/.well-known/oauth-authorization-server{path}"
        self.asked: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.registered: list[dict[str, Any]] = []
        self.pages: list[dict[str, str]] = []
        self.answer: dict[str, str] = {}
        self.tokens: list[tuple[int, dict[str, Any]]] = []
        self.registration: dict[str, Any] = {"client_id": "dynamic"}
        self.accepted = "token-1"
        self.valid: set[str] = set()
        self.silent: set[str] = set()
        self.revoked: list[dict[str, str]] = []
        self.refusal = ""

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        return application

    def started(self) -> None:
        origin = self.origin
        self.url, self.issuer = f"{origin}/mcp", origin + self._path
        self.resource: dict[str, Any] = {"resource": self.url, "authorization_servers": [self.issuer]}
        self.metadata: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{origin}/authorize?tenant=one",
            "token_endpoint": f"{origin}/token",
            "registration_endpoint": f"{origin}/register",
            "code_challenge_methods_supported": ["S256"],
        }

    async def _handle(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path}")
        if request.path in self.silent:
            await asyncio.get_running_loop().create_future()
        documents = {self.metadata_path: self.metadata, self.resource_path: self.resource}
        if request.method == "GET" and request.path in documents:
            return web.json_response(documents[request.path])
        if (request.method, request.path) == ("POST", "/mcp"):
            return await self._respond(request)
        if request.path == "/authorize":
            return self._authorize(dict(request.query))
        if request.path == "/register":
            self.registered.append(await request.json())
            return web.json_response(self.registration, status=400 if "error" in self.registration else 201)
        if request.path == "/revoke":
            self.revoked.append(dict(parse_qsl(await request.text())))
            return web.Response()
        if request.path == "/token":
            form = dict(parse_qsl(await request.text()))
            return self._token(form | ({"at": request.query_string} if request.query_string else {}), request.headers)
        return web.Response(status=404, text="<p>nothing</p>")

    async def _respond(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token != self.accepted and token not in self.valid:
            return web.Response(status=401, headers={"WWW-Authenticate": 'Bearer scope="work"'})
        message = await request.json()
        if self.refusal and message["method"] == "tools/call":
            return web.Response(status=403, headers={"WWW-Authenticate": self.refusal})
        results: dict[str, dict[str, Any]] = {
            "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "prompts": {}}},
            "tools/list": {"tools": [{"name": "cup", "title": "", "inputSchema": {"type": "object"}}]},
            "prompts/list": {"prompts": [{"name": "toast"}]},
            "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Cheers"}}]},
            "tools/call": {"content": [{"type": "text", "text": "full"}]},
        }
        if message["method"] not in results:
            unknown = {"code": -32601, "message": "unknown method"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": unknown}, status=404)
        result = {"resultType": "complete", **results[message["method"]]}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _authorize(self, query: dict[str, str]) -> web.Response:
        self.pages.append(query)
        answer = {"code": "code-1", "state": query["state"], **self.answer}
        return redirected(query, answer)

    def _token(self, form: dict[str, str], headers: Mapping[str, str]) -> web.Response:
        if credentials := headers.get("Authorization"):
            form["basic"] = ":".join(map(unquote, b64decode(credentials.removeprefix("Basic ")).decode().split(":")))
        self.forms.append(form)
        if form["grant_type"] == "authorization_code":
            assert challenge_of(form["code_verifier"]) == self.pages[-1]["code_challenge"]
            assert form["redirect_uri"] == self.pages[-1]["redirect_uri"]
        status, body = self.tokens.pop(0) if self.tokens else (200, {})
        if status == 200:
            body = {"access_token": f"token-{len(self.forms)}", "token_type": "Bearer", **body}
        return web.json_response(body, status=status)


class Browser:
    """The browser of a person who agrees to everything; `opened` has the pages, `shown` the last page at the end."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.shown: tuple[int, str] = (0, "")

    async def __call__(self, url: str) -> None:
        self.opened.append(url)
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            self.shown = response.status, await response.text()

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the last page."""
        return dict(parse_qsl(urlsplit(self.opened[-1]).query))


async def pasted(*command: str) -> tuple[str, str]:
    """Run a command whose person pastes another address, and then that of the last page. Return what it prints."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pegboard", *command, stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert process.stdin is not None
    assert process.stderr is not None
    async with asyncio.timeout(WAIT):
        while b"open this page" not in (line := await process.stderr.readline()):
            assert line
        async with aiohttp.ClientSession() as browser:
            page = await browser.get(line.split()[-1].decode(), allow_redirects=False)
        process.stdin.write(b"http://127.0.0.1/callback?code=other&state=other\n")
        process.stdin.write(page.headers["Location"].encode() + b"\n")
        out, errors = await process.communicate()
    return out.decode(), errors.decode()


@pytest.fixture
async def server() -> AsyncIterator[LoginServer]:
    async with LoginServer() as server:
        yield server
