"""The token source of exchanged tokens, which are kept in memory until they expire, and the requests for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from time import time
from typing import Any

from pegboard import Authorization, AuthorizationRequiredError
from pegboard.plugin import TokenSource
from pegboard.types import Call, TokenRequest, ToolAuthorization
from pegboard_client import (
    HttpExchange,
    JsonRequests,
    LoginFailedError,
    OAuthClient,
    ServerMetadata,
    at_server,
    credentials,
    find_server,
    is_access_token,
    names_this_machine,
    oauth_error,
    refusal,
    renewal_time,
)
from pegboard_plugins.auth.token_exchange.settings import ExchangeSettings
from pegboard_plugins.support.bearer import is_bearer_token

MAX_EXCHANGED_TOKENS = 10_000
"""The limit of kept tokens. The oldest are removed first."""
_Key = tuple[str, bytes, tuple[str, ...]]
"""The provider, the digest of the caller's token, and the scopes."""


class ExchangedTokens(TokenSource):
    """Supplies tokens for upstreams, each for the user of the call and only for calls with a token of the issuer.

    Args:
        providers: the upstreams, by provider.
    """

    def __init__(self, providers: Mapping[str, ExchangeSettings]) -> None:
        self._providers = providers
        self._grants: dict[str, TokenGrants] = {}
        self._kept: dict[_Key, tuple[Authorization, float]] = {}
        self._exchange: HttpExchange | None = None

    def secret(self, required: ToolAuthorization) -> str | None:
        return None if required.name in self._providers else ""

    async def token(self, request: TokenRequest) -> Authorization | None:
        """Return the token for a requirement, or None for other upstreams and for callers of other issuers.

        Raises:
            AuthorizationRequiredError: the exchange is refused or not possible.
        """
        name, scopes = request.required.name, tuple(request.required.scopes)
        settings = self._providers.get(name)
        if settings is None:
            return None
        caller_token = _token_of(request.call, settings.issuer)
        if caller_token is None:
            return None
        key = name, sha256(caller_token.encode()).digest(), scopes
        token, ends_at = self._kept.get(key, (None, 0.0))
        if token is None or ends_at <= time():
            try:
                token, ends_at = await self._granting(name, settings).token(caller_token, scopes)
            except LoginFailedError as error:
                raise AuthorizationRequiredError(
                    name, scopes=scopes, status="failed", developer_message=str(error)
                ) from None
            caller_ends_at = request.call.caller.expires_at
            self._keep(key, token, ends_at if caller_ends_at is None else min(ends_at, caller_ends_at))
        return token

    async def aclose(self) -> None:
        """Close the connections, and forget all tokens."""
        self._kept.clear()
        if self._exchange is not None:
            await self._exchange.close()

    def _keep(self, key: _Key, token: Authorization, ends_at: float) -> None:
        now = time()
        self._kept = {key: kept for key, kept in self._kept.items() if kept[1] > now}
        if ends_at > now:
            self._kept[key] = token, ends_at
        if len(self._kept) > MAX_EXCHANGED_TOKENS:
            del self._kept[next(iter(self._kept))]

    def _granting(self, name: str, settings: ExchangeSettings) -> TokenGrants:
        if name not in self._grants:
            from pegboard_client import AiohttpExchange  # a start of the host does not need it

            if self._exchange is None:
                self._exchange = AiohttpExchange()
            self._grants[name] = TokenGrants(settings, self._exchange)
        return self._grants[name]


