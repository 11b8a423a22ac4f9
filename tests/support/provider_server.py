"""A scripted provider on loopback, with an authorization server, a device flow and an API of one account."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from tests.support.loopback_server import LoopbackServer, challenge_of, redirected


class ProviderServer(LoopbackServer):
    """The provider: `async with ProviderServer() as provider`. Tests change its responses.

    Attributes:
        url: its address.
        pages: the queries of the page for logins.
        forms: the token requests, with `basic` for credentials in the header and `json` for a JSON body.
        answer: members of the authorization response to change; "" removes one.
        replies: the next responses of the token endpoint; without one it issues "access-1", "access-2", and so on.
        reply: members that it adds to every token.
        revocations: the requests for revocation, in the form of `forms`, with `bearer` for a token in the header.
        revocation_reply: the response to them.
        devices: the requests for device authorization.
        requests: all token requests and requests for revocation.
        device: the response of the device authorization endpoint.
        before_token: awaited before each response of the token endpoint.
    """

    def __init__(self) -> None:
        self.pages: list[dict[str, str]] = []
        self.forms: list[dict[str, str]] = []
        self.answer: dict[str, str] = {}
        self.replies: list[tuple[int, dict[str, Any]]] = []
        self.reply: dict[str, Any] = {"expires_in": 3600}
        self.revocations: list[dict[str, str]] = []
        self.revocation_reply: dict[str, Any] = {}
        self.devices: list[dict[str, str]] = []
        self.requests: list[web.Request] = []
        self.device: dict[str, Any] = {
            "device_code": "device-canary",
            "user_code": "ABCD-EFGH",
            "interval": 0,
            "expires_in": 60,
        }
        self.before_token: Callable[[], Awaitable[None]] | None = None

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/authorize", self._authorize)
        application.router.add_post("/token", self._token)
        application.router.add_post("/refresh", self._token)
        application.router.add_post("/device", self._device)
        application.router.add_post("/revoke", self._revoke)
        application.router.add_get("/user", self._user)
        return application

    @property
    def revoked(self) -> list[str]:
        """The tokens that were revoked."""
        return [form["token"] for form in self.revocations]

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the section of a registration here."""
        endpoints = ("authorize", "token", "revoke", "device", "user")
        names = ("authorization", "token", "revocation", "device", "account")
        own = {f"{name}_endpoint": f"{self.url}/{path}" for name, path in zip(names, endpoints, strict=True)}
        return {"client_id": "pegboard", "client_secret": "client-secret-canary", **own, **more}

    async def _authorize(self, request: web.Request) -> web.Response:
        query = dict(request.query)
        self.pages.append(query)
        answer = {"code": f"code-{len(self.pages)}-canary", "state": query["state"], **self.answer}
        return redirected(query, answer)

    async def _token(self, request: web.Request) -> web.Response:
        form = await self._form(request)
        self.forms.append(form)
        if self.before_token is not None:
            await self.before_token()
        if "code_challenge" in (self.pages[-1] if self.pages and "code" in form else {}):
            challenge = self.pages[int(form["code"].split("-")[1]) - 1]["code_challenge"]
            if challenge_of(form.get("code_verifier", "")) != challenge:
                return web.json_response({"error": "invalid_grant"}, status=400)
        number = len(self.forms)
        issued = {"access_token": f"access-{number}-canary", "refresh_token": f"refresh-{number}-canary", **self.reply}
        status, body = self.replies.pop(0) if self.replies else (200, issued)
        return web.json_response(body, status=status)

    async def _form(self, request: web.Request) -> dict[str, str]:
        self.requests.append(request)
        text, is_json = await request.text(), request.content_type == "application/json"
        form: dict[str, str] = json.loads(text) or {} if is_json else dict(parse_qsl(text))
        scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
        if credentials:
            form[scheme.lower()] = b64decode(credentials).decode() if scheme == "Basic" else credentials
        return {**form, **({"json": text if text == "null" else "yes"} if is_json else {})}

    async def _device(self, request: web.Request) -> web.Response:
        self.devices.append(dict(await request.post()))  # type: ignore[arg-type]  # fields, not files
        return web.json_response({"verification_uri": f"{self.url}/enter", **self.device})

    async def _revoke(self, request: web.Request) -> web.Response:
        self.revocations.append(await self._form(request))
        return web.json_response(self.revocation_reply)

    async def _user(self, request: web.Request) -> web.Response:
        known = request.headers.get("Authorization", "").startswith("Bearer access-")
        account = {"login": "octocat", "sub": "7", "html_url": "https://github.com/octocat"}
        return web.json_response(account if known else {}, status=200 if known else 401)
