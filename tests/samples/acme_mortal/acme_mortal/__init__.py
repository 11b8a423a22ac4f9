"""A transport that dies of the first connection, by an exception or by leaving the process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from pegboard import PluginConfig
from pegboard.plugin import Plugin, Transport, TransportContext, hookimpl


class MortalConfig(PluginConfig):
    """`[plugins.acme_mortal]`."""

    socket: Path
    leave: bool = False


class MortalTransport(Transport):
    """Listens until somebody connects."""

    name = "acme_mortal"

    def __init__(self, config: MortalConfig) -> None:
        self._config = config

    async def run(self, host: TransportContext) -> None:
        touched = asyncio.Event()

        def touch(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()
            touched.set()

        server = await asyncio.start_unix_server(touch, self._config.socket)
        host.opened(str(self._config.socket), local=True)
        try:
            await touched.wait()
        finally:
            server.close()
        raise SystemExit(7) if self._config.leave else RuntimeError("touched")


class MortalPlugin(Plugin):
    """Brings the transport."""

    Config = MortalConfig

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        return [MortalTransport(self.config)]
