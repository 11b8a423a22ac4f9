"""A loopback server that stands for where GitHub keeps logs: another host, which must never see the token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from aiohttp import web


class Storage:
    """Gives files by path.

    Attributes:
        url: its base.
        files: what there is: path to content.
        status: the status of each answer.
        location: where it redirects to, if anywhere.
        headers: those of each request it got.
    """

    def __init__(self) -> None:
        self._runner: web.AppRunner | None = None
        self.url = ""
        self.files: dict[str, bytes] = {}
        self.status = 200
        self.location = ""
        self.headers: list[Mapping[str, str]] = []

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, http: web.Request) -> web.Response:
        self.headers.append(http.headers)
        if self.location:
            return web.Response(status=302, headers={"Location": self.location})
        content = self.files.get(http.path)
        if content is None:
            return web.Response(status=404, text="<Error>BlobNotFound</Error>")
        return web.Response(status=self.status, body=content, content_type="text/plain")
