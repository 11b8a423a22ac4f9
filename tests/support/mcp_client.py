"""A raw MCP client of one revision, the same over stdio and over Streamable HTTP.

`async with McpServer("http", site) as server` starts a host; `await server.client(revision)` connects to it. Over stdio
each client has a process, over HTTP all clients have one. Every message of the host passes the recorder.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.support.http import Line, Served, http_config
from tests.support.http_mcp import JSON_FIELDS, PATH, Session, Streaming, message, mirrored
from tests.support.peer import CLIENT, WAIT, Message, modern_meta
from tests.support.pool import CONFIG
from tests.support.recorder import Conversation
from tests.support.rules import NOTHING_ADDED, Added
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

TRANSPORTS = ("stdio", "http")
NEWEST = (LEGACY[-1], MODERN[-1])
"""The newest revision of each era."""

_ids = itertools.count(2 * 10**6)  # far from the ids of tests and of peers


class Reply(NamedTuple):
    """The response to one request.

    Attributes:
        message: the whole response; empty when the request ended without one.
        told: the notifications and requests that came before it.
        status: the HTTP status; None over stdio.
    """

    message: Message
    told: list[Any]
    status: int | None

    @property
    def result(self) -> Message:
        """The result of a request that succeeded."""
        assert "result" in self.message, self.message
        return self.message["result"]  # type: ignore[no-any-return]

    @property
    def error(self) -> Message:
        """The error of a request that failed."""
        assert "error" in self.message, self.message
        return self.message["error"]  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """The only text of a result that succeeded."""
        assert not self.result.get("isError"), self.message
        return text_of(self.result)


def text_of(result: Message) -> str:
    """Return the only text of the result of a tool."""
    (block,) = result["content"]
    assert block["type"] == "text"
    return block["text"]  # type: ignore[no-any-return]


class Pending(ABC):
    """A request that was sent, and the messages that belong to it."""

    def __init__(self, client: McpClient, request_id: Any, modern: bool) -> None:
        self._client = client
        self._modern = modern
        self.id = request_id

    @abstractmethod
    async def next(self) -> Any:
        """Return the next message of the host for this request: the response too over HTTP, and None at the end."""

    @abstractmethod
    async def reply(self) -> Reply:
        """Wait for the response."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection of the request, if it has one."""

    async def cancel(self) -> None:
        """Cancel the request in the way of the transport and the revision."""
        await self._client.notify("notifications/cancelled", {"requestId": self.id})

    async def result(self) -> Message:
        return (await self.reply()).result

    async def text(self) -> str:
        return (await self.reply()).text


