"""An authorization server as a resource server sees it: metadata, keys, introspection; in order or not, on loopback.

It signs whatever a test wants signed; what a real one does is not shown by it.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from time import time
from typing import Any, Self

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

RESOURCE = "https://tools.example.com/mcp"

_ALGORITHMS = jwt.algorithms.get_default_algorithms()


def made_key(algorithm: str) -> Any:
    """A private key for an algorithm."""
    if algorithm.startswith("ES"):
        curves: dict[str, Any] = {"256": ec.SECP256R1, "384": ec.SECP384R1, "512": ec.SECP521R1}
        return ec.generate_private_key(curves[algorithm[2:]]())
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65537, 2048)


RSA_KEY = made_key("RS256")
OTHER_RSA_KEY = made_key("RS256")
"""Made once: it takes a while."""


def public(key: Any, kid: str, algorithm: str, **more: Any) -> dict[str, Any]:
    """The member of a key set for a private key."""
    told = json.loads(_ALGORITHMS[algorithm].to_jwk(key.public_key()))
    return {**told, "kid": kid, "alg": algorithm, "use": "sig", **more}


class Issuer:
    """The server; `async with Issuer() as issuer`.

    Attributes:
        url: its issuer.
        keys: the members of its key set.
        asked: how often each path was asked for.
        noticed: whether it was asked for anything.
        answer: what it answers in the place of its documents: a status, a body or a redirect; None for its documents.
        silent: it answers nothing.
        slow: its answers have no end, and come byte by byte.
        redirects: where it sends those who ask for a path, by path.
        known: what it says of tokens that it is asked about, by token; of others, that they are not active.
        questions: the form and the login of each question about a token.
        gate: what such questions wait for.
        prompt: the tokens about which it answers without waiting.
        moved: the path of such questions.
        most: how many of them it had at once.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.keys: list[dict[str, Any]] = [public(RSA_KEY, "one", "RS256")]
        self.asked: Counter[str] = Counter()
        self.noticed = asyncio.Event()
        self.answer: web.Response | None = None
        self.silent = False
        self.slow = False
        self.redirects: dict[str, str] = {}
        self.known: dict[str, dict[str, Any]] = {}
        self.questions: list[tuple[dict[str, str], str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.prompt: set[str] = set()
        self.most = 0
        self._asking = asyncio.Condition()
        self._open = 0
        self.moved = "/introspect"
        self.metadata: dict[str, Any] = {}
        self.where = "/.well-known/oauth-authorization-server" + path

    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.origin = f"http://127.0.0.1:{port}"
        self.url = self.origin + self.path
        self.metadata = {"issuer": self.url, "jwks_uri": f"{self.origin}/keys"}
        self.metadata["introspection_endpoint"] = f"{self.origin}/introspect"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        self.asked[request.path] += 1
        self.noticed.set()
        if self.silent:
            await asyncio.get_running_loop().create_future()
        if self.slow:
            await self._trickle(request)
        if request.path in self.redirects:
            return web.Response(status=302, headers={"Location": self.redirects[request.path]})
        if request.path == self.where:
            return _document(self.metadata)
        if (request.method, request.path) not in (("GET", "/keys"), ("POST", self.moved)):
            return web.Response(status=404)
        if self.answer is None:
            keys = request.path == "/keys"
            return _document({"keys": self.keys} if keys else await self._introspect(request))
        answer = self.answer
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    async def _trickle(self, request: web.Request) -> None:
        answer = web.StreamResponse()
        await answer.prepare(request)
        while True:
            await answer.write(b" ")
            await asyncio.sleep(0.01)

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
        """Wait for so many questions about tokens."""
        async with self._asking:
            await self._asking.wait_for(lambda: len(self.questions) >= times)

    def opaque(self, token: str, **changes: Any) -> str:
        """A token that is no JWT, of which it says what one would say."""
        self.known[token] = {"active": True, "token_type": "Bearer", **self.claims(**changes)}
        return token

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a token that is in order, but for changes; None leaves a claim out."""
        now = int(time())
        given = {
            "iss": self.url,
            "sub": "ann",
            "aud": RESOURCE,
            "iat": now,
            "exp": now + 600,
            "client_id": "desk",
            "scope": "work other",
        } | changes
        return {name: value for name, value in given.items() if value is not None}

    def token(self, *, key: Any = RSA_KEY, algorithm: str = "RS256", header: Any = None, **changes: Any) -> str:
        """A token with those claims; members of `header` that are None are left out."""
        fields = {"kid": "one", "typ": "at+jwt", **(header or {})}
        fields = {name: value for name, value in fields.items() if value is not None or name == "typ"}
        return jwt.encode(self.claims(**changes), key, algorithm=algorithm, headers=fields)


def _document(content: Any) -> web.Response:
    """JSON, compressed for those who take it so."""
    response = web.json_response(content)
    response.enable_compression()
    return response
