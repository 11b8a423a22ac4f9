"""The contracts of authenticators and routes."""

from __future__ import annotations

import asyncio
import hmac
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from time import time
from typing import Any, ClassVar

import jwt
import pytest

from pegboard.plugin import Authenticator, Route
from pegboard.types import LOCAL, Call, Caller, EventStream, Failure, Request, Response
from pegboard_plugins.auth.auth_token import AuthTokenConfig, AuthTokenPlugin
from pegboard_plugins.protocols.worker import WorkerPlugin
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_plugins.transports.http import HttpPlugin
from pegboard_plugins.transports.http.settings import HttpConfig
from pegboard_testing import AuthenticatorContract, RouteContract, http_request
from tests.pegboard_testing import kits
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, debug, then, variant

TOKEN = "canary-0123456789abcdef-0123456789"
SECRET = "0123456789abcdef-a-secret-of-the-tests"


def worker() -> WorkerPlugin:
    return WorkerPlugin(WorkerConfig.model_validate({"secret": SECRET}))


class TestStaticTokens(AuthenticatorContract):
    def make(self) -> Authenticator:
        settings = {"token": TOKEN, "callers": {"eve": {"token": f"{TOKEN}-eve"}}}
        (made,) = AuthTokenPlugin(AuthTokenConfig.model_validate(settings)).register_authenticators()
        return made

    def credentials(self) -> Sequence[Mapping[str, str]]:
        return [{"Authorization": f"Bearer {TOKEN}"}, {"authorization": f"bearer {TOKEN}-eve"}]


def mint(secret: str, seconds: int) -> Mapping[str, str]:
    claims = {"aud": "worker", "ver": "1", "exp": int(time()) + seconds}
    return {"Authorization": f"Bearer {jwt.encode(claims, secret, algorithm='HS256')}"}


class TestWorkerTokens(AuthenticatorContract):
    def make(self) -> Authenticator:
        (made,) = worker().register_authenticators()
        return made

    def credentials(self) -> Sequence[Mapping[str, str]]:
        return [mint(SECRET, 60)]

    def invalid_credentials(self) -> Sequence[Mapping[str, str]]:
        return [mint(SECRET, -3600), mint("other" * 9, 60)]


class Sound(Authenticator):
    """Admits ada by a token."""

    policy: Any = "mcp"
    public_hosts: Any = ("tools.example",)
    last: Any = None

    async def authenticate(self, request: Request) -> Any:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return Response(401, headers={"WWW-Authenticate": "Bearer"})
        return Caller("ada")

    def complete(self, response: Response) -> Response:
        return response._replace(headers={"WWW-Authenticate": "Bearer"})


def after(change: Callable[[str, Any], Any]) -> Any:
    """Return an authenticator that changes its result, given the credentials."""

    def authenticate(self: Any, request: Request) -> Any:
        sent = request.headers.get("Authorization") or ""
        return then(Sound.authenticate(self, request), lambda caller: change(sent, caller))

    return variant(Sound, authenticate=authenticate)


async def remember(self: Any, request: Request) -> Any:
    self.last = await Sound.authenticate(self, request)
    await asyncio.sleep(0)
    return self.last


AUTHENTICATORS: Faults = [
    (variant(Sound, policy="public"), "test_it_names_its_policy"),
    (variant(Sound, public_hosts="tools.example"), "test_its_attributes_are_valid"),
    (
        after(lambda sent, caller: Caller("ada", trusted=True) if isinstance(caller, Caller) else caller),
        "test_valid_credentials_identify_the_caller",
    ),
    (variant(Sound, known_caller=lambda self, request: Caller("ada")), "test_known_callers_are_the_authenticated_ones"),
    (
        after(lambda sent, caller: Response(401) if isinstance(caller, Response) else caller),
        "test_missing_credentials_are_challenged",
    ),
    (after(lambda sent, caller: sent.encode() and caller), "test_invalid_credentials_are_rejected"),
    (
        after(lambda sent, caller: Caller("ada") if sent.startswith(f"Bearer {TOKEN}") else caller),
        "test_altered_credentials_are_rejected",
    ),
    (variant(Sound, authenticate=remember), "test_concurrent_requests_are_independent"),
    (after(lambda sent, caller: debug(sent) or caller), "test_it_discloses_no_credentials"),
    (variant(Sound, complete=lambda self, response: Response(401)), "test_a_completed_response_keeps_its_status"),
    (
        variant(Sound, complete=lambda self, response: response._replace(headers={"WWW-Authenticate": "Basic"})),
        "test_a_completed_challenge_has_its_scheme",
    ),
]


class Signed(Authenticator):
    """Admits users whose name is signed."""

    policy = "mcp"

    async def authenticate(self, request: Request) -> Any:
        user, signature = (request.headers.get(name) or "" for name in ("X-User", "X-Signature"))
        return Caller(user) if self.is_valid(user, signature) else Response(401, headers={"WWW-Authenticate": "HMAC"})

    def complete(self, response: Response) -> Response:
        return response._replace(headers={"WWW-Authenticate": "HMAC"})

    def is_valid(self, user: str, signature: str) -> bool:
        return hmac.compare_digest(signature.encode(), sign(user).encode())


def sign(user: str) -> str:
    return hmac.new(SECRET.encode(), user.encode(), "sha256").hexdigest()


def checks(is_valid: Callable[[str, str], bool]) -> Any:
    """Return an authenticator that checks signatures in another way."""
    return variant(Signed, is_valid=lambda self, user, signature: is_valid(user, signature))