class McpClient(ABC):
    """A client of one revision.

    Attributes:
        revision: requests are of this revision unless a test asks for another era.
        capabilities: what it declares, in the handshake or with each request.
        opened: the result of `initialize`; empty without a session.
        conversation: the recorder's view.
    """

    def __init__(self, revision: str, capabilities: Message | None, conversation: Conversation) -> None:
        self.revision = revision
        self.modern = revision in MODERN
        self.capabilities = capabilities or {}
        self.opened: Message = {}
        self.conversation = conversation

    @abstractmethod
    async def _send_request(self, message: Message, modern: bool) -> Pending: ...

    @abstractmethod
    async def open(self, **params: Any) -> Message:
        """Make the handshake."""

    @abstractmethod
    async def send(self, message: Any) -> int | None:
        """Send a notification or a response; return the HTTP status."""

    @abstractmethod
    async def send_raw(self, raw: bytes, *, id: Any = None) -> Reply:
        """Send bytes and return the answer; `id` is the id that the answer repeats, None for an answer without one."""

    @abstractmethod
    async def listen(self) -> Pending:
        """Receive the messages that belong to no request, in a session."""

    @abstractmethod
    async def settle(self) -> list[Any]:
        """Make a round trip, and return the unread messages that belong to no request (stdio)."""

    async def begin(
        self, method: str, params: Message | None = None, *, id: Any = None, modern: bool | None = None
    ) -> Pending:
        """Send a request."""
        modern = self.modern if modern is None else modern
        params = self.params(params, modern)
        message = {"jsonrpc": "2.0", "id": next(_ids) if id is None else id, "method": method}
        return await self._send_request(message if params is None else message | {"params": params}, modern)

    def params(self, params: Message | None, modern: bool) -> Message | None:
        """Return the parameters of a request of an era."""
        if not modern:
            return params
        own = (params or {}).get("_meta", {})
        return {**(params or {}), "_meta": modern_meta(capabilities=self.capabilities) | own}

    def since(self, revision: str) -> bool:
        """Return True if this client's revision is not older than another."""
        return self.revision >= revision

    async def notify(self, method: str, params: Message | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})
        assert await self.send(message) in (None, 202)

    async def respond(self, question: Any, **members: Any) -> int | None:
        """Send a response to a request of the host, or to an id: `result` or `error`; return the HTTP status."""
        request_id = question["id"] if isinstance(question, dict) else question
        return await self.send({"jsonrpc": "2.0", "id": request_id, **members})

    async def request(
        self, method: str, params: Message | None = None, *, id: Any = None, modern: bool | None = None
    ) -> Reply:
        """Send a request and return the reply."""
        pending = await self.begin(method, params, id=id, modern=modern)
        reply = await pending.reply()
        pending.close()
        return reply

    async def answer(self, method: str, params: Message | None, modern: bool | None) -> Reply:
        """Send a request and return the reply without other messages, which stay unread."""
        return await self.request(method, params, modern=modern)

    async def result(self, method: str, params: Message | None = None, *, modern: bool | None = None) -> Message:
        """Send a request that succeeds, and return its result."""
        return (await self.answer(method, params, modern)).result

    async def error(self, method: str, params: Message | None = None, *, modern: bool | None = None) -> Message:
        """Send a request that fails, and return its error."""
        return (await self.answer(method, params, modern)).error

    async def call(self, tool: str, /, *, modern: bool | None = None, **arguments: Any) -> Message:
        """Call a tool and return its result."""
        return await self.result("tools/call", {"name": tool, "arguments": arguments}, modern=modern)

    async def text(self, tool: str, /, *, modern: bool | None = None, **arguments: Any) -> str:
        """Call a tool that succeeds, and return its text."""
        return (await self.answer("tools/call", {"name": tool, "arguments": arguments}, modern)).text

    async def begin_call(self, tool: str, /, *, id: Any = None, progress: bool = False, **arguments: Any) -> Pending:
        """Begin the call of a tool, under a new progress token if it asks for progress."""
        meta = {"_meta": {"progressToken": f"token {next(_ids)}"}} if progress else {}
        return await self.begin("tools/call", {"name": tool, "arguments": arguments, **meta}, id=id)

    async def server(self) -> Message:
        """Return the introduction of the host: the result of `initialize` or of `server/discover`."""
        return await self.result("server/discover") if self.modern else self.opened


# --- stdio


class StdioPending(Pending):
    """A request on the streams of a process; all messages of the host share them."""

    _client: StdioClient

    async def next(self) -> Any:
        return await self._client.wire.receive()

    async def reply(self) -> Reply:
        message = await self._client.wire.answer(self.id)
        return Reply(message, await self._client.wire.unread(), None)

    def close(self) -> None:
        """Keep the streams open: other requests share them."""


class StdioClient(McpClient):
    """The client of a process of `pegboard stdio`."""

    def __init__(self, wire: Wire, revision: str, capabilities: Message | None) -> None:
        super().__init__(revision, capabilities, wire.conversation)
        self.wire = wire

    async def open(self, **params: Any) -> Message:
        self.opened = await self.wire.initialize(self.revision, **{"capabilities": self.capabilities, **params})
        return self.opened

    async def _send_request(self, message: Message, modern: bool) -> StdioPending:
        self.wire.expect(message["id"])
        await self.wire.send(message)
        return StdioPending(self, message["id"], modern)

    async def answer(self, method: str, params: Message | None, modern: bool | None) -> Reply:
        pending = await self.begin(method, params, modern=modern)
        return Reply(await self.wire.answer(pending.id), [], None)

    async def send(self, message: Any) -> None:
        await self.wire.send(message)

    async def send_raw(self, raw: bytes, *, id: Any = None) -> Reply:
        if id is not None:
            self.wire.expect(id)
        await self.wire.send_raw(raw.rstrip(b"\n") + b"\n")
        return Reply(await (self.wire.receive() if id is None else self.wire.answer(id)), [], None)

    async def listen(self) -> Pending:
        return StdioPending(self, None, modern=False)

    async def settle(self) -> list[Any]:
        return await self.wire.settle()


