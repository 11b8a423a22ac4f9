"""A scripted HTTP server on loopback: `async with ...`, a subclass that adds routes."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Self
from urllib.parse import urlencode

from aiohttp import web


class LoopbackServer:
    """The base of scripted servers.

    Attributes:
        origin: the address, without a path.
        url: the same, unless a server has a path.
    """

    origin: str
    url: str

    def application(self) -> web.Application:
        """Return the application to serve."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self.application(), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.started()
        return self

    def started(self) -> None:
        """Set attributes that need the address."""

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


def challenge_of(verifier: str) -> str:
    """Return the code challenge of a code verifier (RFC 7636, section 4.2)."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def redirected(query: Mapping[str, str], answer: Mapping[str, str]) -> web.Response:
    """Return the authorization response to a request with these parameters. Empty parameters are left out."""
    parameters = urlencode({name: text for name, text in answer.items() if text})
    return web.Response(status=302, headers={"Location": f"{query['redirect_uri']}?{parameters}"})
