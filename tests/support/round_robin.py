"""A proxy that sends each request to the next server, and to the one after it if a server refuses.

python -m tests.support.round_robin 127.0.0.1:8001 127.0.0.1:8002
"""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import Sequence
from typing import Self

Address = tuple[str, int]
CONNECTION = re.compile(rb"(?i)\r\nconnection: [^\r]*")


class RoundRobin:
    """A proxy on a free port of loopback: `async with RoundRobin(addresses) as proxy`. A connection has one request.

    Attributes:
        addresses: the servers, which may change at any time.
        port: the port of the proxy.
        url: its URL.
    """

    def __init__(self, addresses: Sequence[Address] = ()) -> None:
        self.addresses = list(addresses)
        self.port = 0
        self._count = 0
        self._reached: dict[int, asyncio.Future[Address | None]] = {}
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def reached(self, port: int) -> Address | None:
        """Return the server that a connection from a local port has reached, once; None if all refuse."""
        try:
            return await self._reached.setdefault(port, asyncio.get_running_loop().create_future())
        finally:
            del self._reached[port]

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address, streams = await self._next()
        self._tell(writer.get_extra_info("peername")[1], address)
        both = {writer, *([streams[1]] if streams else [])}
        self._writers |= both
        if streams:
            ways = [asyncio.create_task(way) for way in (_ask(reader, streams[1]), copy(streams[0], writer))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for task in ways:
                task.cancel()
        for ended in both:
            ended.close()
        self._writers -= both

    def _tell(self, port: int, address: Address | None) -> None:
        waiting = self._reached.get(port)
        if waiting is None or waiting.done():  # nobody has asked yet
            waiting = self._reached[port] = asyncio.get_running_loop().create_future()
        waiting.set_result(address)

    async def _next(self) -> tuple[Address | None, tuple[asyncio.StreamReader, asyncio.StreamWriter] | None]:
        for _ in range(len(self.addresses)):
            self._count += 1
            address = self.addresses[self._count % len(self.addresses)]
            try:
                return address, await asyncio.open_connection(*address)
            except OSError:
                continue
        return None, None


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward a request, after whose response the server closes the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (EOFError, ConnectionError):
        return
    writer.write(CONNECTION.sub(b"", head).replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
    await copy(reader, writer)


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy bytes until the end of a connection."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        return


async def serve(addresses: Sequence[str]) -> None:
    """Run a proxy until SIGTERM. Print its URL on standard error."""
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    places = [address.rpartition(":") for address in addresses]
    async with RoundRobin([(host, int(port)) for host, _, port in places]) as proxy:
        print(f"proxy at {proxy.url}", file=sys.stderr, flush=True)
        await ending.wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1:]))