def _token_of(call: Call, issuer: str) -> str | None:
    """Return the token by which an issuer's user is authenticated, or None.

    A token of another issuer must not be sent to this issuer. A program that names its user has no token of the user.
    """
    caller = call.caller
    names_user = call.supplied is not None and call.supplied.user_id is not None
    if caller.subject is None or caller.issuer != issuer or names_user or call.headers is None:
        return None
    scheme, _, token = (call.headers.get("Authorization") or "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and is_bearer_token(token) else None


# --- The requests: RFC 8693, and identity assertions of enterprise-managed authorization (ID-JAG).


EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ASSERTION_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ACCESS_KIND = "urn:ietf:params:oauth:token-type:access_token"
JWT = "urn:ietf:params:oauth:token-type:jwt"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


class TokenGrants:
    """The requests for the tokens of one upstream.

    Args:
        settings: the section of the upstream.
        exchange: sends HTTP requests.
    """

    def __init__(self, settings: ExchangeSettings, exchange: HttpExchange) -> None:
        self._settings = settings
        self._exchange = exchange
        self._servers: dict[str, ServerMetadata] = {}

    async def token(self, caller_token: str, scopes: Sequence[str]) -> tuple[Authorization, float]:
        """Return a token for the upstream, for the user of a caller's token, and the time from which it is not used.

        The time is in seconds since 1970. It is 0 if the lifetime of the token is unknown.

        Raises:
            LoginFailedError: an authorization server cannot be reached, refuses the exchange, or its response is
                invalid.
        """
        settings = self._settings
        wanted = tuple(dict.fromkeys([*settings.scopes, *scopes]))
        is_assertion = settings.authorization_server is not None
        fields = {
            "grant_type": EXCHANGE_GRANT,
            "subject_token": caller_token,
            "subject_token_type": ACCESS_KIND,
            "requested_token_type": ID_JAG if is_assertion else ACCESS_KIND,
            "audience": settings.authorization_server or settings.audience or "",
            "resource": settings.resource or "",
            "scope": " ".join(wanted),
        }
        server, requests = await self._server(settings.issuer, settings.token_endpoint)
        secret = settings.client_secret
        client = OAuthClient(settings.client_id, None if secret is None else secret.get_secret_value())
        document = await _request(requests, server, client, fields)
        if document["access_token"] == caller_token:
            raise LoginFailedError(
                f"{server.issuer} returned the token of the caller, which must reach no other server."
            )
        expected = (ID_JAG,) if is_assertion else (ACCESS_KIND, JWT)
        if document.get("issued_token_type") not in expected:
            raise LoginFailedError(f"{server.issuer} issued a token of another type than the requested one.")
        if is_assertion:
            server, document = await self._present(document["access_token"], wanted)
        return _exchanged(document, server.issuer, wanted)

    async def _present(self, assertion: str, scopes: Sequence[str]) -> tuple[ServerMetadata, Mapping[str, Any]]:
        """Present an identity assertion to the authorization server of the upstream. Return the server's response."""
        settings = self._settings
        server, requests = await self._server(settings.authorization_server or "", None)
        secret = settings.upstream_client_secret
        client = OAuthClient(settings.upstream_client_id or "", None if secret is None else secret.get_secret_value())
        fields = {"grant_type": ASSERTION_GRANT, "assertion": assertion, "scope": " ".join(scopes)}
        return server, await _request(requests, server, client, fields)

    async def _server(self, issuer: str, token_endpoint: str | None) -> tuple[ServerMetadata, JsonRequests]:
        """Return an authorization server, and the sender of its requests.

        Only the settings may name an http address of this machine. The metadata of servers elsewhere must not.
        """
        requests = JsonRequests(self._exchange, allows_loopback=names_this_machine(token_endpoint or issuer))
        if issuer not in self._servers:
            named = None if token_endpoint is None else ServerMetadata(issuer, token_endpoint)
            self._servers[issuer] = named or await find_server(requests, issuer)
        return self._servers[issuer], requests


async def _request(
    requests: JsonRequests, server: ServerMetadata, client: OAuthClient, fields: Mapping[str, str]
) -> Mapping[str, Any]:
    headers, own = credentials(at_server(client, server), server.issuer)
    sent = {name: value for name, value in {**fields, **own}.items() if value}
    status, document = await requests.post_form(server.token_endpoint, sent, headers)
    if status != 200 or document is None:
        code = {"error": oauth_error(document)}  # its description may contain the token
        raise LoginFailedError(refusal(f"{server.issuer} refuses the exchange of a token", status, code))
    if not is_access_token(document.get("access_token")):
        raise LoginFailedError(f"{server.issuer} sent no usable token.")
    return document


def _exchanged(document: Mapping[str, Any], issuer: str, wanted: tuple[str, ...]) -> tuple[Authorization, float]:
    scope = document.get("scope")
    if str(document.get("token_type", "")).lower() != "bearer":
        raise LoginFailedError(f"{issuer} sent a token that is not a bearer token.")
    granted = tuple(scope.split()) if isinstance(scope, str) else wanted
    if missing := [name for name in wanted if name not in granted]:
        raise LoginFailedError(f"{issuer} does not grant {', '.join(missing)}.")
    return Authorization(document["access_token"], scopes=granted), renewal_time(document.get("expires_in")) or 0.0
