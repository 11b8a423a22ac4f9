"""The contracts of authenticators and routes: built-in plugins keep them, and a faulty one breaks each rule."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from time import time
from typing import Any, ClassVar

import jwt
import pytest

from pegboard.plugin import Authenticator, Route
from pegboard.testing import AuthenticatorContract, RouteContract, http_request
from pegboard.types import Caller, EventStream, Request, Response
from pegboard_plugins.auth_token import AuthTokenConfig, AuthTokenPlugin
from pegboard_plugins.http import HttpConfig, HttpPlugin
from pegboard_plugins.worker import WorkerConfig, WorkerPlugin
from tests.host.testing import kits
from tests.host.testing.contracts.faulty import broken, cases, debug, rules, then, variant

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


def mint(secret: str, seconds: int) -> str:
    claims = {"aud": "worker", "ver": "1", "exp": int(time()) + seconds}
    return jwt.encode(claims, secret, algorithm="HS256")


class TestWorkerTokens(AuthenticatorContract):
    def make(self) -> Authenticator:
        (made,) = worker().register_authenticators()
        return made

    def credentials(self) -> Sequence[Mapping[str, str]]:
        return [{"Authorization": f"Bearer {mint(SECRET, 60)}"}]

    def invalid_credentials(self) -> Sequence[Mapping[str, str]]:
        return [{"Authorization": f"Bearer {token}"} for token in (mint(SECRET, -3600), mint("other" * 9, 60))]


class Sound:
    """Admits ada by a token."""

    policy: Any = "mcp"
    public_hosts: Any = ("tools.example",)

    async def authenticate(self, request: Request) -> Any:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return Response(401, headers={"WWW-Authenticate": "Bearer"})
        return Caller("ada")

    def complete(self, response: Response) -> Response:
        return response._replace(headers={"WWW-Authenticate": "Bearer"})


def after(change: Any) -> Any:
    """Return an authenticator that changes its result."""
    return variant(
        Sound,
        authenticate=lambda self, request: then(Sound.authenticate(self, request), lambda one: change(request, one)),
    )


def sent(request: Request) -> str:
    return request.headers.get("Authorization") or ""


class Remembers(Sound):
    last: Any = None

    async def authenticate(self, request: Request) -> Any:
        self.last = await super().authenticate(request)
        await asyncio.sleep(0)
        return self.last


AUTHENTICATORS: list[tuple[Any, str]] = [
    (variant(Sound, policy="public"), "test_it_names_its_policy"),
    (variant(Sound, public_hosts="tools.example"), "test_its_attributes_are_valid"),
    (
        after(lambda request, one: Caller("ada", trusted=True) if isinstance(one, Caller) else one),
        "test_valid_credentials_identify_the_caller",
    ),
    (
        after(lambda request, one: Response(401) if isinstance(one, Response) else one),
        "test_missing_credentials_are_challenged",
    ),
    (after(lambda request, one: sent(request).encode() and one), "test_invalid_credentials_are_rejected"),
    (
        after(lambda request, one: Caller("ada") if sent(request).startswith(f"Bearer {TOKEN}") else one),
        "test_altered_credentials_are_rejected",
    ),
    (Remembers, "test_concurrent_requests_are_independent"),
    (
        after(lambda request, one: debug(sent(request)) or one),
        "test_it_discloses_no_credentials",
    ),
    (variant(Sound, complete=lambda self, response: Response(401)), "test_a_completed_response_keeps_its_status"),
]
CREDENTIALS = {"credentials": lambda self: [{"Authorization": f"Bearer {TOKEN}"}]}


@pytest.mark.parametrize(("kind", "rule"), cases(AUTHENTICATORS))
def test_a_faulty_authenticator_breaks_the_rule(kind: Any, rule: str) -> None:
    assert rule in broken(AuthenticatorContract, kind, **CREDENTIALS)


def test_a_sound_authenticator_breaks_no_rule() -> None:
    assert broken(AuthenticatorContract, Sound, **CREDENTIALS) == {}
    assert rules(AUTHENTICATORS) == set(AuthenticatorContract.rules())


# --- routes


class OfPlugin(RouteContract):
    kits = (kits.kit,)
    path: ClassVar[str]
    body: ClassVar[bytes] = b""

    def make(self) -> Route:
        routes = [*HttpPlugin(HttpConfig.model_validate({})).register_routes(), *worker().register_routes()]
        return next(route for route in routes if route.path == self.path and route.method != "*")

    def requests(self) -> Sequence[Request]:
        caller = Caller(client_id="worker", service=True)
        return [http_request(self.make().method, self.path, self.body, caller=caller)]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/healthz", b""),
        ("/readyz", b""),
        ("/worker/tools", b""),
        ("/worker/tools/invoke", b'{"tool": {"name": "prices", "toolkit": "trips"}, "inputs": {"cities": ["Bern"]}}'),
    ],
)
def test_built_in_routes_keep_the_contract(path: str, body: bytes) -> None:
    assert variant(OfPlugin, path=path, body=body).broken() == {}


async def events() -> AsyncIterator[bytes]:
    yield b"event"


async def stream(request: Request, host: Any) -> Any:
    return EventStream(events())


def responds(make: Any) -> Route:
    async def handle(request: Request, host: Any) -> Any:
        return make(request)

    return Route("GET", "/x", handle)


async def endless(request: Request, host: Any) -> Any:
    class Messages:
        async def aclose(self) -> None:
            raise OSError("it cannot be closed")

    return EventStream(Messages())  # type: ignore[arg-type]


OK = responds(lambda request: Response(body=b"ok"))
NUMBERS = itertools.count()
ROUTES: list[tuple[Route, str]] = [
    (OK._replace(method="get"), "test_its_method_and_path_are_valid"),
    (OK._replace(path="/x?y"), "test_its_method_and_path_are_valid"),
    (OK._replace(auth=""), "test_its_policy_is_named"),
    (responds(lambda request: Response(404)), "test_its_handler_responds"),
    (responds(lambda one: Response(headers={"X-Path": f"{one.path}\r\nX: y"})), "test_its_handler_responds"),
    (responds(lambda one: Response(500 if one.body else 200)), "test_unexpected_requests_are_client_errors"),
    (responds(lambda _: Response(200 + (next(NUMBERS) > 4))), "test_concurrent_requests_are_independent"),
    (OK._replace(handler=endless), "test_an_event_stream_can_be_closed"),
]


def broken_by(route: Route, rule: str | None = None) -> dict[str, BaseException]:
    only = {} if rule is None else {"rules": classmethod(lambda cls: (rule,))}
    return broken(RouteContract, lambda: route, requests=lambda self: [http_request("GET", "/x")], **only)


@pytest.mark.parametrize(("route", "rule"), cases(ROUTES))
def test_a_faulty_route_breaks_the_rule(route: Route, rule: str) -> None:
    assert [*broken_by(route, rule)] == [rule]


def test_a_sound_route_breaks_no_rule() -> None:
    assert broken_by(OK) == broken_by(Route("*", "/x", stream, auth="public")) == {}
    assert rules(ROUTES) == set(RouteContract.rules())
