"""The rules of protocols, and a conversation with a host."""

import asyncio
from collections.abc import AsyncIterator

from docs.examples.plugins.protocol import WordsPlugin, WordsProtocol
from pegboard import Host, Toolkit
from pegboard.plugin import Connection, StreamProtocol
from pegboard_testing import StreamProtocolContract


class TestProtocol(StreamProtocolContract):
    def make(self) -> StreamProtocol:
        return WordsProtocol()

    def call(self, tool: str, number: int) -> bytes:
        return tool.encode()


class Client(Connection):
    """A client that sends all its lines at once."""

    peer = "test"
    finishes = True

    def __init__(self) -> None:
        self.received: list[bytes] = []

    async def messages(self) -> AsyncIterator[bytes]:
        yield b"hello"
        yield b"goodbye"

    def send(self, message: bytes) -> None:
        self.received.append(message)

    async def drain(self) -> None: ...

    async def close(self) -> None: ...


async def responses() -> list[bytes]:
    """Return the responses of a host to the lines of the client."""
    kit = Toolkit("say", prefix=False)

    @kit.tool
    def hello() -> str:
        """Greet."""
        return "Hello."

    client = Client()
    settings = {"host": {"autoload": False, "disabled_plugins": ["mcp"]}}
    async with Host(settings, toolkits={"say": kit}, plugins={"words": WordsPlugin}) as host:
        await host.serve(client, client.messages())
    return client.received


def test_each_line_calls_a_tool() -> None:
    assert asyncio.run(responses()) == [b"Hello.", b"wrong request: Unknown tool: goodbye"]
