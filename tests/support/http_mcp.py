"""MCP over raw HTTP, in both eras. Every message of the host passes the recorder."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from tests.support.http import Answer, Fields, Line, Served
from tests.support.peer import modern_meta
from tests.support.recorder import Conversation
from tests.support.schemas import LEGACY, MODERN

PATH = "/mcp"
ACCEPT = "application/json, text/event-stream"
JSON_FIELDS = (("Content-Type", "application/json"), ("Accept", ACCEPT))
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

_ids = itertools.count(1)


def message(method: str, params: Any = None, *, id: Any = None) -> dict[str, Any]:
    """Return a request, with a new id unless one is given."""
    request = {"jsonrpc": "2.0", "id": next(_ids) if id is None else id, "method": method}
    return request if params is None else {**request, "params": params}


def call(tool: str, arguments: dict[str, Any] | None = None, *, token: Any = None, id: Any = None) -> dict[str, Any]:
    """Return the call of a tool; with a token it requests progress."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
    return message("tools/call", params if token is None else {**params, "_meta": {"progressToken": token}}, id=id)


def modern(request: dict[str, Any], **meta: Any) -> dict[str, Any]:
    """Return a request with the envelope of the modern era."""
    params = request.get("params") or {}
    return {**request, "params": {**params, "_meta": {**modern_meta(), **params.get("_meta", {}), **meta}}}


def mirrored(request: dict[str, Any], **changes: str | None) -> list[tuple[str, str]]:
    """Return the header fields of a modern request; `changes`, with underscores for hyphens, replace or remove some."""
    fields: dict[str, str | None] = {
        "Content-Type": "application/json",
        "Accept": ACCEPT,
        "MCP-Protocol-Version": MODERN[-1],
        "Mcp-Method": request["method"],
    }
    if request["method"] in NAMED:
        fields["Mcp-Name"] = header_value(str(request["params"].get(NAMED[request["method"]], "")))
    fields |= {name.replace("_", "-"): value for name, value in changes.items()}
    return [(name, value) for name, value in fields.items() if value is not None]


def header_value(text: str) -> str:
    """Return the value of a header for a string: unchanged, or in base64."""
    plain = text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?")
    return text if plain else f"=?base64?{base64.b64encode(text.encode()).decode()}?="


class Event(NamedTuple):
    """One event of a stream."""

    data: bytes
    id: str | None = None
    retry: int | None = None


EVENT = re.compile(rb"(?:id: ([!-~]+)\n)?(?:retry: ([0-9]+)\n)?data: ([^\r\n]*)")


def parsed(body: bytes) -> list[Event]:
    """Return the events of a stream; everything else in it must be a comment."""
    sent_events = []
    for block in body.split(b"\n\n")[:-1]:
        if block.startswith(b":"):
            continue
        fields = EVENT.fullmatch(block)
        assert fields, block
        name, retry = fields[1], fields[2]
        sent_events.append(
            Event(fields[3], None if name is None else name.decode(), None if retry is None else int(retry))
        )
    assert body.endswith(b"\n\n") or not body
    return sent_events


def events(body: bytes) -> list[bytes]:
    """Return the data of a stream's events, without empty ones."""
    return [event.data for event in parsed(body) if event.data]


class Exchanged:
    """The HTTP response to one POST, and the messages in it."""

    def __init__(self, answer: Answer, conversation: Conversation) -> None:
        self.answer = answer
        self.streamed = answer.get("Content-Type") == "text/event-stream"
        if self.streamed:
            self.messages = [conversation.received(data) for data in events(answer.body)]
        elif answer.get("Content-Type") == "application/json":
            self.messages = [conversation.received(answer.body)]
        else:
            self.messages = []

    @property
    def last(self) -> Any:
        return self.messages[-1]

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def result(self) -> dict[str, Any]:
        assert self.status == 200, self.answer
        assert "result" in self.last, self.last
        answer: dict[str, Any] = self.last["result"]
        return answer

    @property
    def refused(self) -> tuple[int, int]:
        """The HTTP status and the code of the error."""
        return self.status, self.last["error"]["code"]


async def exchange(line: Line, request: Any, fields: Fields, conversation: Conversation | None = None) -> Exchanged:
    """POST a message and return the response."""
    conversation = conversation or Conversation()
    body = json.dumps(request).encode()
    conversation.sent(body)
    return Exchanged(await line.request("POST", PATH, fields, body), conversation)


async def exchanged(
    served: Served, request: Any, fields: Fields, conversation: Conversation | None = None
) -> Exchanged:
    """POST a message on a new connection and return the response."""
    async with await served.connect() as line:
        return await exchange(line, request, fields, conversation)


async def ask(served: Served, request: dict[str, Any], **changes: str | None) -> Exchanged:
    """Send a modern request on a new connection."""
    request = modern(request)
    return await exchanged(served, request, mirrored(request, **changes))


async def send(line: Line, request: dict[str, Any], *more: tuple[str, str], **changes: str | None) -> None:
    """Send a modern request on a connection. Header fields are added or changed."""
    request = modern(request)
    await line.ask("POST", PATH, [*mirrored(request, **changes), *more], json.dumps(request).encode())


async def post(served: Served, request: dict[str, Any], *more: tuple[str, str], **changes: str | None) -> Answer:
    """Send a modern request on a new connection, and return any response."""
    async with await served.connect() as line:
        await send(line, request, *more, **changes)
        return await line.answer()


