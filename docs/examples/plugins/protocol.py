"""A protocol of text lines: each line names a tool, and the response is its result or an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Iterable

from pegboard import ToolResult
from pegboard.errors import MCPContextError
from pegboard.plugin import Connection, Plugin, ProtocolContext, StreamProtocol, hookimpl
from pegboard.types import Call, Caller, Failure

MAX_WAITING_LINES = 100


class WordsProtocol(StreamProtocol):
    """Calls tools that need no arguments. The responses have the order of the lines."""

    name = "words"

    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> int:
        """Call the tool of each line, one after the other, and notice meanwhile if the client has gone."""
        lines: asyncio.Queue[bytes] = asyncio.Queue(MAX_WAITING_LINES)
        received = answered = 0

        async def answer() -> None:
            nonlocal answered
            while True:
                connection.send(await response(await lines.get(), host, caller))
                await connection.drain()
                answered += 1
                lines.task_done()

        answering = asyncio.create_task(answer())
        try:
            async for message in messages:
                received += 1
                await lines.put(message)
            if connection.finishes:
                await lines.join()
        finally:
            answering.cancel()
            await asyncio.wait((answering,))
        return received - answered


async def response(line: bytes, host: ProtocolContext, caller: Caller) -> bytes:
    """Call the tool that a line names."""
    call = Call(method="tools/call", params={"name": line.decode(errors="replace").strip()}, caller=caller)
    outcome = await host.dispatch(call)
    if isinstance(outcome, ToolResult):
        return str(outcome.value).encode()
    if isinstance(outcome, Failure):
        blame = "wrong request" if isinstance(outcome.error, MCPContextError) else "error"
        return f"{blame}: {outcome.error}".encode()
    return b"error: the tool asks a question"


class WordsPlugin(Plugin):
    """Enabled by `[plugins.words]`. Disable the plugin `mcp`: message streams use one protocol."""

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        """Return the protocol."""
        return [WordsProtocol()]
