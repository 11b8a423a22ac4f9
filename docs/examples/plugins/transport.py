"""Serves the host on a Unix socket. Each line is one JSON-RPC message."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from pegboard import PluginConfig
from pegboard.plugin import Connection, Plugin, Transport, TransportContext, TransportError, hookimpl
from pegboard.types import LOCAL

MAX_MESSAGE_BYTES = 10 * 1024 * 1024


class UnixLinesConfig(PluginConfig):
    """The settings in `[plugins.unix_lines]`."""

    path: Path = Field(Path("pegboard.sock"), validate_default=True)

    @field_validator("path")
    @classmethod
    def _resolve(cls, path: Path, info: ValidationInfo) -> Path:
        return cls.folder_of(info) / path  # a relative path begins at the configuration file


class UnixLinesConnection(Connection):
    """One client of the socket."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.peer = "unix socket"
        self._writer = writer

    def send(self, message: bytes) -> None:
        """Queue a message. The writer of asyncio does not block."""
        if not self._writer.is_closing():
            self._writer.write(message + b"\n")

    async def drain(self) -> None:
        """Wait until the client has read most of the queue."""
        with suppress(ConnectionError):  # the client disconnected
            await self._writer.drain()

    async def close(self) -> None:
        """Close the socket."""
        self._writer.close()


class UnixLinesTransport(Transport):
    """Accepts clients until it is cancelled."""

    name = "unix_lines"

    def __init__(self, path: str) -> None:
        self._path = path

    async def run(self, host: TransportContext) -> None:
        """Serve every client that connects. Only the user who runs the host can connect."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await host.serve(UnixLinesConnection(writer), lines(reader), caller=LOCAL)

        try:
            server = await asyncio.start_unix_server(serve, self._path, limit=MAX_MESSAGE_BYTES, start_serving=False)
        except OSError as error:
            raise TransportError(f"cannot listen on {self._path}: {error.strerror}") from error
        try:
            with private(self._path):
                await server.start_serving()  # clients cannot connect before
                host.opened(self._path, local=True, policy="mcp")
                await asyncio.Event().wait()  # until the host cancels it; serve_forever would wait for the clients, too
        finally:
            server.close()


@contextmanager
def private(path: str) -> Generator[None, None, None]:
    """Let only its owner connect to a socket, whatever the umask is. At the end, remove the file if it is the same."""
    os.chmod(path, 0o600)
    made = os.stat(path)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), made):
                os.unlink(path)


async def lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of a client. A line beyond the limit ends the connection."""
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            return
        yield line[:-1]


class UnixLinesPlugin(Plugin[UnixLinesConfig]):
    """Enabled by `[plugins.unix_lines]`; runs if `[host] transports` contains "unix_lines"."""

    Config = UnixLinesConfig

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        """Return the transport."""
        return [UnixLinesTransport(str(self.config.path))]
