"""The route of a request, the callers that its policy admits, and the operator token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import permutations
from typing import Any, cast

import pytest
from multidict import CIMultiDict

from pegboard.errors import ConfigError
from pegboard.plugin import Authenticator, Plugin, ProtocolContext, Route
from pegboard.routing.router import check_reach, protect, respond
from pegboard.secrets.redaction import redacted
from pegboard.types import ANONYMOUS, LOCAL, Caller, EventStream, Request, Response
from tests.host.hosting import make_host, plugin_of

Answer = Callable[[], Awaitable[Response]]
HOST = cast(ProtocolContext, None)


def make_request(method: str = "GET", path: str = "/here", **headers: str) -> Request:
    fields: Any = headers
    return Request(method, path, {}, fields, caller=LOCAL, peer="10.0.0.1")


async def fine() -> Response:
    return Response(200, b"fine")


async def found(path: str) -> Response:
    return Response(200, path.encode())


def route(answer: Answer = fine, auth: str = "public") -> Route:
    async def handler(request: Request, host: ProtocolContext) -> Response:
        return await answer()

    return Route("GET", "/here", handler, auth=auth)


async def served(route: Route, request: Request) -> Response:
    answer = await respond({"/here": {route.method: route}}, request, HOST)
    assert isinstance(answer, Response)
    return answer


CHALLENGE = "WWW-Authenticate"
SAYS_BEARER = 'Basic realm="a, Bearer b", charset="UTF-8"'


class Says(Authenticator):
    """An authenticator with one answer for every request."""

    def __init__(self, answer: Caller | Response, only_local: str | None = None) -> None:
        self.policy = "vault"
        self._found = answer
        self.only_local = only_local

    async def authenticate(self, request: Request) -> Caller | Response:
        return self._found


async def through(*doors: Says, caller: Caller = LOCAL, **headers: str) -> Response:
    behind = protect(route(auth="vault"), doors)
    assert behind is not None
    return await served(behind, make_request(**headers)._replace(caller=caller))


async def test_the_gravest_refusal_goes_out_in_any_order_of_authenticators() -> None:
    by_weight = [403, 500, 499, 401]
    for weights in permutations(range(4), 2):
        answer = await through(*(Says(Response(by_weight[weight])) for weight in weights))
        assert answer.status == by_weight[min(weights)]


async def test_an_asterisk_is_any_last_segment_without_a_route() -> None:
    routes = {path: {"GET": route(partial(found, path))} for path in ("/a/b", "/a/*")}
    answers = [await respond(routes, make_request(path=path), HOST) for path in ("/a/b", "/a/c", "/a/", "/a", "/a/c/d")]
    assert [(answer.status, answer.body) for answer in answers if isinstance(answer, Response)] == [
        (200, b"/a/b"),
        (200, b"/a/*"),
        (200, b"/a/*"),
        (404, b"There is nothing here.\n"),
        (404, b"There is nothing here.\n"),
    ]


async def test_a_crashed_route_is_a_masked_error_with_an_id(caplog: pytest.LogCaptureFixture) -> None:
    async def crashes() -> Response:
        raise KeyError("canary-7f3a91")

    answer = await served(route(crashes), make_request())
    assert (answer.status, answer.content_type) == (500, "text/plain")
    error_id = answer.body.decode().removeprefix("Internal error ").strip()
    assert len(error_id) == 8
    assert f"error {error_id} in GET /here" in caplog.text


async def test_every_authenticator_completes_a_challenge_and_nothing_else() -> None:
    class Completes(Says):
        def complete(self, response: Response) -> Response:
            return response._replace(headers={"X-Completed": "yes"})

    for status, is_completed in ((401, True), (403, True), (400, False), (500, False)):
        answer = await through(Says(Response(status)), Completes(Response(status)))
        assert ("X-Completed" in answer.headers) is is_completed


async def test_a_refusal_has_one_challenge_of_each_scheme() -> None:
    class Replaces(Says):
        def complete(self, response: Response) -> Response:
            return response._replace(headers={CHALLENGE: "ApiKey"})

    doors = [Says(Response(401, headers={CHALLENGE: text})) for text in ("Bearer", 'bearer scope="a"', SAYS_BEARER)]
    key = Replaces(Response(401, headers={CHALLENGE: "ApiKey"}))
    for order in permutations(doors):
        assert (await through(*order)).headers[CHALLENGE] == f'{SAYS_BEARER}, bearer scope="a"'
        assert (await through(*order, key)).headers[CHALLENGE] == f'ApiKey, {SAYS_BEARER}, bearer scope="a"'


class Knows(Says):
    """An authenticator that knows callers without waiting."""

    def known_caller(self, request: Request) -> Caller | None:
        return self._found if isinstance(self._found, Caller) else None


async def test_a_route_of_a_known_caller_may_be_a_plain_function() -> None:
    def handler(request: Request, host: ProtocolContext) -> Response:
        return Response(200, f"{request.caller.subject}".encode())

    behind = protect(Route("GET", "/here", handler, auth="vault"), [Knows(Caller("ada")), Says(Caller("ben"))])
    assert behind is not None
    assert await served(behind, make_request()) == Response(200, b"ada")


async def test_only_the_first_authenticator_is_asked_for_known_callers() -> None:
    assert (await through(Says(Caller("ada")), Knows(Caller("ben")))).status == 200
    assert (await through(Knows(Response(401)), Says(Response(403)))).status == 403
    assert (await through(Knows(LOCAL, "a word"), caller=ANONYMOUS)).status == 403


async def test_an_authenticator_for_the_operator_admits_no_other_caller() -> None:
    weak, strong = Says(Caller("ada"), "its word is known"), Says(Caller("ben"))
    assert (await through(weak)).status == 200
    assert (await through(weak, strong, caller=ANONYMOUS)).status == 200
    refused = await through(weak, caller=ANONYMOUS)
    assert (refused.status, refused.content_type) == (403, "text/plain")
    assert refused.body.startswith(
        b"Only the operator may use this. To prove that you are the operator, connect to a Unix socket"
    )


def test_an_unknown_policy_admits_no_caller() -> None:
    for policy in ("public", "mcp"):
        open_route = route(auth=policy)
        assert protect(open_route, []) is open_route
        assert protect(open_route, [Says(LOCAL)]) is open_route
    assert protect(route(auth="vault"), []) is None
    assert protect(route(auth="safe"), [Says(LOCAL)]) is None


def test_an_authenticator_for_operators_is_logged_and_refuses_other_machines(caplog: pytest.LogCaptureFixture) -> None:
    doors = [Says(LOCAL, "its word is known"), Says(LOCAL)]
    check_reach("http://127.0.0.1:1", doors, {}, local=True)
    (logged,) = caplog.messages
    assert logged.startswith(
        "http://127.0.0.1:1 admits the operator alone: its word is known. To prove that you are the operator, connect"
    )
    with pytest.raises(ConfigError, match=r"other machines can reach http://0\.0\.0\.0:1, and its word is known"):
        check_reach("http://0.0.0.0:1", doors, {}, local=False)
    check_reach("http://0.0.0.0:1", doors[1:], {}, local=False)


def test_policies_without_an_authenticator_are_not_served_to_other_machines() -> None:
    def problems(*routes: Route, policy: str | None = None) -> list[str]:
        try:
            served = {f"/{number}": {"GET": item} for number, item in enumerate(routes)}
            check_reach("http://0.0.0.0:1", [Says(LOCAL)], served, local=False, policy=policy)
        except ConfigError as error:
            return [str(problem).partition("no authenticator is configured for ")[2] for problem in error.problems]
        return []

    assert problems(route(), route(auth="vault"), route(auth="safe")._replace(anonymous=True)) == []
    assert problems(policy="vault") == []
    turn_on = "turn on a plugin that authenticates the callers of"
    assert problems(route(auth="safe")) == [f"/here (policy 'safe'): {turn_on} 'safe'"]
    assert problems(route(auth="safe")._replace(advice="do it")) == ["/here (policy 'safe'): do it"]
    assert problems(policy="mcp") == [f"its message streams (policy 'mcp'): {turn_on} 'mcp'"]
    assert len(problems(route(auth="mcp"), policy="mcp")) == 1


TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz-token"


class Door(Authenticator):
    """Admits only Ada."""

    def __init__(self, policy: str) -> None:
        self.policy = policy

    async def authenticate(self, request: Request) -> Caller | Response:
        return Caller("ada") if request.headers.get("X-Ada") else Response(401)


def plugin(guarded: str) -> type[Plugin]:
    """Return a plugin with a route for each of three policies, and authenticators for some."""

    async def answer(request: Request, host: ProtocolContext) -> Response | EventStream:
        return Response(200, repr(request.caller).encode())

    routes = [Route("GET", f"/{policy}", answer, policy) for policy in ("mcp", "vault", "public")]
    return plugin_of(register_authenticators=[*map(Door, guarded.split())], register_routes=routes)


OPERATOR = {"Authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("guarded", "policy", "field", "route", "stream"),
    [
        ("", "mcp", OPERATOR, LOCAL, LOCAL),
        ("", "mcp", {"Authorization": "Bearer other"}, ANONYMOUS, ANONYMOUS),
        ("", "mcp", {}, ANONYMOUS, ANONYMOUS),
        ("", "vault", OPERATOR, 404, 403),
        ("", "public", OPERATOR, LOCAL, LOCAL),
        ("mcp vault", "mcp", OPERATOR, 401, 401),
        ("mcp vault", "vault", OPERATOR, 401, 401),
        ("mcp", "mcp", {**OPERATOR, "X-Ada": "1"}, Caller("ada"), Caller("ada")),
    ],
)
async def test_the_operator_token_opens_policies_without_authenticators(
    guarded: str, policy: str, field: dict[str, str], route: Caller | int, stream: Caller | int
) -> None:
    async with make_host(plugins={"p": plugin(guarded)}) as host:
        host.admit_operator(TOKEN)
        request = Request("GET", f"/{policy}", {}, CIMultiDict(field))
        answer, caller = await host.respond(request), await host.for_protocols.authenticate(request, policy)
        assert isinstance(answer, Response)
        assert (answer.body.decode() if answer.status == 200 else answer.status) in (route, repr(route))
        assert (caller.status if isinstance(caller, Response) else caller) == stream
        assert TOKEN not in redacted(f"the token {TOKEN}")
