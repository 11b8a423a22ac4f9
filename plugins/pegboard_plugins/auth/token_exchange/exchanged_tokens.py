"""The token source of exchanged tokens. Tokens are kept in memory until they expire."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING

from pegboard import Authorization, AuthorizationRequiredError
from pegboard.plugin import TokenSource
from pegboard.types import Call, TokenRequest
from pegboard_client import LoginFailedError
from pegboard_plugins.auth.token_exchange.settings import ExchangeSettings
from pegboard_plugins.support.bearer import is_bearer_token

if TYPE_CHECKING:
    from pegboard_client import AiohttpExchange
    from pegboard_plugins.auth.token_exchange.token_grants import TokenGrants

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
        self._exchange: AiohttpExchange | None = None

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

    async def close(self) -> None:
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
            from pegboard_plugins.auth.token_exchange.token_grants import TokenGrants

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
