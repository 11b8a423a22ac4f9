"""Who may use the MCP endpoint: callers with a JWT access token of an authorization server (RFC 9068, RFC 6750)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from time import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard import BearerScheme, Caller, Request, Response
from pegboard_plugins.resource_server.fetching import fetch_keys
from pegboard_plugins.resource_server.keys import KeySet, KeysUnavailable
from pegboard_plugins.resource_server.settings import canonical, with_implied

if TYPE_CHECKING:
    from pegboard_plugins.resource_server import AuthorizationServer, ResourceServerConfig

_TOLD = frozenset(("iss", "sub", "aud", "exp", "nbf", "iat", "jti", "scope", "scp", "client_id"))
"""Claims that a caller has fields for, and those that say nothing of them."""


_LAST = 1e12
"""The last time that a token may name, in seconds since 1970."""


class _BadToken(Exception):
    """A token is no good; the message is for the client's developer and repeats nothing of it."""


class _Verified(NamedTuple):
    caller: Caller
    keys: KeySet
    generation: int
    until: float


class _Server(NamedTuple):
    config: AuthorizationServer
    keys: KeySet
    audiences: frozenset[str]
    leeway: float


class JwtBearer:
    """The authenticator.

    Args:
        config: whose tokens are good, and for what.
    """

    policy = "mcp"

    def __init__(self, config: ResourceServerConfig) -> None:
        self._config = config
        self._servers = {server.issuer: _server(server, config) for server in config.authorization_servers}
        self._types = frozenset(name.lower() for name in config.token_types)
        self._required = frozenset(config.required_scopes)
        asked = {"scope": " ".join(config.challenge_scopes)} if config.challenge_scopes else {}
        self._scheme = BearerScheme({"resource_metadata": config.metadata_url, **asked})
        self._verified: dict[bytes, _Verified] = {}

    async def close(self) -> None:
        """End what is being fetched."""
        for server in self._servers.values():
            await server.keys.close()

    def complete(self, response: Response) -> Response:
        """A refusal of the route's own, with where clients find what to ask for."""
        return self._scheme.complete(response)

    async def authenticate(self, request: Request) -> Caller | Response:
        """Who it is; 503 where that cannot be said at present, and 403 where their token does not allow enough."""
        token = self._scheme.token(request)
        if isinstance(token, Response):
            return token
        try:
            caller = await self._caller(token)
        except _BadToken as error:
            return self._scheme.invalid(str(error))
        except KeysUnavailable:
            wait = {"Retry-After": str(max(1, round(self._config.refresh_interval_seconds)))}
            return Response(503, b"Tokens cannot be checked at present.\n", "text/plain", wait)
        if self._required <= caller.scopes:
            return caller
        return self._scheme.insufficient(self._config.required_scopes, "The token does not allow enough.")

    async def _caller(self, token: str) -> Caller:
        digest = sha256(token.encode("utf-8", "surrogateescape")).digest()
        known = self._verified.get(digest)
        if known is not None:
            fresh = known.keys.usable() and known.generation == known.keys.generation
            if fresh and known.until > time():
                return known.caller
            self._verified.pop(digest, None)
        verified = await self._verify(token)
        if self._config.max_verified and verified.until > time():
            while len(self._verified) >= self._config.max_verified:
                del self._verified[next(iter(self._verified))]
            self._verified[digest] = verified
        return verified.caller

    async def _verify(self, token: str) -> _Verified:
        import jwt

        try:
            unchecked = jwt.decode_complete(token, options={"verify_signature": False})
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            raise _BadToken("The token is no JWT.") from None
        header, issuer = unchecked["header"], unchecked["payload"].get("iss")
        server = self._servers.get(issuer) if isinstance(issuer, str) else None
        if server is None:
            raise _BadToken("The token is of another issuer.")
        self._check_header(header, server)
        key = await server.keys.find(header.get("kid"), header["alg"])
        if key is None:
            raise _BadToken("The token is signed with a key that its issuer does not have.")
        claims = _checked(token, key, server)
        until = min(float(claims["exp"]) + server.leeway, time() + self._config.verified_seconds)
        return _Verified(_caller_of(claims, self._config), server.keys, server.keys.generation, until)

    def _check_header(self, header: Mapping[str, Any], server: _Server) -> None:
        if header.get("alg") not in server.config.algorithms:
            raise _BadToken("The token is signed with an algorithm that is not allowed.")
        kind = header.get("typ", "")
        if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in self._types:
            raise _BadToken("The token is of another type.")
        if "crit" in header or "b64" in header:
            raise _BadToken("The token asks for what is not understood here (crit).")


def _server(server: AuthorizationServer, config: ResourceServerConfig) -> _Server:
    keys = KeySet(server.issuer, partial(fetch_keys, server, config.fetch_seconds), config)
    audiences = frozenset(canonical(name) for name in server.audiences or (config.resource,))
    leeway = config.leeway_seconds if server.leeway_seconds is None else server.leeway_seconds
    return _Server(server, keys, audiences, leeway)


def _checked(token: str, key: Any, server: _Server) -> Mapping[str, Any]:
    """The claims of a token whose signature, issuer, audience and times are in order."""
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=list(server.config.algorithms),
            issuer=server.config.issuer,
            leeway=server.leeway,
            options={"require": ["iss", "sub", "aud", "exp"], "verify_aud": False},
        )
    except jwt.ExpiredSignatureError:
        raise _BadToken("The token has expired.") from None
    except jwt.ImmatureSignatureError:
        raise _BadToken("The token is not valid yet.") from None
    except jwt.MissingRequiredClaimError as error:
        raise _BadToken(f"The token lacks {error.claim}.") from None
    except jwt.InvalidSignatureError:
        raise _BadToken("The signature of the token is wrong.") from None
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
        raise _BadToken("The token is not in order.") from None
    if not server.audiences & _audiences(claims["aud"]):
        raise _BadToken("The token is for another audience.")
    if not claims["sub"]:
        raise _BadToken("The token lacks sub.")
    if type(claims["exp"]) not in (int, float) or claims["exp"] > _LAST:
        raise _BadToken("The token is not in order.")
    return claims


def _audiences(given: Any) -> frozenset[str]:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise _BadToken("The token is for another audience.")
    return frozenset(map(canonical, listed))


def _caller_of(claims: Mapping[str, Any], config: ResourceServerConfig) -> Caller:
    given = claims.get("scope", claims.get("scp"))
    scopes = given.split() if isinstance(given, str) else given if isinstance(given, list) else ()
    client = claims.get("client_id", claims.get("azp"))
    return Caller(
        claims["sub"],
        scopes=with_implied((one for one in scopes if isinstance(one, str)), config.implied_scopes),
        client_id=client if isinstance(client, str) else None,
        expires_at=float(claims["exp"]),
        resource=config.resource,
        extra=MappingProxyType({name: value for name, value in claims.items() if name not in _TOLD}),
        issuer=claims["iss"],
    )
