"""An authorization server on loopback that exchanges its tokens (RFC 8693) and redeems assertions (RFC 7523)."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Self

import jwt
from aiohttp import web

from tests.support.issuer import RSA_KEY, Issuer

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
TYPE = "urn:ietf:params:oauth:token-type:"
HOST_SECRET = "exchange-secret-canary"


class ExchangeServer(Issuer):
    """The server: `async with ExchangeServer() as server`.

    Attributes:
        forms: the token requests.
        trusted: the issuer of identity assertions that it redeems; None for none.
        reply: members of its responses to change; None removes one.
    """

    def __init__(self, trusted: Issuer | None = None) -> None:
        super().__init__()
        self.forms: list[dict[str, str]] = []
        self.trusted = trusted
        self.reply: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.metadata |= {
            "token_endpoint": f"{self.origin}/token",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }
        return self

    async def _handle(self, request: web.Request) -> web.Response:
        if request.path != "/token":
            return await super()._handle(request)
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.forms.append(form)
        expected = b64encode(f"host:{HOST_SECRET}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {expected}":
            return web.json_response({"error": "invalid_client"}, status=401)
        try:
            issued = self._exchanged(form) if form["grant_type"] == EXCHANGE else self._redeemed(form)
        except (KeyError, AssertionError, jwt.InvalidTokenError) as error:
            described = f"{error} {form.get('subject_token')}"
            return web.json_response({"error": "invalid_request", "error_description": described}, status=400)
        changed = {"token_type": "Bearer", "expires_in": 300, **issued, **self.reply}
        return web.json_response({name: value for name, value in changed.items() if value is not None})

    def _exchanged(self, form: dict[str, str]) -> dict[str, Any]:
        assert form["subject_token_type"] == TYPE + "access_token"
        claims = jwt.decode(
            form["subject_token"], RSA_KEY.public_key(), ["RS256"], issuer=self.url, options={"verify_aud": False}
        )
        target = form.get("audience") or form["resource"]
        issued = {"sub": claims["sub"], "aud": target, "scope": form.get("scope")}
        kind = form["requested_token_type"]
        if kind == TYPE + "id-jag":
            issued |= {"resource": form.get("resource"), "client_id": "host"}
            token = self.token(header={"typ": "oauth-id-jag+jwt"}, **issued)
            return {"access_token": token, "issued_token_type": kind, "token_type": "N_A"}
        return {"access_token": self.token(**issued), "issued_token_type": kind, "scope": form.get("scope")}

    def _redeemed(self, form: dict[str, str]) -> dict[str, Any]:
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        assert self.trusted is not None
        assert jwt.get_unverified_header(form["assertion"])["typ"] == "oauth-id-jag+jwt"
        claims = jwt.decode(
            form["assertion"], RSA_KEY.public_key(), ["RS256"], issuer=self.trusted.url, audience=self.url
        )
        scope = " ".join(word for word in form["scope"].split() if word in claims["scope"].split())
        return {"access_token": self.token(sub=claims["sub"], aud=claims["resource"], scope=scope), "scope": scope}