ALTERED = "test_altered_credentials_are_rejected"
DISCLOSES = "test_it_discloses_no_credentials"
SIGNED: Faults = [
    (checks(lambda user, signature: user == "ada" and signature in ("", sign(user))), ALTERED),
    (checks(lambda user, signature: sign("ada") == signature), ALTERED),
    (checks(lambda user, signature: user == "ada" and sign(user).startswith(signature)), ALTERED),
    (checks(lambda user, signature: signature[:8] == sign(user)[:8]), ALTERED),
    (variant(Signed, is_valid=lambda self, *sent: debug(sent) or Signed.is_valid(self, *sent)), DISCLOSES),
]


class Vouched(Signed):
    """Admits each user whom a proxy names; a shared secret proves the proxy."""

    def is_valid(self, user: str, signature: str) -> bool:
        return bool(user) and signature == SECRET


VOUCHED: Faults = [
    (variant(Vouched, is_valid=lambda self, user, proof: bool(user) and proof in ("", SECRET)), ALTERED),
    (variant(Vouched, is_valid=lambda self, user, proof: bool(user)), ALTERED),
]


class Tokens(Sound):
    """Admits users by a JSON Web Token."""

    async def authenticate(self, request: Request) -> Any:
        sent = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        try:
            return Caller(self.decode(sent)["ver"])
        except (jwt.InvalidTokenError, UnicodeError):
            return Response(401, headers={"WWW-Authenticate": "Bearer"})

    def decode(self, token: str) -> Any:
        return jwt.decode(token, SECRET, ["HS256"], audience="worker")


def sent(*credentials: Mapping[str, str], **members: Any) -> dict[str, Any]:
    """Return the members of a contract that has these credentials."""
    return {"credentials": lambda self: credentials, **members}


def decode_or_trust(self: Any, token: str) -> Any:
    if jwt.get_unverified_header(token)["alg"] == "none":
        return jwt.decode(token, options={"verify_signature": False})
    return Tokens.decode(self, token)


SIGNATURE = {"X-User": "ada", "X-Signature": sign("ada")}
PROXY = {"X-User": "ada", "X-Signature": SECRET}


TOKENS: Faults = [
    (variant(Tokens, decode=lambda self, token: jwt.decode(token, options={"verify_signature": False})), ALTERED),
    (variant(Tokens, decode=decode_or_trust), ALTERED),
]


class OfPlugin(RouteContract):
    kits = (kits.kit,)
    path: ClassVar[str]
    body: ClassVar[bytes]

    def make(self) -> Route:
        routes = [*HttpPlugin(HttpConfig.model_validate({})).register_routes(), *worker().register_routes()]
        return next(route for route in routes if route.path == self.path and route.method != "*")

    def requests(self) -> Sequence[Request]:
        caller = Caller(client_id="worker", service=True)
        return [http_request(self.make().method, self.path, self.body, caller=caller)]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/readyz", b""),
        ("/worker/tools", b""),
        ("/worker/tools/invoke", b'{"tool": {"name": "prices", "toolkit": "trips"}, "inputs": {"cities": ["Bern"]}}'),
    ],
)
def test_built_in_routes_keep_the_contract(path: str, body: bytes) -> None:
    assert variant(OfPlugin, path=path, body=body).broken() == {}


class Messages:
    """Messages of a stream."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"event"

    async def aclose(self) -> None:
        raise OSError("it cannot be closed")


def route(make: Callable[[Request], Any] = lambda request: Response(body=b"ok"), **fields: Any) -> Callable[[], Route]:
    """Return a function that makes a route with this response."""

    async def handle(request: Request, host: Any) -> Any:
        return make(request)

    return lambda: Route("GET", "/x", handle)._replace(**fields)


def calls_as(caller: Callable[[Request], Caller]) -> Callable[[], Route]:
    """Return a function that makes a route whose handler calls a tool for this caller."""

    async def handle(request: Request, host: Any) -> Any:
        params = {"name": "trips_prices", "arguments": {"cities": ["Bern"]}}
        outcome = await host.dispatch(Call("tools/call", params, caller(request)))
        return Response(403 if isinstance(outcome, Failure) else 200)

    return lambda: Route("GET", "/x", handle)


RIGHTS = "test_a_call_has_the_rights_of_its_caller"
NUMBERS = itertools.count()
ROUTES: Faults = [
    (route(method="get"), "test_its_method_and_path_are_valid"),
    (route(auth=""), "test_its_policy_is_named"),
    (route(lambda request: Response(headers={"X-Path": f"{request.path}\r\nX: y"})), "test_its_handler_responds"),
    (route(lambda request: Response(500 if request.body else 200)), "test_unexpected_requests_are_client_errors"),
    (route(lambda _: Response(200 + (next(NUMBERS) > 4))), "test_concurrent_requests_are_independent"),
    (calls_as(lambda request: LOCAL), RIGHTS),
    (calls_as(lambda request: Caller("admin")), RIGHTS),
    (calls_as(lambda request: request.caller._replace(scopes=frozenset({"write"}))), RIGHTS),
    (route(lambda _: EventStream(Messages())), "test_an_event_stream_can_be_closed"),  # type: ignore[arg-type]
]
MUTANTS = [
    Mutants(AuthenticatorContract, Sound, AUTHENTICATORS, sent({"Authorization": f"Bearer {TOKEN}"})),
    Mutants(AuthenticatorContract, Signed, SIGNED, sent(SIGNATURE)),
    Mutants(AuthenticatorContract, Vouched, VOUCHED, sent(PROXY, {**PROXY, "X-User": "eve"}, ids=("x-user",))),
    Mutants(AuthenticatorContract, Tokens, TOKENS, sent(mint(SECRET, 86_400))),
    Mutants(
        RouteContract,
        calls_as(lambda request: request.caller),
        ROUTES,
        {"requests": lambda self: [http_request("GET", "/x")], "kits": (kits.kit,)},
    ),
]
