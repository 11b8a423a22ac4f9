"""A scripted identity provider on loopback: an OpenID provider, and GitHub at the same address."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64encode
from hashlib import sha256
from time import time
from typing import Any
from urllib.parse import urlencode

import jwt
from aiohttp import web

from tests.support.loopback_server import LoopbackServer


class IdentityServer(LoopbackServer):
    """The provider: `async with IdentityServer() as provider`. Everyone who opens its page is logged in.

    Attributes:
        url: its address.
        claims: members of ID tokens to add or change.
        userinfo: the claims of its userinfo endpoint.
        answer: members of the authorization response to change; "" removes one.
        refusal: the next response of the token endpoint.
        broken: the parts of a response of the token endpoint that no provider sends.
        asked: set after a request for the metadata.
        open: unset to let requests for the metadata wait.
        pages: the queries of the page for logins.
        memberships: the active memberships of the user at GitHub.
    """

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {"email": "Ann@Example.com", "email_verified": True, "name": "Ann"}
        self.userinfo: dict[str, Any] = {}
        self.answer: dict[str, str] = {}
        self.refusal: dict[str, str] | None = None
        self.broken: dict[str, Any] = {}
        self.open = asyncio.Event()
        self.open.set()
        self.asked = asyncio.Event()
        self.pages: list[dict[str, str]] = []
        self.memberships: tuple[str, ...] = ()

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/.well-known/openid-configuration", self._describe)
        for path in ("/authorize", "/login/oauth/authorize"):
            application.router.add_get(path, self._authorize)
        for path in ("/token", "/login/oauth/access_token"):
            application.router.add_post(path, self._token)
        application.router.add_get("/userinfo", self._user)
        application.router.add_get("/api/v3/{path:.*}", self._github)
        return application

    def started(self) -> None:
        self.url = self.origin

    async def _describe(self, request: web.Request) -> web.Response:
        self.asked.set()
        await self.open.wait()
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
        return web.json_response({"issuer": self.url, **{name: f"{self.url}/{path}" for name, path in names.items()}})

    async def _authorize(self, request: web.Request) -> web.Response:
        self.pages.append(dict(request.query))
        answer = {"code": f"code-{len(self.pages)}", "state": request.query["state"], **self.answer}
        target = f"{request.query['redirect_uri']}?{urlencode({name: text for name, text in answer.items() if text})}"
        return web.Response(status=302, headers={"Location": target})

    async def _token(self, request: web.Request) -> web.Response:
        if self.broken:
            return web.Response(**self.broken)
        form = await request.post()
        page = self.pages[int(str(form["code"]).partition("-")[2]) - 1]
        digest = urlsafe_b64encode(sha256(str(form["code_verifier"]).encode()).digest()).rstrip(b"=").decode()
        if self.refusal is not None or digest != page["code_challenge"]:
            return web.json_response(self.refusal or {"error": "invalid_grant"}, status=400)
        claims = {"iss": self.url, "sub": "7", "aud": "host", "exp": time() + 60, "nonce": page["nonce"], **self.claims}
        token = jwt.encode(claims, "0123456789abcdef0123456789abcdef")
        return web.json_response({"access_token": "access-canary", "token_type": "Bearer", "id_token": token})

    async def _user(self, request: web.Request) -> web.Response:
        return web.json_response({"sub": "7", **self.userinfo})

    async def _github(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer access-canary"
        if request.match_info["path"] == "user":
            return web.json_response({"id": 583231, "login": "Octocat", "name": None})
        is_member = request.match_info["path"] in self.memberships
        return web.json_response({"state": "active"} if is_member else {}, status=200 if is_member else 404)