# --- HTTP


class HttpPending(Pending):
    """A request on a new connection, or the GET stream of a session."""

    _client: HttpClient

    def __init__(self, client: HttpClient, line: Line, request_id: Any, modern: bool) -> None:
        super().__init__(client, request_id, modern)
        self._stream: Streaming | None = None
        self._whole: list[Any] = []
        self.line = line
        self.status = 0

    def close(self) -> None:
        self.line.abort()

    async def next(self) -> Any:
        if not self.status:
            await self.begin()
        return await self._stream.next() if self._stream else self._whole.pop(0) if self._whole else None

    async def begin(self) -> None:
        """Read the head of the response, and the body unless it is a stream."""
        head = await self.line.head()
        self.status = head.status
        conversation = self._client.conversation
        if head.get("Content-Type") == "text/event-stream":
            self._stream = Streaming(self.line, conversation, self._client.session.seen)
        else:
            async with asyncio.timeout(WAIT):
                body = await self.line.reader.readexactly(int(head.get("Content-Length") or 0))
            if head.get("Content-Type") == "application/json":
                self._whole.append(conversation.received(body))

    async def reply(self) -> Reply:
        notifications = []
        while (message := await self.next()) is not None:
            if isinstance(message, dict) and "method" in message:
                notifications.append(message)
                continue
            if self._stream:
                assert await self.next() is None  # nothing follows the response
            return Reply(message, notifications, self.status)
        return Reply({}, notifications, self.status)

    async def cancel(self) -> None:
        if not self._modern:
            return await super().cancel()
        self.close()
        gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": self.id}}
        self._client.conversation.sent(json.dumps(gone).encode())
        return None


