"""Bearer tokens in HTTP requests, and the responses that request a token (RFC 6750)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from pegboard.types import Request, Response

_SCOPE = r"[\x21\x23-\x5b\x5d-\x7e]+"
_BEARER = r"[A-Za-z0-9\-._~+/]+=*"
_SAFE = frozenset(chr(code) for code in range(0x20, 0x7F)) - set('"\\')


class BearerScheme:
    """Helper of authenticators: reads the tokens of requests, and builds the responses that refuse requests.

    Args:
        parameters: further parameters of every challenge, such as "resource_metadata" (RFC 9728, section 5.1).
    """

    def __init__(self, parameters: Mapping[str, str] | None = None) -> None:
        self._parameters = dict(parameters or {})

    def token(self, request: Request) -> str | Response:
        """Return the token of a request, or the response that refuses the request.

        A request without a token is refused with 401 and no error code. A request with several tokens, or with a token
        in the query, is refused with 400. Logs and browser histories store queries.
        """
        if "access_token" in request.query:
            return self.refusal(400, "invalid_request", "A token belongs in the Authorization header, not in the URL.")
        values = request.headers.getall("Authorization", ())
        if len(values) > 1:
            return self.refusal(400, "invalid_request", "There is more than one Authorization header.")
        scheme, _, token = values[0].strip().partition(" ") if values else ("", "", "")
        token = token.strip()
        return token if scheme.lower() == "bearer" and token else self.refusal(401)

    @staticmethod
    def digest(token: str) -> bytes:
        """Return a digest of a token (SHA-256), to keep or compare in place of the token."""
        return sha256(token.encode("utf-8", "surrogateescape")).digest()

    def invalid(self, description: str) -> Response:
        """Return 401 for an invalid token, with a description for the client's developer."""
        return self.refusal(401, "invalid_token", description)

    def insufficient(self, scopes: Iterable[str], description: str) -> Response:
        """Return 403 for a token without the required scopes. `scopes` are all scopes that the request requires."""
        return self.refusal(403, "insufficient_scope", description, scopes)

    def refusal(
        self, status: int, error: str | None = None, description: str | None = None, scopes: Iterable[str] = ()
    ) -> Response:
        """Return a response that refuses a request.

        Args:
            status: 400, 401 or 403.
            error: the error code, or None for a request without a token (RFC 6750, section 3.1).
            description: the reason for the client's developer.
            scopes: the required scopes. They replace the scope parameter of the challenge.
        """
        parameters = {"error": error, "error_description": description, "scope": " ".join(scopes)}
        shown = {name: text for name, text in parameters.items() if text}
        body = f"{description or 'A bearer token is needed here.'}\n".encode()
        return Response(status, body, "text/plain", {"WWW-Authenticate": challenge({**self._parameters, **shown})})

    def complete(self, response: Response) -> Response:
        """Return a response with all parameters added to its Bearer challenge."""
        header = response.headers.get("WWW-Authenticate", "")
        more = {name: text for name, text in self._parameters.items() if f'{name}="' not in header}
        scheme, _, rest = header.partition(" ")
        if not more or scheme.lower() != "bearer":
            return response
        added = f"{header}, {challenge(more).removeprefix('Bearer ')}" if rest else challenge(more)
        return response._replace(headers={**response.headers, "WWW-Authenticate": added})


def is_scope(value: object) -> bool:
    """Return True if a string is the name of one scope (RFC 6749, section 3.3)."""
    return isinstance(value, str) and re.fullmatch(_SCOPE, value) is not None


def is_bearer_token(text: str) -> bool:
    """Return True if a header can carry a string as a token (RFC 6750, section 2.1)."""
    return re.fullmatch(_BEARER, text) is not None


def checked_scopes(scopes: tuple[str, ...]) -> tuple[str, ...]:
    """Validate the scopes of a setting and return them.

    Raises:
        ValueError: a scope is invalid.
    """
    for scope in scopes:
        if not is_scope(scope):
            raise ValueError(f"invalid scope {scope!r}: list scopes separately (RFC 6749)")
    return scopes


Scopes: TypeAlias = Annotated[tuple[str, ...], AfterValidator(checked_scopes)]
"""The scopes of a setting."""


def challenge(parameters: Mapping[str, str]) -> str:
    """Return the value of `WWW-Authenticate` without characters that it cannot contain (RFC 6750, section 3)."""
    first = ("error", "error_description")
    names = sorted(parameters, key=lambda name: first.index(name) if name in first else len(first))
    pairs = [f'{name}="{_quotable(parameters[name])}"' for name in names]
    return " ".join(("Bearer", ", ".join(pairs))) if pairs else "Bearer"


def _quotable(text: Iterable[str]) -> str:
    return "".join(character for character in text if character in _SAFE)
