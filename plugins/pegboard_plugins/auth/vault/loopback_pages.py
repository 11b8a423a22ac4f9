"""The pages of logins on this machine: the link of a login, and the redirect at its end (RFC 8252, section 7.3).

The link sets a cookie and redirects to the provider. Only the browser with the cookie can complete the login.
"""

from __future__ import annotations

import asyncio
import os
from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from pegboard.types import Response
from pegboard_client import PAGE_HEADERS, LoginFailedError, foreign_page, message_page
from pegboard_plugins.auth.vault.login_flows import LoginFlow, outcome_page

MAX_CLOSE_SECONDS = 1.0
"""The limit of the time in which the last page is sent."""
MAX_REQUEST_HEAD_BYTES = 16 * 1024
DEFAULT_REDIRECT = "http://127.0.0.1:0/callback"


class LoopbackPages:
    """The server of the pages, for any number of logins with one redirect URI.

    Args:
        redirect_uri: the redirect URI of the registration; None for a free port.
    """

    def __init__(self, redirect_uri: str | None) -> None:
        self._redirect = urlsplit(redirect_uri or DEFAULT_REDIRECT)
        self._logins: dict[str, tuple[LoginFlow, str]] = {}
        self._runner: web.AppRunner | None = None
        self._changing = asyncio.Lock()
        self._origin = ""

    async def start(self) -> str:
        """Listen, and return the redirect URI.

        Raises:
            LoginFailedError: the port cannot be opened.
        """
        async with self._changing:
            if self._runner is None:
                self._runner = await self._listening()
            port = self._runner.addresses[0][1]
        host = f"[{self._redirect.hostname}]" if ":" in (self._redirect.hostname or "") else self._redirect.hostname
        self._origin = f"{self._redirect.scheme}://{host}:{port}"
        return self._redirect._replace(netloc=f"{host}:{port}").geturl()

    async def _listening(self) -> web.AppRunner:
        application = web.Application(middlewares=[self._refuse_foreign])
        application.router.add_get("/login/{id}", self._open)
        for path in (self._redirect.path, self._redirect.path + "/{issuer}"):
            application.router.add_get(path, self._receive)
        runner = web.AppRunner(
            application, access_log=None, shutdown_timeout=MAX_CLOSE_SECONDS, max_line_size=MAX_REQUEST_HEAD_BYTES
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, self._redirect.hostname, self._redirect.port or 0).start()
        except OSError as error:
            await runner.cleanup()
            reason = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else "unknown name"
            raise LoginFailedError(
                f"the port of {self._redirect.geturl()} cannot be opened ({reason}): set another redirect_uri."
            ) from None
        return runner

    def add(self, login: LoginFlow, redirect_uri: str) -> str:
        """Serve a login, and return its link."""
        self._logins[login.id] = (login, token_urlsafe(32))
        return urlsplit(redirect_uri)._replace(path=f"/login/{login.id}").geturl()

    async def remove(self, login: LoginFlow) -> None:
        """End the pages of a login. Stop listening after the last login."""
        self._logins.pop(login.id, None)
        if not self._logins:
            await self.close()

    async def close(self) -> None:
        """Stop listening."""
        self._logins.clear()
        async with self._changing:
            if self._runner is not None and not self._logins:  # another login may have begun
                runner, self._runner = self._runner, None
                await runner.cleanup()

    @web.middleware
    async def _refuse_foreign(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        fields = (request.headers.getall(name, ()) for name in ("Host", "Origin"))
        refusal = foreign_page(self._origin, *fields)
        return await handler(request) if refusal is None else _sent(refusal)

    async def _open(self, request: web.Request) -> web.Response:
        login, secret = self._logins.get(request.match_info["id"], (None, ""))
        if login is None or not login.page or login.response.done():
            return _page(404, "This login has ended. Start it again")
        answer = web.Response(status=303, headers={**PAGE_HEADERS, "Location": login.page})
        answer.set_cookie(_cookie(login), secret, httponly=True, samesite="Lax", path=self._redirect.path)
        return answer

    async def _receive(self, request: web.Request) -> web.Response:
        fields = dict(request.query)
        state = fields.get("state", "")
        login, secret = next((entry for entry in self._logins.values() if entry[0].expects(state)), (None, ""))
        if login is None or request.path != self._redirect.path + login.segment:
            return _page(400, "This page belongs to no login that waits")
        if not compare_digest(request.cookies.get(_cookie(login), "").encode(), secret.encode()):
            return _page(403, "This login was started in another browser. Open its link in this browser")
        if len(fields) != len(request.query) or login.response.done():
            return _page(400, "This page belongs to no login that waits")
        login.response.set_result(fields)
        return _sent(await outcome_page(login))


def _cookie(login: LoginFlow) -> str:
    return f"pegboard-login-{login.id}"


def _page(status: int, text: str) -> web.Response:
    return _sent(message_page(status, text))


def _sent(page: Response) -> web.Response:
    return web.Response(status=page.status, body=page.body, headers={**page.headers, "Content-Type": page.content_type})