class HttpClient(McpClient):
    """A client of a process of `pegboard serve`, in a session or without one."""

    def __init__(
        self, served: Served, revision: str, capabilities: Message | None, fields: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.served = served
        self.fields = fields
        self.session = Session(served, LEGACY[-1] if revision in MODERN else revision, capabilities)
        super().__init__(revision, capabilities, self.session.conversation)

    async def open(self, **params: Any) -> Message:
        opening = {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": CLIENT, **params}
        pending = await self._send_request(message("initialize", opening), modern=False)
        head = await pending.line.answer()
        self.session.id = head.get("Mcp-Session-Id") or ""
        self.opened = self.conversation.received(head.body)["result"]
        self.session.revision = self.opened["protocolVersion"]
        await self.notify("notifications/initialized")
        return self.opened

    async def _post(self, body: bytes, payload: Any, request_id: Any = None, modern: bool = False) -> HttpPending:
        """POST a body on a new connection, with the header fields that its message requires."""
        fields = self.session.fields()
        if modern:
            payload = payload if isinstance(payload, dict) else {}
            sound = isinstance(payload.get("method"), str) and isinstance(payload.get("params"), dict)
            fields = mirrored(payload if sound else {"method": "ping"})
        self.conversation.sent(body)
        line = await self.served.connect()
        await line.ask("POST", PATH, [*fields, *self.fields], body)
        return HttpPending(self, line, request_id, modern)

    async def _send_request(self, message: Message, modern: bool) -> HttpPending:
        return await self._post(json.dumps(message).encode(), message, message["id"], modern)

    async def send(self, message: Any) -> int:
        pending = await self._post(json.dumps(message).encode(), message, modern=self.modern)
        await pending.next()
        pending.close()
        return pending.status

    async def send_raw(self, raw: bytes, *, id: Any = None) -> Reply:
        try:
            message = json.loads(raw)
        except (ValueError, RecursionError):
            message = None
        pending = await self._post(raw, message, modern=self.modern)
        reply = await pending.reply()
        assert (await pending.line.request("GET", "/healthz")).status == 200  # the connection goes on
        pending.close()
        return reply

    async def listen(self) -> Pending:
        line = await self.served.connect()
        own = [field for field in self.session.fields() if field not in JSON_FIELDS]
        await line.ask("GET", PATH, [*own, ("Accept", "text/event-stream"), *self.fields])
        pending = HttpPending(self, line, None, modern=False)
        await pending.begin()
        assert pending.status == 200
        return pending

    async def settle(self) -> list[Any]:
        await self.result("server/discover" if self.modern else "ping")
        return []


# --- hosts


class McpServer:
    """A host over one transport: `async with McpServer(transport, site) as server`.

    Args:
        transport: "stdio" or "http".
        site: a folder of distributions for it to find.
        host: lines of `[host]`.
        more: further sections.
        http: lines of `[plugins.http]`.
        env: environment variables.
        operator: over HTTP, requests carry the operator token; over stdio the caller is the operator anyway.
        added: what extensions add to the messages.
    """

    def __init__(
        self,
        transport: str,
        site: Path,
        *,
        host: str = "",
        more: str = "",
        http: str = "port = 0",
        env: Mapping[str, str] | None = None,
        operator: bool = False,
        added: Added = NOTHING_ADDED,
    ) -> None:
        self.transport = transport
        self._site, self._env, self._added = site, env, added
        self._config = f"{CONFIG}{host}\n{more}\n"
        self._stack = AsyncExitStack()
        self._shared: dict[str, McpClient] = {}
        self.wires: list[Wire] = []
        if transport == "http":
            self.served = Served(site, http_config(http, host=host, more=more), env=env, operator=operator)

    async def __aenter__(self) -> Self:
        if self.transport == "http":
            await self._stack.enter_async_context(self.served)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, traceback)

    async def client(
        self,
        revision: str = LEGACY[-1],
        capabilities: Message | None = None,
        *,
        fields: Sequence[tuple[str, str]] = (),
        opened: bool = True,
    ) -> Any:
        """Connect a client, in a session where its revision has them and `opened` is true."""
        client: StdioClient | HttpClient
        if self.transport == "stdio":
            wire = await self._stack.enter_async_context(Wire(config=self._config, site=self._site, env=self._env))
            self.wires.append(wire)
            client = StdioClient(wire, revision, capabilities)
        else:
            client = HttpClient(self.served, revision, capabilities, fields)
        client.conversation.added = self._added
        if opened and not client.modern:
            await client.open()
        return client

    async def shared(self, revision: str, capabilities: Message | None = None) -> Any:
        """Return the client that all tests of a revision share."""
        if revision not in self._shared:
            self._shared[revision] = await self.client(revision, capabilities)
        return self._shared[revision]

    @property
    def stderr(self) -> str:
        """Everything that the host has written to standard error."""
        return "".join(wire.stderr for wire in self.wires) if self.transport == "stdio" else self.served.stderr

    async def wait_for_stderr(self, pattern: str) -> re.Match[str]:
        """Wait until standard error matches."""
        if self.transport == "http":
            return await self.served.wait_for_stderr(pattern)
        async with asyncio.timeout(WAIT):
            while (match := re.search(pattern, self.stderr)) is None:  # noqa: ASYNC110 - it comes out of a pipe
                await asyncio.sleep(0.005)
        return match


def values(*items: Any) -> tuple[Any, ...]:
    """Return JSON values of different types."""
    return items


async def until(condition: Any) -> None:
    """Call an asynchronous function until it returns a true value; each call is a round trip."""
    async with asyncio.timeout(WAIT):
        while not await condition():
            pass


async def until_cancelled(client: McpClient, label: str) -> None:
    """Wait until the call of the toolkit `fixture` with a label was cancelled."""

    async def seen() -> bool:
        return label in json.loads(await client.text("fixture_cancelled"))

    await until(seen)
