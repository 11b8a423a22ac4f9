"""The stdio transport keeps the contract of transports, with this process's own descriptors led to a client."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

from pegboard.plugin import Transport
from pegboard.testing import FarEnd, Lines, TransportContract
from pegboard_plugins.stdio.running_tools import RunningTools
from pegboard_plugins.stdio.stdio_transport import StdioTransport

LIMIT = 4 * 2**20


class TestStdio(TransportContract):
    many = False
    announces = False
    trust = "channel"

    def make(self) -> Transport:
        self.ours, theirs = socket.socketpair()
        self.kept = [os.dup(number) for number in (0, 1)]
        for number in (0, 1):
            os.dup2(theirs.fileno(), number)
        theirs.close()
        return StdioTransport(RunningTools(), LIMIT)

    def dispose(self, made: Any) -> None:
        for number, descriptor in enumerate(self.kept):
            os.dup2(descriptor, number)
            os.close(descriptor)
        self.ours.close()

    async def connect(self, transport: Transport) -> FarEnd:
        return Lines(*await asyncio.open_connection(sock=self.ours, limit=LIMIT))
