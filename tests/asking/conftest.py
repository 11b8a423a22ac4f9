"""Clients that answer what a call asks, over both transports: in rounds (2026-07-28), and in sessions.

What answers is a function of the question; what it answers goes back as the revision has it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, Streaming, exchange, message, mirrored
from tests.support.peer import modern_meta
from tests.support.pool import CONFIG, make_asks_site
from tests.support.recorder import Conversation
from tests.support.wire import Wire

ABLE: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
"""Every capability that there is to ask."""
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

Answer = Callable[[str, dict[str, Any]], Any]
"""Given a request's method and parameters, what the client answers."""


def accept(**content: Any) -> dict[str, Any]:
    """The answer of a person who fills in a form."""
    return {"action": "accept", "content": content}


def willing(method: str, params: dict[str, Any]) -> Any:
    """A client that answers whatever is asked."""
    if method == "roots/list":
        return {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]}
    if method == "sampling/createMessage":
        content: Any = {"type": "text", "text": "Paris"}
        if "tools" in params:
            content = [content, {"type": "tool_use", "id": "1", "name": "look", "input": {}}]
        return {"role": "assistant", "model": "m", "content": content, "stopReason": "endTurn"}
    if params.get("mode") == "url":
        return {"action": "accept"}
    values = {"string": "Ann", "integer": 7, "number": 0.5, "boolean": True, "array": ["red"]}
    schema = params["requestedSchema"]
    wanted = {name: field for name, field in schema["properties"].items() if name in schema.get("required", ())}
    return accept(**{name: values[field["type"]] for name, field in wanted.items()})


class Reply(NamedTuple):
    """What came back for a request: the HTTP status, None over standard streams, and the response."""

    status: int | None
    message: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        """The result, which there must be."""
        assert "result" in self.message, self.message
        result: dict[str, Any] = self.message["result"]
        return result

    @property
    def error(self) -> dict[str, Any]:
        """The error, which there must be."""
        assert "error" in self.message, self.message
        error: dict[str, Any] = self.message["error"]
        return error

    @property
    def asked(self) -> dict[str, Any]:
        """The questions, which there must be."""
        assert self.result["resultType"] == "input_required", self.message
        asked: dict[str, Any] = self.result["inputRequests"]
        return asked

    @property
    def text(self) -> str:
        """The text of a call that went well to its end."""
        assert self.result["resultType"] == "complete", self.message
        assert not self.result.get("isError"), self.message
        text: str = self.result["content"][0]["text"]
        return text


class Modern:
    """A client of 2026-07-28.

    Attributes:
        rounds: the questions of each round of the last call, by their keys.
        said: every message of the server.
    """

    def __init__(self, server: Wire | Served) -> None:
        self.server = server
        self.rounds: list[dict[str, Any]] = []
        self.said: list[Any] = []
        self._ids = itertools.count(1)

    async def request(self, method: str, params: dict[str, Any], capabilities: Any = ABLE) -> Reply:
        """One request; a further round has `inputResponses` and `requestState` in its parameters."""
        meta = modern_meta() | params.get("_meta", {}) | {CAPABILITIES: capabilities}
        params = {**params, "_meta": meta}
        if isinstance(self.server, Wire):
            message = await self.server.request(method, params)
            self.said += [message, *await self.server.settle()]
            return Reply(None, message)
        one = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        async with await self.server.connect() as line:
            done = await exchange(line, json.dumps(one).encode(), mirrored(one), Conversation())
        self.said += done.messages
        return Reply(done.status, done.last)

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> Reply:
        """One round of a call; `more` are further parameters."""
        capabilities = more.pop("capabilities", ABLE)
        params = {"name": f"asks_{tool}", "arguments": arguments or {}, **more}
        return await self.request("tools/call", params, capabilities)

    async def play(self, method: str, params: dict[str, Any], answer: Answer = willing) -> Reply:
        """Every round to the end."""
        self.rounds = []
        reply = await self.request(method, params)
        while reply.message.get("result", {}).get("resultType") == "input_required":
            self.rounds.append(reply.asked)
            given = {key: answer(one["method"], one.get("params", {})) for key, one in reply.asked.items()}
            state = reply.result["requestState"]
            reply = await self.request(method, {**params, "inputResponses": given, "requestState": state})
        return reply

    async def finish(self, tool: str, arguments: dict[str, Any] | None = None, answer: Answer = willing) -> Reply:
        """Every round of a call of a tool."""
        return await self.play("tools/call", {"name": f"asks_{tool}", "arguments": arguments or {}}, answer)


