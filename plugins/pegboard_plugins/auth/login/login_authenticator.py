"""The authenticator of the MCP endpoint: callers with an access token that this host issued."""

from __future__ import annotations

import logging
from time import time
from types import MappingProxyType
from urllib.parse import urlsplit

from pegboard.plugin import Authenticator
from pegboard.types import Caller, Request, Response
from pegboard_plugins.auth.login.grant_store import GrantStore
from pegboard_plugins.auth.login.login_metadata import resource_metadata_url
from pegboard_plugins.auth.login.login_signing import ACCESS_KIND, LoginSigner, LoginStateError
from pegboard_plugins.auth.login.settings import LoginConfig
from pegboard_plugins.support.bearer import BearerScheme
from pegboard_plugins.support.latest_entries import LatestEntries

logger = logging.getLogger("pegboard.plugins.login")

MAX_KNOWN_CALLERS = 10_000
"""The limit of the tokens that are remembered."""
_UNAVAILABLE = Response(503, b"Logins cannot be checked at the moment.\n", "text/plain", {"Retry-After": "5"})


class LoginAuthenticator(Authenticator):
    """The authenticator.

    Args:
        config: the plugin's settings.
        signer: reads the tokens.
        grants: the logins of people.

    Attributes:
        public_hosts: the host of the resource.
    """

    policy = "mcp"

    def __init__(self, config: LoginConfig, signer: LoginSigner, grants: GrantStore) -> None:
        name = urlsplit(config.resource).hostname or ""
        self.public_hosts = (f"[{name}]" if ":" in name else name,)
        self._config = config
        self._signer = signer
        self._grants = grants
        # each with the time until which its token is not checked again, in seconds since 1970
        self._known: LatestEntries[bytes, tuple[Caller, float]] = LatestEntries(MAX_KNOWN_CALLERS)
        scope = {"scope": " ".join(config.challenge_scopes)} if config.challenge_scopes else {}
        self._scheme = BearerScheme({"resource_metadata": resource_metadata_url(config), **scope})

    def complete(self, response: Response) -> Response:
        """Add the location of the metadata to a refusal of the route."""
        return self._scheme.complete(response)

    async def authenticate(self, request: Request) -> Caller | Response:
        """Return the caller, or a refusal with the location of the metadata."""
        token = self._scheme.token(request)
        if isinstance(token, Response):
            return token
        digest = self._scheme.digest(token)
        known, until = self._known.get(digest, (None, 0.0))
        if known is not None and until > time():
            return known
        self._known.pop(digest, None)
        try:
            caller = await self._caller(token)
        except LoginStateError as error:
            return unavailable(error)
        if caller is None:
            return self._scheme.invalid("The token is invalid or has expired.")
        until = min(caller.expires_at or 0.0, time() + self._config.checked_seconds)
        self._known.keep(digest, (caller, until))
        return caller

    def known_caller(self, request: Request) -> Caller | None:
        """Return the caller of a token that was checked recently."""
        token = self._scheme.token(request)
        if isinstance(token, Response):
            return None
        known, until = self._known.get(self._scheme.digest(token), (None, 0.0))
        return known if until > time() else None

    async def admits(self, caller: Caller) -> bool:
        """Return False if the login of a caller has ended, or the settings no longer allow the person or the scopes."""
        config = self._config
        if caller.issuer != config.issuer:
            return True
        person = (caller.subject, caller.client_id)
        logins = await self._grants.find(lambda grant: (grant.person.subject, grant.client) == person)
        allowed = [config.granted(login.scopes, login.person) for login in logins if config.admits(login.person)]
        return any(caller.scopes.issubset(scopes) for scopes in allowed)

    async def _caller(self, token: str) -> Caller | None:
        """Return the caller of a valid token whose login has not ended, and whose person the settings still allow.

        The login names the person. The token only narrows its scopes.
        """
        claims = self._signer.read(ACCESS_KIND, token)
        if claims is None or claims["aud"] != self._config.resource:
            return None
        grant = await self._grants.load(claims["grant"])
        if grant is None or not self._config.admits(grant.person):
            return None
        person, scopes = grant.person, set(claims["scope"].split()) & set(grant.scopes)
        facts = {"email": person.email, "name": person.name}
        return Caller(
            person.subject,
            scopes=frozenset(self._config.granted(tuple(scopes), person)),
            client_id=grant.client,
            expires_at=float(claims["exp"]),
            resource=self._config.resource,
            extra=MappingProxyType({name: text for name, text in facts.items() if text}),
            issuer=self._config.issuer,
        )


def unavailable(error: LoginStateError) -> Response:
    """Return the response to a request that needs a file that cannot be used. Log the reason."""
    logger.error("login: %s", error)
    return _UNAVAILABLE
