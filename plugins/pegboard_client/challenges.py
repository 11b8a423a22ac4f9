"""The header `WWW-Authenticate` of a response (RFC 9110, section 11.6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pegboard_client.http_auth import LoginRequiredError, origin
from pegboard_client.oauth.refusals import excerpt

_NAME = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_PARAMETER_OR_SCHEME = re.compile(rf'({_NAME})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))|({_NAME})')

_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


def bearer_challenge(headers: Mapping[str, str]) -> dict[str, str] | None:
    """Return the parameters of the first Bearer challenge of a response, or None if it has none.

    Args:
        headers: the headers of the response. A name may be in upper or lower case, and may occur several times.
    """
    for field, text in headers.items():
        if field.lower() != "www-authenticate":
            continue
        challenge: dict[str, str] | None = None
        for name, quoted, plain, scheme in _PARAMETER_OR_SCHEME.findall(text):
            if scheme:
                if challenge is not None:
                    break
                challenge = {} if scheme.lower() == "bearer" else None
            elif challenge is not None:
                challenge.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or plain)
        if challenge is not None:
            return challenge
    return None


def demands_login(status: int, headers: Mapping[str, str]) -> bool:
    """Return True if a response demands a token: 401, or 403 for a token without a scope (RFC 6750, section 3.1)."""
    if status == 401:
        return True
    return status == 403 and (bearer_challenge(headers) or {}).get("error") == "insufficient_scope"


def valid_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes that have only permitted characters (RFC 6749, section 3.3)."""
    return tuple(scope for scope in scopes if _SCOPE.fullmatch(scope))


def required_scopes(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the scopes that a challenge requires."""
    return valid_scopes((bearer_challenge(headers) or {}).get("scope", "").split())


def login_required(url: str, headers: Mapping[str, str], *, sent: str = "") -> LoginRequiredError:
    """Return the error for a response that demands a login. It does not contain the token of the request.

    Args:
        url: the URL of the request.
        headers: the headers of the response.
        sent: the field `Authorization` of the request; "" without a token.
    """
    challenge = bearer_challenge(headers) or {}
    refusal, token = "", sent.strip().rpartition(" ")[2]
    if token and challenge.get("error") == "invalid_token":
        refusal = excerpt((challenge.get("error_description") or "invalid_token").replace(token, "..."))
    return LoginRequiredError(
        origin(url),
        scopes=required_scopes(headers),
        refusal=refusal,
        offers_login="resource_metadata" in challenge or ("scope" in challenge and "error" not in challenge),
    )
