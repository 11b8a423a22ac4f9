"""The client's end of a connection, for tests of transports."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol


class FarEnd(Protocol):
    """The client's end of a connection, as the test of a transport opens it."""

    async def send(self, message: bytes) -> None:
        """Send one message, in the framing of the transport."""

    async def receive(self) -> bytes | None:
        """Return the next message without its framing, None after the host has ended the connection."""

    async def close(self) -> None:
        """End the connection, as a client does."""


class Lines:
    """The client's end of a socket or a pipe with one message per line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: bytes) -> None:
        """Send one message."""
        self._writer.write(message + b"\n")
        await self._writer.drain()

    async def receive(self) -> bytes | None:
        """Return the next message, None at the end."""
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        return line.removesuffix(b"\n") if line else None

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()
