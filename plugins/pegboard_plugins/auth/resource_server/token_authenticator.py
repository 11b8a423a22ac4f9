"""The authenticator of the MCP endpoint: callers with an access token of an authorization server (RFC 6750).

Each token is checked by its own server. Valid tokens are remembered for a while.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import time

from pegboard.plugin import Authenticator
from pegboard.types import Caller, Request, Response
from pegboard_plugins.auth.resource_server.claims import CheckUnavailableError, InvalidTokenError, VerifiedToken
from pegboard_plugins.auth.resource_server.conversions import host_of
from pegboard_plugins.auth.resource_server.introspection import IntrospectionQueue, Introspector, PresentedToken
from pegboard_plugins.auth.resource_server.jwt_verifier import JwtVerifier, unverified
from pegboard_plugins.auth.resource_server.settings import ResourceServerConfig
from pegboard_plugins.support.bearer import BearerScheme, is_bearer_token
from pegboard_plugins.support.latest_entries import LatestEntries
from pegboard_plugins.support.refusal_log import RefusalLog


class ResourceServerAuthenticator(Authenticator):
    """The authenticator.

    Args:
        config: the plugin's settings.
        policy: the policy of the routes.

    Attributes:
        public_hosts: the host of the resource.
    """

    def __init__(self, config: ResourceServerConfig, policy: str = "mcp") -> None:
        self.policy = policy
        self._config = config
        self.public_hosts = (host_of(config.resource),)
        self._verifiers: dict[str, JwtVerifier] = {}
        self._introspectors: dict[str, Introspector] = {}
        for server in config.authorization_servers:
            if server.introspection is None:
                self._verifiers[server.issuer] = JwtVerifier(server, config)
            else:
                self._introspectors[server.issuer] = Introspector(server, server.introspection, config)
        self._required = frozenset(config.required_scopes)
        presented = {"scope": " ".join(config.initial_scopes)} if config.initial_scopes else {}
        self._scheme = BearerScheme({"resource_metadata": config.metadata_url, **presented})
        self._audit = RefusalLog()
        self._verified: LatestEntries[bytes, VerifiedToken] = LatestEntries(config.max_verified)
        self._introspection = IntrospectionQueue(config.introspected_seconds)

    async def close(self) -> None:
        for server in self._verifiers.values():
            await server.close()
        await self._introspection.close()

    def complete(self, response: Response) -> Response:
        """Add the location of the metadata to a refusal of the route."""
        return self._scheme.complete(response)

    async def authenticate(self, request: Request) -> Caller | Response:
        """Return the caller, or a refusal: 503 if the token cannot be checked now, 403 if it lacks a required scope."""
        token = self._scheme.token(request)
        if isinstance(token, Response):
            return token
        try:
            caller = await self._find_caller(token, request.peer)
        except InvalidTokenError as error:
            return self._scheme.invalid(str(error))
        except CheckUnavailableError as error:
            return Response(
                status=503,
                body=b"Tokens cannot be checked at present.\n",
                content_type="text/plain",
                headers={"Retry-After": str(max(1, round(error.seconds)))},
            )
        if self._required <= caller.scopes:
            return caller
        facts = {"peer": request.peer, "needs": " ".join(self._config.required_scopes)}
        self._audit.refused("a token that allows too little", caller, facts, logging.INFO)
        return self._scheme.insufficient(self._config.required_scopes, "The token does not allow enough.")

    def known_caller(self, request: Request) -> Caller | None:
        """Return the caller of a token that was checked recently and has the required scopes."""
        token = self._scheme.token(request)
        verified = None if isinstance(token, Response) else self._verified.get(self._scheme.digest(token))
        if verified is None or not _is_valid(verified):
            return None
        return verified.caller if self._required <= verified.caller.scopes else None

    async def _find_caller(self, token: str, peer: str) -> Caller:
        digest = self._scheme.digest(token)
        entry = self._verified.get(digest)
        if entry is not None:
            if _is_valid(entry):
                return entry.caller
            self._verified.pop(digest, None)
        return (await self._verify(PresentedToken(token=token, digest=digest, peer=peer))).caller

    def _remember(self, digest: bytes, verified: VerifiedToken) -> None:
        if verified.until > time():
            self._verified.keep(digest, verified)

    async def _verify(self, presented: PresentedToken) -> VerifiedToken:
        """Verify a token with the server of its issuer, or with all introspecting servers if it names no issuer."""
        read = unverified(presented.token)
        issuer = None if read is None else read[1].get("iss")
        if isinstance(issuer, str) and read is not None:
            if (server := self._verifiers.get(issuer)) is not None:
                verified = await server.verify(presented.token, read[0])
                self._remember(presented.digest, verified)
                return verified
            if issuer not in self._introspectors:
                raise InvalidTokenError("The token is from another issuer.")
            return await self._introspect(presented, [self._introspectors[issuer]])
        if not self._introspectors:
            raise InvalidTokenError("The token is not a JWT." if read is None else "The token is from another issuer.")
        return await self._introspect(presented, list(self._introspectors.values()))

    async def _introspect(self, presented: PresentedToken, servers: Sequence[Introspector]) -> VerifiedToken:
        if not is_bearer_token(presented.token):
            raise InvalidTokenError("The token is malformed.")
        verified = await self._introspection.introspect(presented, servers)
        self._remember(presented.digest, verified)
        return verified


def _is_valid(verified: VerifiedToken) -> bool:
    return verified.holds() and verified.until > time()
