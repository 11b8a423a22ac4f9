"""A raw MCP client over any byte stream: lines out, lines in. It starts no process; `Wire` does.

Every line passes the recorder. A line that the host must not send raises an exception in the test that waits for it, or
when the peer is closed.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any, Self

from tests.support.recorder import Conversation, IdKey, id_key
from tests.support.schemas import MODERN, SchemaMismatch

WAIT = 60.0
"""Seconds that a test waits for an event; far more than a busy machine needs."""
LIMIT = 64 * 2**20
"""Bytes of the longest line."""
META = "io.modelcontextprotocol/"
CLIENT = {"name": "wire", "version": "1"}

Message = dict[str, Any]


def modern_meta(version: str = MODERN[-1], capabilities: Message | None = None, **more: Any) -> Message:
    """Return the `_meta` of a request in the modern era."""
    return {f"{META}protocolVersion": version, f"{META}clientCapabilities": capabilities or {}, **more}


class Peer:
    """The client's end of a connection, and all messages of the host in order.

    If `modern` is true, requests are of the modern era unless a test says otherwise.
    """

    def __init__(self) -> None:
        self.modern = False
        self.messages: list[Any] = []
        self.conversation = Conversation()
        self._waiting: dict[IdKey, list[asyncio.Future[Message]]] = {}
        self._inbox: asyncio.Queue[Any] = asyncio.Queue()
        self._ids = itertools.count(10**6)  # far from the ids that tests write by hand
        self._unfinished = b""

    def attach(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin to read; `reader` must have the limit `LIMIT`."""
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.close()
        if kind is None:
            self.check_rest()

    async def send_raw(self, data: bytes) -> None:
        """Send bytes unchanged; a line needs its own newline."""
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            self.conversation.sent(line)
        self._writer.write(data)
        async with asyncio.timeout(WAIT):
            await self._writer.drain()

    async def send(self, message: Any) -> None:
        await self.send_raw(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def notify(self, method: str, params: Message | None = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    async def begin(
        self, method: str, params: Message | None = None, *, id: Any = None, modern: bool | None = None
    ) -> Any:
        """Send a request and return its id at once; `answer(id)` waits for the response."""
        request_id = next(self._ids) if id is None else id
        if self.modern if modern is None else modern:
            own = (params or {}).get("_meta", {})
            params = {**(params or {}), "_meta": modern_meta() | own}
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self.expect(request_id)
        await self.send(message if params is None else message | {"params": params})
        return request_id

    def expect(self, request_id: Any) -> None:
        """Keep the response with this id for `answer`; the request may be sent in any way."""
        self._waiting.setdefault(id_key(request_id), []).append(asyncio.get_running_loop().create_future())

    async def answer(self, request_id: Any) -> Message:
        """Return the response to a request; of two requests with one id, to the later."""
        waiting = self._waiting[id_key(request_id)]
        future = waiting[-1]
        try:
            async with asyncio.timeout(WAIT):
                return await future
        finally:
            waiting.remove(future)

    async def request(
        self, method: str, params: Message | None = None, *, id: Any = None, modern: bool | None = None
    ) -> Message:
        return await self.answer(await self.begin(method, params, id=id, modern=modern))

    async def result(self, method: str, params: Message | None = None, *, modern: bool | None = None) -> Message:
        answer = await self.request(method, params, modern=modern)
        assert "result" in answer, answer
        return answer["result"]  # type: ignore[no-any-return]

    async def error(self, method: str, params: Message | None = None, *, modern: bool | None = None) -> Message:
        answer = await self.request(method, params, modern=modern)
        assert "error" in answer, answer
        return answer["error"]  # type: ignore[no-any-return]

    async def receive(self) -> Any:
        """Return the next message that is not a response to `begin`: a notification, or the response to raw bytes."""
        async with asyncio.timeout(WAIT):
            item = await self._inbox.get()
        if isinstance(item, Exception):
            raise item
        return item

    async def settle(self) -> list[Any]:
        """Make a round trip, and return the unread messages that came before its end."""
        if self.conversation.revision is None:
            await self.result("server/discover", modern=True)
        else:
            await self.result("ping", modern=False)
        return await self.unread()

    async def unread(self) -> list[Any]:
        """Return the messages that arrived and were not read."""
        left: list[Any] = []
        while not self._inbox.empty():
            left.append(await self.receive())
        return left

    async def initialize(self, revision: str = "2025-11-25", **params: Any) -> Message:
        """Open a session and return the InitializeResult."""
        opening = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
        result = await self.result("initialize", opening | params)
        await self.notify("notifications/initialized")
        return result

    async def call(self, tool: str, /, *, modern: bool | None = None, **arguments: Any) -> Message:
        return await self.result("tools/call", {"name": tool, "arguments": arguments}, modern=modern)

    async def close(self) -> None:
        """Close the client's side, and read until the host closes its own."""
        self._writer.close()
        async with asyncio.timeout(WAIT):
            await self._reading

    def check_rest(self) -> None:
        """Raise the mismatches of messages that no test waited for."""
        left = [future.exception() for waiting in self._waiting.values() for future in waiting if future.done()]
        while not self._inbox.empty():
            left.append(self._inbox.get_nowait())
        for item in left:
            if isinstance(item, SchemaMismatch):
                raise item

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            self._take(line)
        ended = EOFError(f"the host closed the connection. {self.epitaph()}")
        for future in itertools.chain(*self._waiting.values()):
            if not future.done():
                future.set_exception(ended)
                future.exception()  # a test need not wait for it
        self._inbox.put_nowait(ended)

    def _take(self, line: bytes) -> None:
        try:
            if not line.endswith(b"\n"):
                raise SchemaMismatch(f"the last line has no end: {line[:200]!r}")
            message = self.conversation.received(line)
        except SchemaMismatch as mismatch:
            self._deliver(_id_of(line), mismatch)
            return
        self.messages.append(message)
        answers = isinstance(message, dict) and "method" not in message
        self._deliver(message.get("id") if answers else None, message)

    def _deliver(self, request_id: Any, item: Any) -> None:
        future = next(
            (waiter for waiter in reversed(self._waiting.get(id_key(request_id), [])) if not waiter.done()), None
        )
        if future is None:
            self._inbox.put_nowait(item)
        elif isinstance(item, Exception):
            future.set_exception(item)
            future.exception()  # seen here, so that asyncio stays quiet; `check_rest` raises what no test waits for
        else:
            future.set_result(item)

    def epitaph(self) -> str:
        """Return facts about the host for the message of a failed wait."""
        return ""


class SocketPeer(Peer):
    """The client's end of a Unix socket: `async with SocketPeer(path) as peer`."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    async def __aenter__(self) -> Self:
        self.attach(*await asyncio.open_unix_connection(self._path, limit=LIMIT))
        return self


def _id_of(line: bytes) -> Any:
    """Return the id in a line that the recorder rejected, None if it cannot be read."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) and "method" not in message else None
