"""The token endpoint (OAuth 2.1, section 3.2) and the revocation endpoint (RFC 7009)."""

from __future__ import annotations

import logging
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from time import time
from typing import Any
from urllib.parse import parse_qsl

from pegboard.plugin import ProtocolContext, encode
from pegboard.types import Caller, Request, Response
from pegboard_plugins.auth.login.grant_store import GrantStore, LoginGrant
from pegboard_plugins.auth.login.login_clients import LoginClients, client_label
from pegboard_plugins.auth.login.login_signing import ACCESS_KIND, CODE_KIND, REFRESH_KIND, LoginSigner
from pegboard_plugins.auth.login.settings import LoginConfig
from pegboard_plugins.support.refusal_log import RefusalLog

MAX_FORM_FIELDS = 20
_NO_STORE = {"Cache-Control": "no-store"}


class GrantRefusedError(Exception):
    """A request is refused.

    Args:
        code: the error code (RFC 6749, section 5.2).
        description: the reason for the developer of the client.
    """

    def __init__(self, code: str, description: str) -> None:
        super().__init__(description)
        self.code = code


class GrantTokens:
    """Both endpoints.

    Args:
        config: the plugin's settings.
        signer: signs the tokens.
        clients: the client programs.
        grants: the logins of people.
    """

    def __init__(self, config: LoginConfig, signer: LoginSigner, clients: LoginClients, grants: GrantStore) -> None:
        self._config = config
        self._signer = signer
        self._clients = clients
        self._grants = grants
        self._audit = RefusalLog()

    async def issue(self, request: Request, host: ProtocolContext) -> Response:
        """Return tokens for a code or a refresh token."""
        try:
            form = form_fields(request)
            use = {"authorization_code": self._use_code, "refresh_token": self._use_refresh_token}
            if (handler := use.get(_required(form, "grant_type"))) is None:
                raise GrantRefusedError("unsupported_grant_type", "Use authorization_code or refresh_token.")
            return _answer(200, await handler(form))
        except GrantRefusedError as error:
            return _answer(400, {"error": error.code, "error_description": str(error)})

    async def revoke(self, request: Request, host: ProtocolContext) -> Response:
        """End the login of a token. An invalid token gets the same response (RFC 7009, section 2.2).

        A request that leaves a valid token valid is refused (section 2.1).
        """
        try:
            await self._revoke(form_fields(request))
        except GrantRefusedError as error:
            return _answer(400, {"error": error.code, "error_description": str(error)})
        return _answer(200, {})

    async def _revoke(self, form: Mapping[str, str]) -> None:
        token, client_id = _required(form, "token"), _required(form, "client_id")
        claims = self._signer.read(REFRESH_KIND, token) or self._signer.read(ACCESS_KIND, token)
        grant = None if claims is None else await self._grants.load(claims["grant"])
        if grant is None:
            return
        if grant.client != client_label(client_id):
            raise GrantRefusedError("invalid_grant", "The token belongs to another client.")
        await self._grants.remove(grant)

    async def _use_code(self, form: Mapping[str, str]) -> dict[str, Any]:
        grant = await self._grant(CODE_KIND, _required(form, "code"), form)
        if form.get("redirect_uri", grant.redirect_uri) != grant.redirect_uri:
            raise GrantRefusedError("invalid_grant", "The redirect_uri differs from that of the authorization request.")
        digest = sha256(form.get("code_verifier", "").encode("utf-8", "surrogateescape")).digest()
        if not compare_digest(urlsafe_b64encode(digest).rstrip(b"=").decode(), grant.challenge):
            raise GrantRefusedError("invalid_grant", "The code_verifier is wrong.")
        return await self._tokens(grant, grant.scopes, time() + self._config.login_seconds)

    async def _use_refresh_token(self, form: Mapping[str, str]) -> dict[str, Any]:
        grant = await self._grant(REFRESH_KIND, _required(form, "refresh_token"), form)
        scopes = tuple(dict.fromkeys(form.get("scope", "").split())) or grant.scopes
        if not set(scopes) <= set(grant.scopes):
            raise GrantRefusedError("invalid_scope", "A refresh token cannot add scopes: log in again.")
        if not self._config.admits(grant.person):
            await self._grants.remove(grant)
            raise GrantRefusedError("invalid_grant", "This account may no longer log in here: ask the operator.")
        return await self._tokens(grant, scopes, grant.expires_at)

    async def _grant(self, kind: str, token: str, form: Mapping[str, str]) -> LoginGrant:
        """Return the grant of a code or refresh token. A token that was used before ends its grant."""
        client_id = form.get("client_id", "")
        if not self._clients.knows(client_id):
            raise GrantRefusedError("invalid_client", "The client is not registered here: register again.")
        if not self._config.is_resource(form.get("resource")):
            raise GrantRefusedError("invalid_target", f"The resource must be {self._config.resource}.")
        claims = self._signer.read(kind, token)
        grant = None if claims is None else await self._grants.load(claims["grant"])
        if claims is None or grant is None:
            raise GrantRefusedError("invalid_grant", "The code or token is invalid, or has expired.")
        if grant.client != client_label(client_id):
            raise GrantRefusedError("invalid_grant", "The code or token belongs to another client.")
        if claims["number"] != grant.number:
            await self._end_replayed(grant)
        return grant

    async def _end_replayed(self, grant: LoginGrant) -> None:
        await self._grants.remove(grant)
        caller = Caller(grant.person.subject, client_id=grant.client, issuer=self._config.issuer)
        self._audit.refused("a code or refresh token that was used before", caller, {}, logging.WARNING)
        raise GrantRefusedError("invalid_grant", "The code or token was used before: log in again.")

    async def _tokens(self, grant: LoginGrant, scopes: tuple[str, ...], expires_at: float) -> dict[str, Any]:
        if not await self._grants.advance(grant, expires_at):
            await self._end_replayed(grant)
        config, person, now = self._config, grant.person, time()
        scopes = config.granted(scopes, person)
        claims = {
            "sub": person.subject,
            "aud": config.resource,
            "client_id": grant.client,
            "scope": " ".join(scopes),
            "iat": int(now),
            "jti": token_urlsafe(8),
            "grant": grant.id,
        }
        follow = {"grant": grant.id, "number": grant.number + 1}
        return {
            "access_token": self._signer.sign(ACCESS_KIND, claims, config.access_seconds),
            "token_type": "Bearer",
            "expires_in": int(config.access_seconds),
            "refresh_token": self._signer.sign(REFRESH_KIND, follow, expires_at - now),
            "scope": " ".join(scopes),
        }


def form_fields(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        GrantRefusedError: the body is not a form, or has a field twice (RFC 6749, section 3.2).
    """
    kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    try:
        pairs = parse_qsl(request.body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS)
    except ValueError:
        pairs = []
    if kind != "application/x-www-form-urlencoded" or not pairs or len(dict(pairs)) < len(pairs):
        raise GrantRefusedError("invalid_request", "Send each field once, as application/x-www-form-urlencoded.")
    return dict(pairs)


def _required(form: Mapping[str, str], name: str) -> str:
    if value := form.get(name):
        return value
    raise GrantRefusedError("invalid_request", f"Send the field {name}.")


def _answer(status: int, members: dict[str, Any]) -> Response:
    return Response(status, encode(members), headers=_NO_STORE)