Start = Callable[..., Any]


@pytest.fixture(scope="session")
def asks_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose distribution brings the toolkit `asks`."""
    return make_asks_site(tmp_path_factory.mktemp("asks"))


@pytest.fixture(scope="session", params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    """Each transport."""
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="session")
def start(asks_site: Path, transport: str) -> Start:
    """Start a host with these lines of `[plugins.mcp]`, for a client of 2026-07-28."""

    @asynccontextmanager
    async def started(settings: str = "") -> AsyncIterator[Modern]:
        section = f"[plugins.mcp]\n{settings}\n"
        async with AsyncExitStack() as stack:
            server: Wire | Served
            if transport == "stdio":
                server = await stack.enter_async_context(Wire(config=CONFIG + section, site=asks_site))
                server.modern = True
            else:
                server = await stack.enter_async_context(Served(asks_site, http_config(more=section)))
            yield Modern(server)

    return started


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(start: Start) -> AsyncIterator[Modern]:
    """A host that tests share."""
    async with start() as client:
        yield client


@pytest.fixture
def client(shared: Modern) -> Modern:
    """A client of a host that tests share, which nobody has used."""
    return Modern(shared.server)


class Talk:
    """A call of a session, which asks while it runs.

    Args:
        session: the session, over either transport.
        tool: what is called, without its toolkit's prefix.
        arguments: its arguments.
    """

    def __init__(self, session: Wire | Session, tool: str, arguments: dict[str, Any] | None = None) -> None:
        self.session = session
        self._params = {"name": f"asks_{tool}", "arguments": arguments or {}}
        self._streaming: Streaming | None = None
        self.id: Any = None
        self._read: list[Any] = []

    async def begin(self, method: str = "tools/call", params: dict[str, Any] | None = None) -> Talk:
        """Send the request."""
        params = self._params if params is None else params
        if isinstance(self.session, Wire):
            self.id = await self.session.begin(method, params)
        else:
            one = message(method, params)
            self.id = one["id"]
            self._streaming = await self.session.begin(one)
            self._read.append(self._streaming.first)
        return self

    async def told(self) -> Any:
        """The next request or notification of the server."""
        if isinstance(self.session, Wire):
            return await self.session.receive()
        assert self._streaming is not None
        return self._read.pop() if self._read else await self._streaming.next()

    async def answer(self, question: Any, **members: Any) -> None:
        """Send a response to a request of the server's: `result` or `error`."""
        response = {"jsonrpc": "2.0", "id": question["id"], **members}
        await (self.session.send(response) if isinstance(self.session, Wire) else self.session.post(response))

    async def cancel(self) -> None:
        """Tell the server that the call is no longer needed."""
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": self.id}}
        await (self.session.send(notice) if isinstance(self.session, Wire) else self.session.post(notice))

    async def result(self) -> dict[str, Any]:
        """What the call came to."""
        message = await self.session.answer(self.id) if isinstance(self.session, Wire) else await self.told()
        assert "result" in message, message
        result: dict[str, Any] = message["result"]
        return result

    async def text(self) -> str:
        """The text of a call that went well."""
        result = await self.result()
        assert not result["isError"], result
        text: str = result["content"][0]["text"]
        return text

    async def play(self, answer: Answer = willing) -> str:
        """Answer one question, and give the text of the result."""
        question = await self.told()
        await self.answer(question, result=answer(question["method"], question.get("params", {})))
        return await self.text()


Connect = Callable[..., Any]


@pytest.fixture(scope="session")
def connect(asks_site: Path, transport: str) -> Connect:
    """Begin a session with a host of its own; of a revision, with capabilities of the client."""

    @asynccontextmanager
    async def connected(revision: str, capabilities: Any = ABLE) -> AsyncIterator[Wire | Session]:
        async with AsyncExitStack() as stack:
            if transport == "stdio":
                wire = await stack.enter_async_context(Wire(config=CONFIG, site=asks_site))
                await wire.initialize(revision, capabilities=capabilities)
                yield wire
            else:
                session = Session(await stack.enter_async_context(Served(asks_site)), revision, capabilities)
                await session.open()
                yield session

    return connected
