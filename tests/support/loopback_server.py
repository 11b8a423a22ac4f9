"""A scripted HTTP server on loopback: `async with ...`, a subclass that adds routes."""

from __future__ import annotations

from typing import Self

from aiohttp import web


class LoopbackServer:
    """The base of scripted servers.

    Attributes:
        origin: the address, without a path.
    """

    origin: str

    def application(self) -> web.Application:
        """Return the application to serve."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self.application(), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.started()
        return self

    def started(self) -> None:
        """Set attributes that need the address."""

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
