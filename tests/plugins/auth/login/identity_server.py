"""A scripted identity provider on loopback: an OpenID provider, and GitHub at the same address."""

from __future__ import annotations

import asyncio
from time import time
from typing import Any

import jwt
from aiohttp import web
from aiohttp.typedefs import Handler

from tests.support.issuer import RSA_KEY, public
from tests.support.loopback_server import LoopbackServer, challenge_of, redirected


class IdentityServer(LoopbackServer):
    """The provider: `async with IdentityServer() as provider`. Everyone who opens its page is logged in.

    Attributes:
        url: its address.
        claims: members of ID tokens to add or change.
        userinfo: the claims of its userinfo endpoint.
        key: the key that signs ID tokens.
        algorithm: the algorithm of this signature.
        down: the end of the path at which it fails.
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
        self.key: Any = RSA_KEY
        self.algorithm = "RS256"
        self.down = ""
        self.answer: dict[str, str] = {}
        self.refusal: dict[str, str] | None = None
        self.broken: dict[str, Any] = {}
        self.open = asyncio.Event()
        self.open.set()
        self.asked = asyncio.Event()
        self.pages: list[dict[str, str]] = []
        self.memberships: tuple[str, ...] = ()

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._fail])
        application.router.add_get("/.well-known/openid-configuration", self._describe)
        for path in ("/authorize", "/login/oauth/authorize"):
            application.router.add_get(path, self._authorize)
        for path in ("/token", "/login/oauth/access_token"):
            application.router.add_post(path, self._token)
        application.router.add_get("/userinfo", self._user)
        application.router.add_get("/keys", self._keys)
        application.router.add_get("/api/v3/{path:.*}", self._github)
        return application

    @web.middleware
    async def _fail(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.down and request.path.endswith(self.down):
            return web.Response(status=503, text="<html>page-canary</html>")
        return await handler(request)

    async def _describe(self, request: web.Request) -> web.Response:
        self.asked.set()
        await self.open.wait()
        names = ("authorize", "authorization_endpoint"), ("token", "token_endpoint"), ("userinfo", "userinfo_endpoint")
        urls = {name: f"{self.url}/{path}" for path, name in (*names, ("keys", "jwks_uri"))}
        return web.json_response({"issuer": self.url, **urls})

    async def _authorize(self, request: web.Request) -> web.Response:
        self.pages.append(dict(request.query))
        answer = {"code": f"code-{len(self.pages)}", "state": request.query["state"], **self.answer}
        return redirected(request.query, answer)

    async def _token(self, request: web.Request) -> web.Response:
        if self.broken:
            return web.Response(**self.broken)
        form = await request.post()
        page = self.pages[int(str(form["code"]).partition("-")[2]) - 1]
        if self.refusal is not None or challenge_of(str(form["code_verifier"])) != page["code_challenge"]:
            return web.json_response(self.refusal or {"error": "invalid_grant"}, status=400)
        claims = {"iss": self.url, "sub": "7", "aud": "host", "exp": time() + 60, "nonce": page["nonce"], **self.claims}
        token = jwt.encode(claims, self.key, algorithm=self.algorithm, headers={"kid": "one"})
        return web.json_response({"access_token": "access-canary", "token_type": "Bearer", "id_token": token})

    async def _keys(self, request: web.Request) -> web.Response:
        return web.json_response({"keys": [public(RSA_KEY, "one", "RS256")]})

    async def _user(self, request: web.Request) -> web.Response:
        return web.json_response({"sub": "7", **self.userinfo})

    async def _github(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer access-canary"
        if request.match_info["path"] == "user":
            return web.json_response({"id": 583231, "login": "Octocat", "name": None})
        is_member = request.match_info["path"] in self.memberships
        return web.json_response({"state": "active"} if is_member else {}, status=200 if is_member else 404)