def opening(revision: str = LEGACY[-1], capabilities: Any = None, *, id: Any = None) -> dict[str, Any]:
    """Return the request that opens a session."""
    client = {"capabilities": capabilities or {}, "clientInfo": {"name": "raw", "version": "1"}}
    return message("initialize", {"protocolVersion": revision, **client}, id=id)


class Session:
    """A session of a legacy revision; each request has a new connection, and the given header fields."""

    def __init__(
        self, served: Served, revision: str = LEGACY[-1], capabilities: Any = None, fields: Fields = ()
    ) -> None:
        self.served = served
        self._fields = fields
        self.capabilities = capabilities or {}
        self.revision = revision
        self.id = ""
        self.conversation = Conversation()
        self.seen: dict[str, bytes] = {}

    async def open(self, **fields: str) -> Exchanged:
        opened = await self.post(opening(self.revision, self.capabilities), *fields.items())
        self.id = opened.answer.get("Mcp-Session-Id") or ""
        await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return opened

    def fields(self, *more: tuple[str, str]) -> list[tuple[str, str]]:
        """Return the header fields of a request in the session."""
        own = [*self._fields, *([("Mcp-Session-Id", self.id)] if self.id else [])]
        if self.id and self.revision >= "2025-06-18":
            own.append(("MCP-Protocol-Version", self.revision))
        replaced = {name.lower() for name, _ in more}
        return [field for field in (*JSON_FIELDS, *own) if field[0].lower() not in replaced] + list(more)

    def at(self, served: Served, fields: Fields | None = None) -> Session:
        """Return the session for use at another process, or with other header fields."""
        other = Session(served, self.revision, self.capabilities, self._fields if fields is None else fields)
        other.id, other.conversation, other.seen = self.id, self.conversation, self.seen
        return other

    async def post(self, payload: Any, *more: tuple[str, str]) -> Exchanged:
        return await exchanged(self.served, payload, self.fields(*more), self.conversation)

    async def listen(self, last: str | None = None, *more: tuple[str, str]) -> Streaming:
        """Open the GET stream, or resume a stream after the event with an id."""
        streaming = Streaming(await self.served.connect(), self.conversation, self.seen)
        own = [field for field in self.fields(*more) if field[0] not in ("Content-Type", "Accept")]
        resumed = [] if last is None else [("Last-Event-ID", last)]
        await streaming.open([*own, ("Accept", "text/event-stream"), *resumed])
        return streaming

    async def begin(self, request: dict[str, Any]) -> Streaming:
        streaming = Streaming(await self.served.connect(), self.conversation, self.seen)
        await streaming.begin(request, self.fields())
        return streaming


async def opened(served: Served, revision: str = LEGACY[-1], capabilities: Any = None, **fields: str) -> Session:
    """Return a session that is open."""
    session = Session(served, revision, capabilities)
    await session.open(**fields)
    return session


class Streaming:
    """A request whose stream is read event by event, and all its events that were read."""

    def __init__(
        self, line: Line, conversation: Conversation | None = None, seen: dict[str, bytes] | None = None
    ) -> None:
        self.line = line
        self.events: list[Event] = []
        self._seen = {} if seen is None else seen
        self.conversation = conversation or Conversation()
        self.first: Any = None
        self._unread = b""

    async def begin(self, request: dict[str, Any], fields: Fields) -> None:
        await self.send(request, fields)
        self.first = await self.next()

    async def send(self, request: dict[str, Any], fields: Fields) -> None:
        """Send a request and read the head of its stream."""
        body = json.dumps(request).encode()
        self.conversation.sent(body)
        await self.line.ask("POST", PATH, fields, body)
        self.head = await self.line.head()
        assert self.head.get("Content-Type") == "text/event-stream", self.head

    async def open(self, fields: Fields) -> None:
        await self.line.ask("GET", PATH, fields)
        self.head = await self.line.head()
        assert self.head.status == 200, self.head
        assert self.head.get("Content-Type") == "text/event-stream", self.head

    async def next(self) -> Any:
        """Return the next message; None at the end of the stream."""
        while (event := await self.event()) is not None and not event.data:
            pass
        if event is None:
            return None
        if event.id in self._seen:  # sent again: the recorder has it already
            assert self._seen[event.id] == event.data
            return json.loads(event.data)
        if event.id is not None:
            self._seen[event.id] = event.data
        return self.conversation.received(event.data)

    async def event(self) -> Event | None:
        """Return the next event, which may be empty; None at the end of the stream."""
        while True:
            block, end, rest = self._unread.partition(b"\n\n")
            if end:
                self._unread = rest
                if block.startswith(b":"):  # a comment keeps the stream open
                    continue
                (event,) = parsed(block + end)
                self.events.append(event)
                return event
            chunk = await self.line.chunk()
            if not chunk:
                assert not self._unread
                return None
            self._unread += chunk

    async def rest(self) -> AsyncIterator[Any]:
        while (received := await self.next()) is not None:
            yield received

    def abort(self) -> None:
        self.line.abort()


async def stream(served: Served, request: dict[str, Any], **changes: str | None) -> Streaming:
    """Send a modern request and read the first event of its stream."""
    streaming = Streaming(await served.connect())
    request = modern(request)
    await streaming.begin(request, mirrored(request, **changes))
    return streaming
