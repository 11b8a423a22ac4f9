"""The authorization API of the Arcade cloud on loopback, after its public description."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from tests.support.loopback_server import LoopbackServer

API_KEY = "arc-key-canary"


class ArcadeCloud(LoopbackServer):
    """The cloud: `async with ArcadeCloud() as cloud`. A user authorizes by opening the link.

    Attributes:
        url: its address.
        asked: the requests for authorizations.
        waits: the queries for a status.
        authorized: the users and providers that are authorized.
        failed: True if authorizations fail.
        unknown: providers that the account does not have.
        reply: members of a pending authorization to change.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.waits: list[dict[str, str]] = []
        self.authorized: set[tuple[str, str]] = set()
        self.failed = False
        self.unknown: set[str] = set()
        self.reply: dict[str, Any] = {}
        self._changed = asyncio.Event()

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._check])
        application.router.add_post("/v1/auth/authorize", self._authorize)
        application.router.add_get("/v1/auth/status", self._status)
        application.router.add_get("/open/{user}/{provider}", self._open)
        return application

    @web.middleware
    async def _check(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.startswith("/v1/") and request.headers.get("Authorization") != API_KEY:
            return web.json_response({"name": "unauthorized", "message": "invalid key"}, status=401)
        response: web.StreamResponse = await handler(request)
        return response

    async def _authorize(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        required = body["auth_requirement"]
        provider = required.get("id") or required["provider_id"]
        if provider in self.unknown:
            return web.json_response({"name": "bad_request", "message": "unknown provider"}, status=400)
        return self._described(body["user_id"], provider)

    def _described(self, user: str, provider: str) -> web.Response:
        known = {"id": f"{user}/{provider}", "user_id": user, "provider_id": provider}
        if self.failed:
            return web.json_response({**known, "status": "failed"})
        if (user, provider) in self.authorized:
            context = {"token": f"token-of-{user}-canary", "user_info": {"sub": "7"}}
            return web.json_response({**known, "status": "completed", "context": context, "scopes": ["read"]})
        pending = {**known, "status": "pending", "url": f"{self.url}/open/{user}/{provider}"}
        return web.json_response({**pending, **self.reply})

    async def _status(self, request: web.Request) -> web.Response:
        self.waits.append(dict(request.query))
        user, provider = request.query["id"].split("/")
        if (user, provider) not in self.authorized and not self.failed:
            async with asyncio.timeout(int(request.query["wait"])):
                await self._changed.wait()
        return self._described(user, provider)

    async def _open(self, request: web.Request) -> web.Response:
        self.authorized.add((request.match_info["user"], request.match_info["provider"]))
        self._changed.set()
        return web.Response(text="authorized")
