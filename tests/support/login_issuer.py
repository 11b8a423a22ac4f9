"""An OpenID provider on loopback that logs in the user of each browser without a page."""

from __future__ import annotations

from typing import Any, Self

from aiohttp import web

from tests.support.issuer import Issuer
from tests.support.loopback_server import redirected


class LoginIssuer(Issuer):
    """The provider: `async with LoginIssuer() as issuer`.

    Attributes:
        user: the subject of the browser that logs in next.
        changed: claims of ID tokens to change.
    """

    def __init__(self) -> None:
        super().__init__()
        self.user = "ann"
        self.changed: dict[str, Any] = {}
        self._codes: dict[str, dict[str, str]] = {}

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.metadata |= {
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "code_challenge_methods_supported": ["S256"],
        }
        return self

    async def _handle(self, request: web.Request) -> web.Response:
        if request.path == "/authorize":
            code = f"code-{len(self._codes)}"
            self._codes[code] = {**request.query, "sub": self.user}
            return redirected(request.query, {"code": code, "state": request.query["state"]})
        if request.path == "/token":
            login = self._codes.pop(str((await request.post())["code"]))
            claims = {"sub": login["sub"], "aud": login["client_id"], "nonce": login["nonce"], **self.changed}
            return web.json_response({"access_token": "a", "token_type": "Bearer", "id_token": self.token(**claims)})
        return await super()._handle(request)
