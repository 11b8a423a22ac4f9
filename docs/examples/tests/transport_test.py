"""The rules of transports, checked with clients of a real socket."""

import asyncio
import os
import socket
from pathlib import Path
from stat import S_IMODE
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
        # each client of the channel is the operator, so other users must not connect
        assert S_IMODE(os.stat(self.path).st_mode) == 0o600
        return Lines(*await asyncio.open_unix_connection(self.path, limit=2**24))

    def make_unopenable(self) -> Transport:
        return UnixLinesTransport("/nowhere/lines.sock")

    def dispose(self, made: Transport) -> None:
        self.path.parent.rmdir()  # it is empty: the transport removed its socket


def test_the_host_accepts_the_plugin() -> None:
    with connect(UnixLinesPlugin) as client:
        assert client.problems == ()
