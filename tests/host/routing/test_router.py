"""Which route answers a request, whom its policy admits, and what is kept of those whom it does not."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from itertools import permutations
from typing import Any, cast

import pytest

from pegboard.plugin import BearerScheme, ConfigError, ProtocolContext, RefusalLog, Route
from pegboard.plugin import fingerprint as digits
from pegboard.routing.router import check_reach, protect, respond
from pegboard.types import ANONYMOUS, LOCAL, Caller, Request, Response

Answer = Callable[[], Awaitable[Response]]
HOST = cast(ProtocolContext, None)


def asked(method: str = "GET", path: str = "/here", **headers: str) -> Request:
    given: Any = headers
    return Request(method, path, {}, given, caller=LOCAL, peer="10.0.0.1")


def route(answer: Answer, method: str = "GET", auth: str = "public") -> Route:
    async def handler(request: Request, host: ProtocolContext) -> Response:
        return await answer()

    return Route(method, "/here", handler, auth=auth)


async def fine() -> Response:
    return Response(200, b"fine")


async def served(route: Route, request: Request) -> Response:
    answer = await respond({"/here": {route.method: route}}, request, HOST)
    assert isinstance(answer, Response)
    return answer


async def test_an_exception_of_a_handler_is_only_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def crash() -> Response:
        raise KeyError("canary")

    answer = await served(route(crash), asked())
    (record,) = caplog.records
    assert (answer.status, answer.content_type) == (500, "text/plain")
    (error_id,) = answer.body.decode().removeprefix("Internal error ").split()
    assert len(error_id) == 8
    assert (record.name, record.getMessage()) == ("pegboard", f"error {error_id} in GET /here")
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], KeyError)


class Says:
    """An authenticator that says one thing to everybody."""

    def __init__(self, found: Caller | Response, only_local: str | None = None) -> None:
        self.policy = "vault"
        self._found = found
        self.only_local = only_local

    async def authenticate(self, request: Request) -> Caller | Response:
        return self._found


async def through(*doors: Says, headers: dict[str, str] | None = None) -> Response:
    behind = protect(route(fine, auth="vault"), doors)
    assert behind is not None
    return await served(behind, asked(**headers or {}))


async def test_the_gravest_refusal_goes_out_whoever_is_asked_first() -> None:
    by_weight = [403, 500, 400, 401]
    for weights in permutations(range(4), 2):
        statuses = [by_weight[weight] for weight in weights]
        answer = await through(*(Says(Response(status)) for status in statuses))
        assert answer.status == by_weight[min(weights)]


async def test_an_authenticator_for_the_operator_admits_no_other_caller() -> None:
    weak, strong = Says(Caller("ada"), "its word is known"), Says(Caller("ben"))
    stranger = asked()._replace(caller=ANONYMOUS)
    for doors, request, status in (([weak], stranger, 403), ([weak], asked(), 200), ([weak, strong], stranger, 200)):
        behind = protect(route(fine, auth="vault"), doors)
        assert behind is not None
        answer = await served(behind, request)
        assert answer.status == status
        assert status == 200 or answer.body.startswith(
            b"Only the operator may use this. To prove that you are the operator, connect to a Unix socket"
        )
        assert status == 200 or answer.content_type == "text/plain"


@pytest.mark.parametrize(
    ("policy", "doors", "is_open"),
    [
        ("public", [], True),
        ("public", [Says(LOCAL)], True),
        ("mcp", [], True),
        ("mcp", [Says(LOCAL)], True),
        ("vault", [], False),
        ("safe", [Says(LOCAL)], False),
    ],
)
def test_a_policy_that_nobody_knows_admits_nobody(policy: str, doors: list[Says], *, is_open: bool) -> None:
    one = route(fine, auth=policy)
    assert protect(one, doors) is (one if is_open else None)


async def test_an_authenticator_for_the_operator_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    doors = [Says(LOCAL, "its word is known"), Says(LOCAL)]
    check_reach("http://127.0.0.1:1", doors, {}, local=True)
    (told,) = caplog.messages
    assert told.startswith(
        "http://127.0.0.1:1 admits the operator alone: its word is known. To prove that you are the operator, connect"
    )
    with pytest.raises(ConfigError, match=r"other machines can reach http://0\.0\.0\.0:1, and its word is known"):
        check_reach("http://0.0.0.0:1", doors, {}, local=False)
    check_reach("http://0.0.0.0:1", doors[1:], {}, local=False)


TOKEN = "Bearer wrong-token"
KEPT: dict[str, tuple[Response, dict[str, str], str | None]] = {
    "a bad token": (BearerScheme().invalid("old"), {"Authorization": TOKEN}, "old"),
    "of other words": (BearerScheme().invalid("old"), {"Authorization": " bearer  wrong-token "}, "old"),
    "without a reason": (Response(401), {"Authorization": TOKEN}, None),
    "twice": (BearerScheme().refusal(400, "invalid_request", "two"), {"Authorization": TOKEN}, "two"),
}
NOT_KEPT: dict[str, tuple[Response, dict[str, str]]] = {
    "none": (BearerScheme().refusal(401), {}),
    "another scheme": (BearerScheme().refusal(401), {"Authorization": "Basic dTpw"}),
    "an empty one": (BearerScheme().refusal(401), {"Authorization": "Bearer "}),
    "that allows too little": (BearerScheme().insufficient(["a"], "more"), {"Authorization": TOKEN}),
    "that nobody can check": (Response(503), {"Authorization": TOKEN}),
}


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    monkeypatch.setattr("pegboard.routing.router._AUDIT", RefusalLog())  # no other test's lines count
    caplog.set_level(logging.INFO, "pegboard.audit")
    return caplog


@pytest.mark.parametrize(("refusal", "headers", "why"), KEPT.values(), ids=KEPT)
async def test_a_token_that_is_no_good_is_kept_on_record(
    told: pytest.LogCaptureFixture, refusal: Response, headers: dict[str, str], why: str | None
) -> None:
    assert await through(Says(refusal), headers=headers) == refusal
    (record,) = told.records
    facts = {"peer": "10.0.0.1", "path": "/here", "token": digits("wrong-token")}
    reason = {} if why is None else {"why": why}
    assert vars(record)["audit"] == {"refused": "a token", **reason, **facts}
    assert record.levelno == logging.INFO
    assert "wrong-token" not in record.getMessage()


@pytest.mark.parametrize(("refusal", "headers"), NOT_KEPT.values(), ids=NOT_KEPT)
async def test_a_request_without_an_invalid_token_is_not_logged(
    told: pytest.LogCaptureFixture, refusal: Response, headers: dict[str, str]
) -> None:
    assert await through(Says(refusal), headers=headers) == refusal
    assert told.records == []


async def test_a_token_in_the_wrong_place_is_not_told(told: pytest.LogCaptureFixture) -> None:
    await through(
        Says(BearerScheme().refusal(400, "invalid_request", "in the URL")), headers={"Authorization": "Basic x"}
    )
    facts = {"why": "in the URL", "peer": "10.0.0.1", "path": "/here"}
    assert [vars(record)["audit"] for record in told.records] == [{"refused": "a token", **facts}]
