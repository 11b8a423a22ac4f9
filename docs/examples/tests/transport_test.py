"""The rules of transports, checked with clients of a real socket."""

import asyncio
import socket
from pathlib import Path
from tempfile import mkdtemp

import pytest

from docs.examples.plugins.transport import UnixLinesPlugin, UnixLinesTransport
from pegboard.plugin import Transport
from pegboard_testing import FarEnd, Lines, TransportContract, connect


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="Windows has no Unix sockets")
class TestTransport(TransportContract):
    trust = "channel"

    def make(self) -> Transport:
        self.path = Path(mkdtemp()) / "lines.sock"
        return UnixLinesTransport(str(self.path))

    async def connect(self, transport: Transport) -> FarEnd:
        return Lines(*await asyncio.open_unix_connection(self.path, limit=2**24))

    def make_unopenable(self) -> Transport:
        return UnixLinesTransport("/nowhere/lines.sock")

    def dispose(self, made: Transport) -> None:
        self.path.unlink(missing_ok=True)
        self.path.parent.rmdir()


def test_the_host_accepts_the_plugin() -> None:
    with connect(UnixLinesPlugin) as client:
        assert client.problems == ()
