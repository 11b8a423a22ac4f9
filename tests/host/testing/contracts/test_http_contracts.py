"""The contracts of authenticators and routes: built-in plugins keep them, and a faulty one breaks each rule."""

from __future__ import annotations

import asyncio
import itertools
import logging
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


class Public(Sound):
    policy = "public"


class OneHost(Sound):
    public_hosts = "tools.example"


class Trusting(Sound):
    async def authenticate(self, request: Request) -> Any:
        found = await super().authenticate(request)
        return Caller("ada", trusted=True) if isinstance(found, Caller) else found


class WithoutChallenge(Sound):
    async def authenticate(self, request: Request) -> Any:
        found = await super().authenticate(request)
        return Response(401) if isinstance(found, Response) else found


class Fragile(Sound):
    async def authenticate(self, request: Request) -> Any:
        (request.headers.get("Authorization") or "").encode()
        return await super().authenticate(request)


class Prefix(Sound):
    async def authenticate(self, request: Request) -> Any:
        found = await super().authenticate(request)
        known = (request.headers.get("Authorization") or "").startswith(f"Bearer {TOKEN}")
        return Caller("ada") if known else found


class Remembers(Sound):
    last: Any = None

    async def authenticate(self, request: Request) -> Any:
        self.last = await super().authenticate(request)
        await asyncio.sleep(0)
        return self.last


class Logs(Sound):
    async def authenticate(self, request: Request) -> Any:
        logging.getLogger("contract").debug("got %s", request.headers.get("Authorization"))
        return await super().authenticate(request)


class Replaces(Sound):
    def complete(self, response: Response) -> Response:
        return Response(401)


AUTHENTICATORS: list[tuple[type[Sound], str]] = [
    (Public, "test_it_names_its_policy"),
    (OneHost, "test_its_attributes_are_valid"),
    (Trusting, "test_valid_credentials_identify_the_caller"),
    (WithoutChallenge, "test_missing_credentials_are_challenged"),
    (Fragile, "test_invalid_credentials_are_rejected"),
    (Prefix, "test_altered_credentials_are_rejected"),
    (Remembers, "test_concurrent_requests_are_independent"),
    (Logs, "test_it_discloses_no_credentials"),
    (Replaces, "test_a_completed_response_keeps_its_status"),
]


def authenticator_contract(kind: type[Sound]) -> type[AuthenticatorContract]:
    class Checked(AuthenticatorContract):
        def make(self) -> Authenticator:
            return kind()

        def credentials(self) -> Sequence[Mapping[str, str]]:
            return [{"Authorization": f"Bearer {TOKEN}"}]

    return Checked


@pytest.mark.parametrize(("kind", "rule"), AUTHENTICATORS)
def test_a_faulty_authenticator_breaks_the_rule(kind: type[Sound], rule: str) -> None:
    assert rule in authenticator_contract(kind).broken()


def test_a_sound_authenticator_breaks_no_rule() -> None:
    assert authenticator_contract(Sound).broken() == {}
    assert {rule for _, rule in AUTHENTICATORS} == set(AuthenticatorContract.rules())


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


class TestHealth(OfPlugin):
    path = "/healthz"


class TestReady(OfPlugin):
    path = "/readyz"


class TestWorkerTools(OfPlugin):
    path = "/worker/tools"


class TestWorkerInvoke(OfPlugin):
    path = "/worker/tools/invoke"
    body = b'{"tool": {"name": "prices", "toolkit": "trips"}, "inputs": {"cities": ["Bern"]}}'


async def events() -> AsyncIterator[bytes]:
    yield b"event"


async def ok(request: Request, host: Any) -> Any:
    return Response(body=b"ok")


async def stream(request: Request, host: Any) -> Any:
    return EventStream(events())


async def not_found(request: Request, host: Any) -> Any:
    return Response(404)


async def fails_on_bodies(request: Request, host: Any) -> Any:
    return Response(500 if request.body else 200)


async def splits_headers(request: Request, host: Any) -> Any:
    return Response(headers={"X-Path": f"{request.path}\r\nX: y"})


async def endless(request: Request, host: Any) -> Any:
    class Messages:
        async def aclose(self) -> None:
            raise OSError("it cannot be closed")

    return EventStream(Messages())  # type: ignore[arg-type]


def alternating() -> Any:
    numbers = itertools.count()

    async def handle(request: Request, host: Any) -> Any:
        return Response(200 if next(numbers) < 5 else 201)

    return handle


ROUTES: list[tuple[Route, str]] = [
    (Route("get", "/x", ok), "test_its_method_and_path_are_valid"),
    (Route("GET", "/x?y", ok), "test_its_method_and_path_are_valid"),
    (Route("GET", "/x", ok, auth=""), "test_its_policy_is_named"),
    (Route("GET", "/x", not_found), "test_its_handler_responds"),
    (Route("GET", "/x", splits_headers), "test_its_handler_responds"),
    (Route("GET", "/x", fails_on_bodies), "test_unexpected_requests_are_client_errors"),
    (Route("GET", "/x", alternating()), "test_concurrent_requests_are_independent"),
    (Route("GET", "/x", endless), "test_an_event_stream_can_be_closed"),
]


def broken_by(route: Route, rule: str | None = None) -> dict[str, BaseException]:
    class Checked(RouteContract):
        def make(self) -> Route:
            return route

        def requests(self) -> Sequence[Request]:
            return [http_request("GET", "/x")]

        @classmethod
        def rules(cls) -> tuple[str, ...]:
            return super().rules() if rule is None else (rule,)

    return Checked.broken()


@pytest.mark.parametrize(("route", "rule"), ROUTES)
def test_a_faulty_route_breaks_the_rule(route: Route, rule: str) -> None:
    assert [*broken_by(route, rule)] == [rule]


def test_a_sound_route_breaks_no_rule() -> None:
    assert broken_by(Route("GET", "/x", ok)) == broken_by(Route("*", "/x", stream, auth="public")) == {}
    assert {rule for _, rule in ROUTES} == set(RouteContract.rules())
