"""A protocol of text lines: each line names a tool, and the response is its result or an error."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable

from pegboard import ToolResult
from pegboard.errors import MCPContextError
from pegboard.plugin import Connection, Plugin, ProtocolContext, StreamProtocol, hookimpl
from pegboard.types import Call, Caller, Failure


class WordsProtocol(StreamProtocol):
    """Calls tools that need no arguments."""

    name = "words"

    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> int:
        """Call the tool of each message, one after the other."""
        async for message in messages:
            call = Call(method="tools/call", params={"name": message.decode(errors="replace").strip()}, caller=caller)
            outcome = await host.dispatch(call)
            if isinstance(outcome, ToolResult):
                connection.send(str(outcome.value).encode())
            elif isinstance(outcome, Failure):
                blame = "wrong request" if isinstance(outcome.error, MCPContextError) else "error"
                connection.send(f"{blame}: {outcome.error}".encode())
            await connection.drain()
        return 0


class WordsPlugin(Plugin):
    """Enabled by `[plugins.words]`. Disable the plugin `mcp`: message streams use one protocol."""

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        """Return the protocol."""
        return [WordsProtocol()]
