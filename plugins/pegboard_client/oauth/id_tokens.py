"""ID tokens: their signature and their claims (OpenID Connect Core, section 3.1.3.7)."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from time import time
from typing import Any

from pegboard.wire.codec import decode
from pegboard_client.oauth.json_requests import JsonRequests, LoginFailedError, ServerUnavailableError
from pegboard_client.oauth.refusals import excerpt
from pegboard_client.oauth.server_metadata import ServerMetadata
from pegboard_client.oauth.signature_keys import SignatureKeys

MAX_CLOCK_DIFFERENCE_SECONDS = 60
"""The tolerated difference between the clocks of this machine and of the issuer."""


async def id_token_claims(
    requests: JsonRequests, server: ServerMetadata, client_id: str, nonce: str, token: object
) -> Mapping[str, Any]:
    """Return the claims of an ID token that the issuer has signed for this client and this login.

    The keys are fetched for each token, because logins are rare and keys change.

    Args:
        requests: sends the requests.
        server: the metadata of the issuer.
        client_id: the id of the client.
        nonce: the value of the authorization request.
        token: the member `id_token` of the token response.

    Raises:
        ServerUnavailableError: the keys cannot be fetched.
        LoginFailedError: the token is invalid. The message names the claim.
    """
    header, payload = _parts(token)
    keys = await _keys(requests, server)
    _check_signature(str(token), header, keys)
    _check_claims(payload, server.issuer, client_id, nonce)
    return payload


def _parts(token: object) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the header and the claims of a token, unverified."""
    try:
        read = [decode(urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in str(token).split(".")[:2]]
    except ValueError:
        read = []
    if len(read) != 2 or not all(isinstance(part, dict) for part in read):
        raise LoginFailedError("the provider sent no valid ID token.")
    return read[0], read[1]


async def _keys(requests: JsonRequests, server: ServerMetadata) -> SignatureKeys:
    if not server.jwks_uri:
        raise LoginFailedError(f"the metadata of {server.issuer} lacks jwks_uri, the address of its keys.")
    status, document = await requests.get_with_status(server.jwks_uri)
    members = (document or {}).get("keys")
    if status != 200 or not isinstance(members, list):
        raise ServerUnavailableError(f"{server.jwks_uri} returned no keys, with status {status}.")
    return SignatureKeys(members)


def _check_signature(token: str, header: Mapping[str, Any], keys: SignatureKeys) -> None:
    import jwt

    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in SignatureKeys.ALGORITHMS:
        raise LoginFailedError(
            f"the ID token is invalid: alg is '{excerpt(algorithm)}'. Let the provider sign with RS256 or ES256."
        )
    if "crit" not in header and "b64" not in header and isinstance(kid, str | None):
        for key in keys.find(kid, algorithm):
            try:
                jwt.PyJWS().decode(token, key, algorithms=[algorithm])
            except (jwt.PyJWTError, ValueError, TypeError):
                continue
            return
    raise LoginFailedError("the ID token is invalid: no key of the issuer has signed it.")


def _check_claims(claims: Mapping[str, Any], issuer: str, client_id: str, nonce: str) -> None:
    """Check the claims.

    Raises:
        LoginFailedError: a claim is missing or wrong.
    """
    _check_times(claims, time())
    audience = claims.get("aud")
    audiences: list[Any] = audience if isinstance(audience, list) else [audience]
    is_right = {
        "iss": claims.get("iss") == issuer,
        "sub": isinstance(claims.get("sub"), str) and claims["sub"] != "",
        "aud": client_id in audiences,
        "azp": claims.get("azp", None if audiences[1:] else client_id) == client_id,
    }
    for name, holds in is_right.items():
        if not holds:
            text = f"is '{excerpt(claims[name])}'" if name in claims else "is missing"
            raise LoginFailedError(f"the ID token is invalid: {name} {text}.")
    if claims.get("nonce") != nonce:
        raise LoginFailedError("the ID token is invalid: nonce belongs to another login.")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name)
        if value is None and name != "exp":
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise LoginFailedError(f"the ID token is invalid: {name} is not a time.")
        late = now - value if name == "exp" else value - now
        if late > MAX_CLOCK_DIFFERENCE_SECONDS:
            when = "in the past" if name == "exp" else "in the future"
            raise LoginFailedError(
                f"the ID token is invalid: {name} is {late:.0f} seconds {when}, by the clock of this machine. "
                "Check this clock, and that of the provider."
            )
