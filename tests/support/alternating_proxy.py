"""A proxy on loopback that sends each request to the next of several processes."""

from __future__ import annotations

from itertools import cycle

import aiohttp
from aiohttp import web

from tests.support.loopback_server import LoopbackServer


class AlternatingProxy(LoopbackServer):
    """The proxy: `async with AlternatingProxy() as proxy`, then `proxy.lead_to(ports)`. It keeps the header `Host`."""

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._pass)
        return application

    def lead_to(self, *ports: int) -> None:
        """Send requests to these ports in turn."""
        self._ports = cycle(ports)

    async def _pass(self, request: web.Request) -> web.Response:
        url = f"http://127.0.0.1:{next(self._ports)}{request.path_qs}"
        body = await request.read()
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(request.method, url, headers=request.headers, data=body, allow_redirects=False) as answer,
        ):
            headers = answer.headers.copy()
            headers.popall("Transfer-Encoding", None)
            return web.Response(status=answer.status, headers=headers, body=await answer.read())
