"""Ways of authentication: for each, the settings of the server and a valid token.

This process is the authorization server. It makes keys for the run, and serves the public keys on a loopback port.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from threading import Thread
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

OPEN: Final = "open"
_RESOURCE: Final = "https://tools.example.com/mcp"
_LASTS: Final = 24 * 3600
_GENEROUS: Final = {"PEGBOARD__PLUGINS__RATE_LIMIT__BURST": "1000000000"}
"""The rate limit counts callers with a token. This limit is higher than the number of calls in a run."""


@dataclass(frozen=True, slots=True)
class Authentication:
    """A way of authentication.

    Attributes:
        name: its name in results.
        variables: environment variables of the server.
        authorization: the header `Authorization` of callers; "" for none.
        is_worker: True for the worker protocol.
    """

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    authorization: str = ""
    is_worker: bool = False


@contextmanager
def authentications() -> Iterator[list[Authentication]]:
    """Yield all ways, each with a token for this run. In each protocol, `open` comes first."""
    written = token_hex(32)
    with _served_keys() as (issuer, keys):
        checked = [_resource_server(algorithm, issuer, key) for algorithm, key in keys.items()]
        static = Authentication(
            "auth_token", {**_GENEROUS, "PEGBOARD__PLUGINS__AUTH_TOKEN__TOKEN": written}, f"Bearer {written}"
        )
        yield [Authentication(OPEN), static, *checked, *_worker()]


def _worker() -> list[Authentication]:
    secret = token_hex(32)
    variables = {**_GENEROUS, "ARCADE_WORKER_SECRET": secret}
    token = jwt.encode({"aud": "worker", "ver": "1", **_times()}, secret, "HS256")
    return [
        Authentication(OPEN, {**variables, "ARCADE_AUTH_DISABLED": "true"}, f"Bearer {token}", is_worker=True),
        Authentication("worker", variables, f"Bearer {token}", is_worker=True),
    ]


def _resource_server(algorithm: str, issuer: str, key: Any) -> Authentication:
    server = {"issuer": issuer, "jwks_uri": f"{issuer}/jwks"}
    variables = {
        **_GENEROUS,
        "MCP_RESOURCE_SERVER_CANONICAL_URL": _RESOURCE,
        "MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS": json.dumps([server]),
    }
    claims = {"iss": issuer, "sub": "ada", "aud": _RESOURCE, "client_id": "benchmarks", "scope": "work", **_times()}
    token = jwt.encode(claims, key, algorithm, {"kid": algorithm, "typ": "at+jwt"})
    return Authentication(f"resource_server {algorithm}", variables, f"Bearer {token}")


def _times() -> dict[str, int]:
    now = int(time.time())
    return {"iat": now, "exp": now + _LASTS}


@contextmanager
def _served_keys() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the issuer, and its private keys by algorithm. Serve the public keys during the block."""
    rs256, es256 = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())
    public = [
        json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(rs256.public_key())) | {"kid": "RS256", "use": "sig"},
        json.loads(jwt.algorithms.ECAlgorithm.to_jwk(es256.public_key())) | {"kid": "ES256", "use": "sig"},
    ]
    body = json.dumps({"keys": public}).encode()

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Keys) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", {"RS256": rs256, "ES256": es256}
        finally:
            server.shutdown()
