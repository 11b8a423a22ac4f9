"""The operator token: proof, over any channel, that a request comes from the operator of this host.

`pegboard serve` creates the token once in the state directory. The token is independent of route policies. A policy
with configured authenticators does not admit callers by the operator token: only its authenticators decide.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe

from pegboard.config.state import StateFiles, UnsafeStateError
from pegboard.errors import ConfigError
from pegboard.types.callers import LOCAL
from pegboard.types.http import Request

STATE_FILE = "operator-token"
_BEARER = r"[A-Za-z0-9\-._~+/]+=*"
"""A token that a header can carry (RFC 6750, section 2.1)."""


class OperatorToken:
    """Recognizes requests that carry the operator token.

    Args:
        token: the token.
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._longest = len(token) + 16  # with the scheme and optional spaces

    def recognize(self, request: Request) -> Request:
        """Return the request, with the operator as caller if the request has the operator token."""
        header = request.headers.get("Authorization")
        if header is None or len(header) > self._longest:
            return request  # the common case: no token, or a longer token
        scheme, _, token = header.partition(" ")
        if not compare_digest(token.strip().encode("utf-8", "surrogateescape"), self._token):
            return request
        if scheme.lower() != "bearer" or len(request.headers.getall("Authorization", ())) != 1:
            return request
        if request.notes is not None:
            request.notes["caller"] = LOCAL
        return request._replace(caller=LOCAL)


def operator_token(environ: Mapping[str, str]) -> str:
    """Return the operator token of the state directory. Create the token if it does not exist.

    Raises:
        OSError: the file cannot be read or created.
        ConfigError: the file does not contain a valid token, or other users can read it or write the directory.
    """
    try:
        content = StateFiles(environ).create(STATE_FILE, f"{token_urlsafe(SECRET_BYTES)}\n".encode())
        return _checked(content, environ)
    except UnsafeStateError as error:
        raise ConfigError([str(error)]) from None


def check_operator_token(environ: Mapping[str, str]) -> None:
    """Check that `operator_token` would return a token, without creating it.

    Raises:
        OSError: the file cannot be read, or it does not exist and cannot be created.
        ConfigError: the file does not contain a valid token, or other users can read it or write the directory.
    """
    try:
        stored = StateFiles(environ).read(STATE_FILE)
        if stored is None:
            StateFiles(environ).probe()
        else:
            _checked(stored, environ)
    except UnsafeStateError as error:
        raise ConfigError([str(error)]) from None


def _checked(content: bytes, environ: Mapping[str, str]) -> str:
    """Return the token in a file.

    Raises:
        ConfigError: it is not a valid token.
    """
    token = content.decode("ascii", "replace").strip()
    path = token_file(environ)
    if re.fullmatch(_BEARER, token) is None or is_weak_secret(token):
        raise ConfigError([f"{path} does not contain an operator token: remove the file, and start again"])
    return token


def token_file(environ: Mapping[str, str]) -> str:
    """Return the path of the operator token, for messages."""
    return os.path.join(StateFiles(environ).location or "", STATE_FILE)


# --- The strength of the operator token, and how a request proves that it comes from the operator.

SECRET_BYTES = 32
"""The minimum size in bytes of a secret that strangers may try to guess (RFC 7518, section 3.2, for HS256)."""
PROOF_WITHOUT_HEADER = (
    "connect to a Unix socket as the operator's user, or set `loopback_is_operator = true` for the HTTP server"
)
"""The proof that a request comes from the operator, for requests whose `Authorization` header has another token."""
PROOF = (
    "send the operator token as `Authorization: Bearer` (`pegboard operator-token` prints it), " + PROOF_WITHOUT_HEADER
)
"""A description for messages: how a request proves that it comes from the operator."""
_LEAST_VARIED = 8
"""The minimum number of different characters in a random secret."""


def is_weak_secret(secret: str) -> bool:
    """Return True if a token or key is too short or too uniform to resist guessing."""
    return len(secret.encode("utf-8", "surrogatepass")) < SECRET_BYTES or len(set(secret)) < _LEAST_VARIED
