"""Who may use the MCP endpoint by a token that the operator wrote down (rows C-14, C-16, C-19, D-4), over sockets."""

from __future__ import annotations

import asyncio
import json
import subprocess
from hmac import compare_digest
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.types import Caller, Request, Response
from pegboard_plugins.auth_token import AuthTokenConfig, StaticBearer
from pegboard_plugins.worker.jwt_authenticator import create_token
from tests.plugins.auth_token.conftest import ADA, ADA_HOME, BEN, CALLERS, ENV, serve
from tests.support.http import Answer, Served
from tests.support.http_mcp import Session, ask, call, message, mirrored, modern
from tests.support.peer import modern_meta
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOOR = ("Authorization", f"Bearer {ADA}")
GUARDED = ["door_guarded", "door_secretive"]


def field(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


async def listed(served: Served, token: str) -> Answer:
    """The answer to a request for the tools."""
    one = modern(message("tools/list"))
    return await served.request("POST", "/mcp", mirrored(one, Authorization=token), json.dumps(one).encode())


# --- who comes in


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
async def test_a_token_opens(served: Served, scheme: str) -> None:
    for token, who in ((ADA, "ada ['work']"), (ADA_HOME, "ada []"), (BEN, "ben []")):
        done = await ask(served, call("door_who"), Authorization=f"{scheme} {token}")
        assert done.result["content"][0]["text"] == who


@pytest.mark.requirement("LIST-10")
async def test_who_is_known_finds_tools_that_use_secrets_beyond_loopback(served: Served) -> None:
    for token, found in ((ADA, GUARDED), (BEN, ["door_secretive"])):
        tools = (await ask(served, message("tools/list"), Authorization=f"Bearer {token}")).result["tools"]
        assert [tool["name"] for tool in tools if tool["name"] in GUARDED] == found
    done = await ask(served, call("door_secretive"), Authorization=f"Bearer {BEN}")
    assert done.result["content"][0]["text"] == "7 characters"
    assert "not served at" not in served.stderr


async def test_a_token_allows_what_its_section_says(served: Served) -> None:
    done = await ask(served, call("door_guarded"), Authorization=f"Bearer {ADA}")
    assert done.result["content"][0]["text"] == "done"
    refused = (await ask(served, call("door_guarded"), Authorization=f"Bearer {BEN}")).last
    assert refused["error"]["data"] == {"requiredScopes": ["work"]}


NONE = [None, "", "Basic dTpw", "Bearer", "Bearer ", ADA, f"Token {ADA}"]
WRONG = ["x", ADA[:-1], ADA + "x", ADA.upper(), BEN.rstrip("="), f"{ADA} {ADA}", f"{ADA}, {BEN}", "é", "\x80"]


@pytest.mark.parametrize("given", NONE)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_who_brings_none_is_asked_for_one(served: Served, method: str, given: str | None) -> None:
    fields = [] if given is None else [("Authorization", given)]
    answer = await served.request(method, "/mcp", fields)
    assert (answer.status, answer.get("WWW-Authenticate")) == (401, "Bearer")
    assert answer.text == "A bearer token is needed here.\n"


@pytest.mark.parametrize("given", WRONG)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_who_brings_another_is_told_so(served: Served, method: str, given: str) -> None:
    answer = await served.request(method, "/mcp", [field(given)])
    assert answer.status == 401
    challenge = 'Bearer error="invalid_token", error_description="The token is not known here."'
    assert answer.get("WWW-Authenticate") == challenge
    assert answer.text == "The token is not known here.\n"


async def test_a_token_in_the_url_opens_nothing(served: Served) -> None:
    """Row C-14; not beside one in the header, either."""
    one = modern(message("tools/list"))
    for more in ([], [DOOR]):
        path = f"/mcp?access_token={ADA}"
        answer = await served.request("POST", path, [*mirrored(one), *more], json.dumps(one).encode())
        assert answer.status == 400
        assert (answer.get("WWW-Authenticate") or "").startswith('Bearer error="invalid_request", ')
        assert ADA not in served.stderr


async def test_two_headers_are_none(served: Served) -> None:
    answer = await served.request("GET", "/mcp", [DOOR, DOOR])
    assert answer.status == 400
    assert (answer.get("WWW-Authenticate") or "").startswith('Bearer error="invalid_request", ')


async def test_what_watches_the_server_needs_no_token(served: Served) -> None:
    for path, text in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
        for fields in ([], [field("wrong")]):
            answer = await served.request("GET", path, fields)
            assert (answer.status, answer.text) == (200, text)


async def test_from_loopback_a_token_is_needed_too(site: Path) -> None:
    async with serve(site, http="port = 0") as served:
        assert (await served.request("POST", "/mcp")).status == 401
        assert (await listed(served, f"Bearer {ADA}")).status == 200
        refused = (await ask(served, call("door_guarded"), Authorization=f"Bearer {BEN}")).last
        assert refused["error"]["data"] == {"requiredScopes": ["work"]}


async def test_the_worker_has_a_door_of_its_own(site: Path) -> None:
    """Neither's tokens open the other's."""
    secret = "0123456789abcdef-a-secret-that-is-long-enough"
    async with serve(site, env={**ENV, "ARCADE_WORKER_SECRET": secret}) as served:
        workers = f"Bearer {create_token(secret, 60)}"
        assert (await served.request("GET", "/worker/tools", [("Authorization", workers)])).status == 200
        assert (await served.request("GET", "/worker/tools", [DOOR])).status == 401
        assert (await listed(served, workers)).status == 401
        assert (await listed(served, f"Bearer {ADA}")).status == 200


async def test_every_token_is_compared_as_a_digest_in_steady_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row C-19: none is left out once another fits."""
    seen: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        seen.append((one, other))
        return compare_digest(one, other)

    monkeypatch.setattr("hmac.compare_digest", compare)
    config = AuthTokenConfig.model_validate({"callers": {"ada": {"token": ADA}, "ben": {"token": BEN}}})
    door = StaticBearer(config)
    for token, subject in ((ADA, "ada"), (BEN, "ben"), ("x", None)):
        seen.clear()
        found = await door.authenticate(Request("GET", "/mcp", {}, Fields({"Authorization": f"Bearer {token}"})))
        assert isinstance(found, Response) if subject is None else found == Caller(subject)
        assert len(seen) == 2
        assert {len(part) for pair in seen for part in pair} == {32}


class Fields(dict[str, str]):
    """Header fields, each once."""

    def getall(self, key: str, default: Any) -> Any:
        return [self[key]] if key in self else default


# --- what is whose


@pytest.mark.requirement("ASK-10", "SEC-02")
async def test_a_session_is_its_callers_alone(served: Served) -> None:
    """Row C-16: requests, streams and the end of it; another token of the same subject opens it."""
    session = Session(served)
    await session.open(**dict([DOOR]))
    assert (await session.post(call("door_plain"), DOOR)).status == 200
    assert (await session.post(call("door_plain"), field(ADA_HOME))).status == 200
    assert (await session.post(call("door_plain"), field(BEN))).refused == (404, -32600)
    takes = ("Accept", "text/event-stream")
    assert (await served.request("GET", "/mcp", [*session.fields(takes), field(BEN)])).status == 404
    assert (await served.request("DELETE", "/mcp", [*session.fields(), field(BEN)])).status == 404
    assert (await session.post(call("door_plain"))).status == 401
    assert (await session.post(call("door_plain"), DOOR)).status == 200


@pytest.mark.requirement("ROUND-08")
async def test_what_waits_for_an_answer_is_its_callers_alone(served: Served) -> None:
    able: Any = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    one = call("door_name")
    one["params"]["_meta"] = {**modern_meta(), **able}
    asked = (await ask(served, one, Authorization=f"Bearer {ADA}")).result
    answers = {name: {"action": "accept", "content": {"value": "Ada"}} for name in asked["inputRequests"]}
    one["params"] |= {"inputResponses": answers, "requestState": asked["requestState"]}
    refused = (await ask(served, one, Authorization=f"Bearer {BEN}")).last
    assert refused["error"]["message"].startswith("params.requestState")
    for token in (ADA, ADA_HOME):
        done = await ask(served, one, Authorization=f"Bearer {token}")
        assert done.result["content"][0]["text"] == "Hello, Ada"


# --- tokens that will not do


@pytest.mark.parametrize("token", ["short", "0123456789abcdef0123456789abcde", "a" * 40])
async def test_a_weak_token_serves_the_operator_alone(site: Path, token: str) -> None:
    settings = '[plugins.auth_token]\ntoken = { env = "ONE_TOKEN" }\nscopes = ["work"]\n'
    env = {"ONE_TOKEN": token}
    async with serve(site, settings, http="port = 0\nloopback_is_operator = true", env=env) as served:
        done = await ask(served, call("door_who"), Authorization=f"Bearer {token}")
        assert done.result["content"][0]["text"] == "operator ['work']"
        told = "admits the operator alone: tokens of [plugins.auth_token] are weak: token; take 32"
        assert told in served.stderr
        assert "to prove that it is you, connect to a Unix socket" in served.stderr
        assert "send the operator token" not in served.stderr, "the header holds this token"
    async with serve(site, settings, env=env, ready=False) as refused:
        assert await refused.wait() == 3
        assert "tokens of [plugins.auth_token] are weak: token; take 32" in refused.stderr


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "none": ({}, "it needs a token"),
    "an empty table": ({"callers": {}}, "it needs a token"),
    "an empty text": ({"token": ""}, "a token consists of letters"),
    "a space": ({"token": "with space"}, "a token consists of letters"),
    "a line": ({"callers": {"ada": {"token": "line\n"}}}, "a token consists of letters"),
    "two scopes in one": ({"token": ADA, "scopes": ["a b"]}, "'a b' is no scope"),
    "no scope of another": ({"callers": {"ben": {"token": ADA, "scopes": ["a", ""]}}}, "'' is no scope"),
    "twice": ({"token": ADA, "callers": {"ben": {"token": ADA}}}, "two callers have one token"),
    "nobody at the one token": ({"token": ADA, "subject": ""}, "at least 1 character"),
    "nobody": ({"callers": {"ada": {"token": ADA, "subject": ""}}}, "at least 1 character"),
}


@pytest.mark.parametrize(("settings", "told"), BROKEN.values(), ids=BROKEN)
async def test_settings_that_would_let_in_the_wrong_people(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        AuthTokenConfig.model_validate(settings)


async def test_a_subject_may_be_one_letter() -> None:
    config = AuthTokenConfig.model_validate({"token": ADA, "subject": "a", "callers": {"b": {"token": BEN}}})
    assert [one.subject for one in config.named.values()] == ["a", "b"]


async def test_a_variable_that_is_not_set_keeps_the_host_from_starting(site: Path) -> None:
    for env in ({**ENV, "BEN_TOKEN": ""}, {name: value for name, value in ENV.items() if name != "BEN_TOKEN"}):
        async with serve(site, env=env, ready=False) as refused:
            assert await refused.wait() == 3
            assert 'the environment variable "BEN_TOKEN" is missing or empty' in refused.stderr


# --- nothing is told


async def test_a_token_is_shown_nowhere(site: Path, tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site), **ENV}
    literal = CALLERS.replace('{ env = "ADA_TOKEN" }', f'"{ADA}"')

    def shown(settings: str, *command: str) -> tuple[int, str]:
        (tmp_path / "hostconfig.toml").write_text(settings, "utf-8")
        line = [str(PEGBOARD), *command, "--config", "hostconfig.toml"]
        done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    for settings, code in ((CALLERS, 0), (literal, 0), (literal.replace('"work"', '"work", 5'), 3)):
        for command in (["config", "show"], ["config", "show", "--json"], ["config", "check"], ["plugins"]):
            returned, told = await asyncio.to_thread(shown, settings, *command)
            assert not any(token in told for token in (ADA, ADA_HOME, BEN))
            assert returned == code or command != ["config", "check"]


async def test_a_token_that_a_tool_has_got_hold_of_is_masked(served: Served) -> None:
    done = await ask(served, call("door_repeat", {"text": f"it is {ADA}"}), Authorization=f"Bearer {ADA}")
    assert done.result["isError"] is True
    assert ADA not in json.dumps(done.result)
    assert ADA not in served.stderr
