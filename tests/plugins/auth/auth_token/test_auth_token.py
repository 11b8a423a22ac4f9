"""Static bearer tokens of the MCP endpoint, over sockets."""

from __future__ import annotations

from hmac import compare_digest
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.types import LOCAL, Caller, Request, Response, header_fields
from pegboard_plugins.auth.auth_token import AuthTokenConfig, StaticBearer
from tests.plugins.auth.auth_token.conftest import ADA, ADA_HOME, BEN, serve
from tests.support.http import Served
from tests.support.http_mcp import ask, call, message

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN = ("Authorization", f"Bearer {ADA}")
GUARDED = ["door_guarded", "door_secretive"]


def field(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


@pytest.mark.requirement("LIST-10")
async def test_a_token_has_a_subject_and_scopes(served: Served) -> None:
    for scheme, token, who in (
        ("Bearer", ADA, "ada ['work']"),
        ("bearer ", ADA_HOME, "ada []"),
        ("BEARER", BEN, "ben []"),
    ):
        done = await ask(served, call("door_who"), Authorization=f"{scheme} {token}")
        assert done.result["content"][0]["text"] == who
    for token, allowed, status in ((ADA, GUARDED, 200), (BEN, ["door_secretive"], 403)):
        tools = (await ask(served, message("tools/list"), Authorization=f"Bearer {token}")).result["tools"]
        assert [tool["name"] for tool in tools if tool["name"] in GUARDED] == allowed
        assert (await ask(served, call("door_secretive"), Authorization=f"Bearer {token}")).status == 200
        assert (await ask(served, call("door_guarded"), Authorization=f"Bearer {token}")).status == status


NONE = [None, "", "Basic dTpw", "Bearer", "Bearer ", f"Bearer\t{ADA}", ADA, f"Token {ADA}"]
WRONG = ["x", ADA[:-1], ADA + "x", ADA.upper(), BEN.rstrip("="), f"{ADA} {ADA}", f"{ADA}, {BEN}", "é", "\x80"]
UNKNOWN = 'Bearer error="invalid_token", error_description="The token is not known here."'


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_other_tokens_are_refused(served: Served, method: str) -> None:
    for credentials in NONE:
        answer = await served.request(method, "/mcp", [] if credentials is None else [("Authorization", credentials)])
        assert (answer.status, answer.get("WWW-Authenticate")) == (401, "Bearer")
        assert answer.text == "A bearer token is needed here.\n"
    for credentials in WRONG:
        answer = await served.request(method, "/mcp", [field(credentials)])
        assert (answer.status, answer.get("WWW-Authenticate")) == (401, UNKNOWN)
        assert answer.text == "The token is not known here.\n"
    path = f"/mcp?access_token={ADA}"
    for where, fields in ((path, []), (path, [OWN]), ("/mcp?access_token=", []), ("/mcp", [OWN, OWN])):
        answer = await served.request(method, where, fields)
        assert answer.status == 400
        assert (answer.get("WWW-Authenticate") or "").startswith('Bearer error="invalid_request", ')
    assert ADA not in served.stderr


async def test_every_token_is_compared_as_a_digest_in_steady_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bytes, bytes]] = []

    def compare(left: bytes, right: bytes) -> bool:
        seen.append((left, right))
        return compare_digest(left, right)

    monkeypatch.setattr("hmac.compare_digest", compare)
    config = AuthTokenConfig.model_validate({"callers": {"ada": {"token": ADA}, "ben": {"token": BEN}}})
    door = StaticBearer(config)
    for token, subject in ((ADA, "ada"), (BEN, "ben"), ("x", None)):
        seen.clear()
        caller = await door.authenticate(Request("GET", "/mcp", {}, header_fields([field(token)])))
        assert isinstance(caller, Response) if subject is None else caller == Caller(subject)
        assert len(seen) == 2
        assert {len(part) for pair in seen for part in pair} == {32}


@pytest.mark.parametrize(
    ("caller", "admitted"),
    [
        (Caller("ben", scopes=frozenset({"work"})), True),
        (Caller("ben", scopes=frozenset({"other"})), False),
        (Caller("ada"), False),
        (Caller("ada", issuer="https://issuer.example"), True),
        (LOCAL, True),
    ],
)
async def test_a_caller_without_a_token_any_more_is_not_admitted(caller: Caller, admitted: bool) -> None:
    config = AuthTokenConfig.model_validate({"callers": {"ben": {"token": BEN, "scopes": ["work"]}}})
    assert await StaticBearer(config).admits(caller) is admitted


@pytest.mark.parametrize(
    ("settings", "weak"),
    [
        ({"token": "0123456789abcdef0123456789abcde"}, "token"),
        ({"token": "a" * 40}, "token"),
        ({"token": ADA, "callers": {"ben": {"token": "short"}}}, "callers.ben.token"),
        ({"token": ADA, "callers": {"ben": {"token": BEN}}}, None),
    ],
)
async def test_a_weak_token_is_for_the_operator(settings: dict[str, Any], weak: str | None) -> None:
    reason = StaticBearer(AuthTokenConfig.model_validate(settings)).only_local
    assert (reason or "").partition(";")[0] == (f"tokens of [plugins.auth_token] are weak: {weak}" if weak else "")


async def test_a_weak_token_admits_the_operator_only(site: Path) -> None:
    settings = '[plugins.auth_token]\ntoken = { env = "ONE_TOKEN" }\nscopes = ["work"]\n'
    env = {"ONE_TOKEN": "short"}
    async with serve(site, settings, http="port = 0\nloopback_is_operator = true", env=env) as served:
        done = await ask(served, call("door_who"), Authorization="Bearer short")
        assert done.result["content"][0]["text"] == "operator ['work']"
        assert "admits the operator alone: tokens of [plugins.auth_token] are weak: token; " in served.stderr
    await serve(site, settings, env=env).assert_refuses(3, "tokens of [plugins.auth_token] are weak: token; ")


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({}, "missing token"),
    ({"token": ""}, "invalid token: use letters"),
    ({"token": ADA, "scopes": ["a b"]}, "invalid scope 'a b'"),
    ({"token": ADA, "callers": {"ben": {"token": ADA}}}, "two callers have the same token"),
    ({"callers": {"ada": {"token": ADA, "subject": ""}}}, "at least 1 character"),
]


@pytest.mark.parametrize(("settings", "problem"), BROKEN)
async def test_invalid_settings(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        AuthTokenConfig.model_validate(settings)
