"""The requests of an exchange: RFC 8693, and identity assertions of enterprise-managed authorization (ID-JAG)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard import Authorization
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
