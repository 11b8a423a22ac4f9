"""An authorization server on loopback, valid or faulty: metadata, keys, introspection.

It signs any token that a test requests. It does not show how a real server behaves.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from time import time
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests.support.loopback_server import LoopbackServer

RESOURCE = "https://tools.example.com/mcp"

_ALGORITHMS = jwt.algorithms.get_default_algorithms()


def made_key(algorithm: str) -> Any:
    """Return a new private key for an algorithm."""
    if algorithm.startswith("ES"):
        curves: dict[str, Any] = {"256": ec.SECP256R1, "384": ec.SECP384R1, "512": ec.SECP521R1}
        return ec.generate_private_key(curves[algorithm[2:]]())
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65537, 2048)


RSA_KEY = made_key("RS256")
OTHER_RSA_KEY = made_key("RS256")
"""Made once, as it takes a while."""


def public(key: Any, kid: str, algorithm: str, **more: Any) -> dict[str, Any]:
    """Return the member of a key set for a private key."""
    jwk = json.loads(_ALGORITHMS[algorithm].to_jwk(key.public_key()))
    return {**jwk, "kid": kid, "alg": algorithm, "use": "sig", **more}


class Issuer(LoopbackServer):
    """The server; `async with Issuer() as issuer`.

    Attributes:
        asked: the number of requests for each path.
        noticed: set after the first request.
        answer: the response instead of its documents; None for its documents.
        redirects: the targets of redirects, by path.
        known: the introspection responses, by token; other tokens are not active.
        questions: the form and the login of each introspection request.
        gate: introspection waits for it, except for tokens in `prompt`.
        most: the highest number of concurrent introspection requests.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.keys: list[dict[str, Any]] = [public(RSA_KEY, "one", "RS256")]
        self.asked: Counter[str] = Counter()
        self.noticed = asyncio.Event()
        self.answer: web.Response | None = None
        self.silent = False
        self.redirects: dict[str, str] = {}
        self.known: dict[str, dict[str, Any]] = {}
        self.questions: list[tuple[dict[str, str], str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.prompt: set[str] = set()
        self.most = 0
        self._asking = asyncio.Condition()
        self._open = 0
        self.metadata: dict[str, Any] = {}
        self.where = "/.well-known/oauth-authorization-server" + path

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        return application

    def started(self) -> None:
        self.url = self.origin + self.path
        self.metadata = {"issuer": self.url, "jwks_uri": f"{self.origin}/keys"}
        self.metadata["introspection_endpoint"] = f"{self.origin}/introspect"

    async def _handle(self, request: web.Request) -> web.Response:
        self.asked[request.path] += 1
        self.noticed.set()
        if self.silent:
            await asyncio.get_running_loop().create_future()
        if request.path in self.redirects:
            return web.Response(status=302, headers={"Location": self.redirects[request.path]})
        if request.path == self.where:
            return _document(self.metadata)
        if (request.method, request.path) not in (("GET", "/keys"), ("POST", "/introspect")):
            return web.Response(status=404)
        if self.answer is None:
            keys = request.path == "/keys"
            return _document({"keys": self.keys} if keys else await self._introspect(request))
        answer = self.answer
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    async def _introspect(self, request: web.Request) -> dict[str, Any]:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self._open += 1
        self.most = max(self.most, self._open)
        async with self._asking:
            self.questions.append((form, request.headers.get("Authorization", "")))
            self._asking.notify_all()
        if form["token"] not in self.prompt:
            await self.gate.wait()
        self._open -= 1
        return self.known.get(form["token"], {"active": False})

    async def until_asked(self, times: int) -> None:
        async with self._asking:
            await self._asking.wait_for(lambda: len(self.questions) >= times)

    def opaque(self, token: str, **changes: Any) -> str:
        """Return a token that is not a JWT; introspection returns its claims."""
        self.known[token] = {"active": True, "token_type": "Bearer", **self.claims(**changes)}
        return token

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return the claims of a valid token with changes; None removes a claim."""
        now = int(time())
        members = {
            "iss": self.url,
            "sub": "ann",
            "aud": RESOURCE,
            "iat": now,
            "exp": now + 600,
            "client_id": "desk",
            "scope": "work other",
        } | changes
        return {name: value for name, value in members.items() if value is not None}

    def token(self, *, key: Any = RSA_KEY, algorithm: str = "RS256", header: Any = None, **changes: Any) -> str:
        """Return a token with these claims. Members of `header` that are None are removed."""
        fields = {"kid": "one", "typ": "at+jwt", **(header or {})}
        fields = {name: value for name, value in fields.items() if value is not None or name == "typ"}
        return jwt.encode(self.claims(**changes), key, algorithm=algorithm, headers=fields)


def _document(content: Any) -> web.Response:
    """Return a JSON response, compressed if the client accepts that."""
    response = web.json_response(content)
    response.enable_compression()
    return response
