"""Serves the host on a Unix socket: messages are JSON-RPC, one a line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from pegboard import PluginConfig
from pegboard.plugin import Connection, Plugin, Transport, TransportContext, TransportError, hookimpl


class UnixConfig(PluginConfig):
    """`[plugins.acme_unix]`."""

    socket: Path


class UnixConnection(Connection):
    """One client."""

    def __init__(self, writer: asyncio.StreamWriter, path: Path) -> None:
        self.peer = str(path)
        self._writer = writer

    def send(self, message: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(message + b"\n")

    async def drain(self) -> None:
        if not self._writer.is_closing():
            await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()


class UnixTransport(Transport):
    """Listens until it is cancelled."""

    name = "acme_unix"

    def __init__(self, path: Path) -> None:
        self._path = path

    async def run(self, host: TransportContext) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await host.serve(UnixConnection(writer, self._path), reader)

        try:
            server = await asyncio.start_unix_server(serve, self._path, limit=4 * 2**20)
        except OSError as error:
            raise TransportError(f"cannot listen on {self._path}: {error.strerror}") from error
        host.opened(str(self._path), local=True, policy="mcp")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()


class UnixPlugin(Plugin):
    """Brings the transport."""

    Config = UnixConfig

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        return [UnixTransport(self.config.socket)]
