"""Who may ask the worker, and who may not (rows C-2, C-4 to C-6, C-14, C-20, C-21), against the real server."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from time import time
from typing import Any

import jwt
import pytest
import pytest_asyncio
from pydantic import SecretStr

from pegboard.plugin import fingerprint
from pegboard.types import Caller, Request, Response
from pegboard_plugins.worker import WorkerConfig
from pegboard_plugins.worker.jwt_authenticator import WorkerAuthenticator
from tests.plugins.worker.conftest import SECRET, Engine, claims, reference, serve, token
from tests.support.http import Served
from tests.support.http_mcp import ask, call, message, mirrored, modern
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.asyncio(loop_scope="session")


def now() -> int:
    return int(time())


def unsigned(algorithm: str) -> str:
    parts = [{"alg": algorithm, "typ": "JWT"}, claims()]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])


GOOD: dict[str, Callable[[], str]] = {
    "as it should be": token,
    "an audience among several": lambda: token(aud=["other", "worker"]),
    "begun a while ago": lambda: token(nbf=now() - 60),
    "of somebody": lambda: token(iss="engine", sub="ada", jti="1"),
}
BAD: dict[str, tuple[Callable[[], str], str]] = {
    "another secret": (lambda: token(SECRET.upper()), "Signature verification failed"),
    "another audience": (lambda: token(aud="mcp"), "Audience doesn't match"),
    "no audience": (lambda: token(aud=None), 'Token is missing the "aud" claim'),
    "another version": (lambda: token(ver="2"), "Unsupported token version: 2"),
    "a version that is a number": (lambda: token(ver=1), "Unsupported token version: 1"),
    "no version": (lambda: token(ver=None), "Unsupported token version: None"),
    "ended": (lambda: token(exp=now() - 5), "Signature has expired"),
    "not begun": (lambda: token(nbf=now() + 3600), "The token is not yet valid (nbf)"),
    "of the future": (lambda: token(iat=now() + 3600), "The token is not yet valid (iat)"),
    "without an end": (lambda: token(exp=None), 'Token is missing the "exp" claim'),
    "an end that is no time": (lambda: token(exp="soon"), "Expiration Time claim (exp) must be an integer."),
    "another algorithm": (lambda: token(algorithm="HS512"), "The specified alg value is not allowed"),
    "no signature": (lambda: unsigned("none"), "The specified alg value is not allowed"),
    "no signature in capitals": (lambda: unsigned("nOnE"), "The specified alg value is not allowed"),
    "no token at all": (lambda: "x", "Not enough segments"),
    "nonsense": (lambda: "a.b.c", "Invalid header"),
    "no text": (lambda: "\x80", "'utf-8' codec can't encode character"),
}


@pytest.mark.parametrize("given", GOOD.values(), ids=GOOD)
@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
async def test_tokens_that_open(engine: Engine, given: Callable[[], str], scheme: str) -> None:
    bearer = f"{scheme} {given()}"
    for _ in range(2):  # the second time it is known already
        assert (await engine.ask("GET", "tools", bearer=bearer)).status == 200


@pytest.mark.parametrize(("given", "reason"), BAD.values(), ids=BAD)
async def test_tokens_that_do_not(engine: Engine, given: Callable[[], str], reason: str) -> None:
    bearer = f"Bearer {given()}"
    for path, method in [
        ("tools", "GET"),
        ("tools/invoke", "POST"),
        ("resources/list", "POST"),
        ("resources/read", "POST"),
    ]:
        reply = await engine.ask(method, path, {} if method == "POST" else None, bearer=bearer)
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert reply.body["detail"].startswith(f"Invalid token. Error: {reason}")


@pytest.mark.parametrize("bearer", [None, "", "Basic dTpw", "Bearer", "Bearer  ", "x.y.z"])
async def test_who_brings_none(engine: Engine, bearer: str | None) -> None:
    reply = await engine.ask("GET", "tools", bearer=bearer or None)
    assert (reply.status, reply.body) == (401, {"detail": "Not authenticated"})
    assert reply.headers["www-authenticate"] == "Bearer"


async def test_a_token_in_the_query_opens_nothing(engine: Engine) -> None:
    """Row C-14; not beside one in the header, either."""
    for bearer in (None, f"Bearer {token()}"):
        reply = await engine.ask("GET", f"tools?access_token={token()}", bearer=bearer)
        assert (reply.status, reply.body) == (401, {"detail": "Not authenticated"})
        assert reply.headers["www-authenticate"] == "Bearer"


async def test_two_headers_are_none(served: Served) -> None:
    field = ("Authorization", f"Bearer {token()}")
    answer = await served.request("GET", "/worker/tools", [field, field])
    assert (answer.status, answer.json) == (401, {"detail": "Not authenticated"})


async def test_a_token_that_is_no_good_is_kept_on_record(site: Path) -> None:
    async with serve(site, env={"ARCADE_WORKER_SECRET": SECRET, "PEGBOARD__HOST__LOG_LEVEL": "info"}) as served:
        bad = token(exp=now() - 5)
        assert (await Engine(served, f"Bearer {bad}").ask("GET", "tools")).status == 401
        facts = f"peer='127.0.0.1', path='/worker/tools', token='{fingerprint(bad)}'"
        await served.said(re.escape(f"refused: a token ({facts})"))
        assert bad not in served.stderr


# --- clocks


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def lenient(site: Path) -> AsyncIterator[Engine]:
    async with serve(site, "leeway_seconds = 60") as served:
        yield Engine(served)


@pytest.mark.parametrize(
    ("claim", "sign", "reason"),
    [
        ("exp", -1, "Signature has expired"),
        ("nbf", 1, "The token is not yet valid (nbf)"),
        ("iat", 1, "The token is not yet valid (iat)"),
    ],
)
async def test_clocks_may_differ_by_the_leeway(
    engine: Engine, lenient: Engine, claim: str, sign: int, reason: str
) -> None:
    for asked, seconds, status in ((engine, 30, 401), (lenient, 30, 200), (lenient, 90, 401)):
        changed: dict[str, Any] = {claim: int(time()) + sign * seconds}
        given = token(**changed)
        for _ in range(2):  # the second time it may be known already
            reply = await asked.ask("GET", "tools", bearer=f"Bearer {given}")
            assert reply.status == status
            assert status == 200 or reply.body == {"detail": f"Invalid token. Error: {reason}"}


async def test_a_leeway_is_no_reason_to_do_without_an_end(lenient: Engine) -> None:
    reply = await lenient.ask("GET", "tools", bearer=f"Bearer {token(exp=None)}")
    assert (reply.status, reply.body) == (401, {"detail": 'Invalid token. Error: Token is missing the "exp" claim'})


# --- tokens that are known already


class Fields(dict[str, str]):
    """Header fields, each once."""

    def getall(self, key: str, default: Any) -> Any:
        return [self[key]] if key in self else default


class Door:
    """The authenticator, and how often it has had a token checked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self._tokens = WorkerAuthenticator(WorkerConfig(secret=SecretStr(SECRET), **settings))
        self._patch = monkeypatch
        self._decode = jwt.decode
        self.checked = 0
        monkeypatch.setattr(jwt, "decode", self._counted)

    def _counted(self, *given: Any, **options: Any) -> Any:
        self.checked += 1
        return self._decode(*given, **options)

    def set_clock(self, now: float) -> None:
        """What time it is for tokens that are known; the library has a clock of its own."""
        self._patch.setattr("pegboard_plugins.worker.jwt_authenticator.time", lambda: now)

    async def opens(self, given: str) -> bool:
        found = await self._tokens.authenticate(
            Request("GET", "/worker/tools", {}, Fields({"Authorization": f"Bearer {given}"}))
        )
        assert found == Caller(client_id="worker", service=True) or (
            isinstance(found, Response) and found.status == 401
        )
        return isinstance(found, Caller)


@pytest.mark.parametrize("leeway", [0, 60])
async def test_a_token_that_was_good_is_checked_anew_once_it_has_ended(
    monkeypatch: pytest.MonkeyPatch, leeway: int
) -> None:
    door = Door(monkeypatch, leeway_seconds=leeway)
    end = int(time()) + 600
    given = token(exp=end + 0.9)  # ends are whole seconds, as the library has it
    assert await door.opens(given)
    for now, checked in ((end + leeway - 0.01, 1), (end + leeway, 2)):
        door.set_clock(now)
        assert await door.opens(given)
        assert door.checked == checked


async def test_a_token_that_ends_in_another_age_is_known_too(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door(monkeypatch, require_exp=False)
    for given in (token(exp=10**400), token(exp=None)):
        door.checked = 0
        assert [await door.opens(given) for _ in range(2)] == [True, True]
        assert door.checked == 1


async def test_what_was_refused_is_checked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door(monkeypatch)
    for given, _ in BAD.values():
        door.checked = 0
        bearer = given()
        assert [await door.opens(bearer) for _ in range(2)] == [False, False]
        assert door.checked == 2


async def test_so_many_tokens_are_known_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_plugins.worker.jwt_authenticator._KEPT", 2)
    door = Door(monkeypatch)
    first, second, third = (token(jti=name) for name in ("1", "2", "3"))
    for given, checked in ((first, 1), (second, 2), (first, 2), (third, 3), (second, 3), (third, 3), (first, 4)):
        assert await door.opens(given)
        assert door.checked == checked


async def test_the_endpoint_of_mcp_is_another_door(served: Served) -> None:
    """The worker's token neither opens it nor is needed there."""
    assert (await ask(served, message("tools/list"))).status == 200
    one = modern(call("demo_kit_add", {"a": 1}))
    assert (await served.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())).status == 200


# --- secrets


@pytest.mark.filterwarnings("ignore:The HMAC key is")
@pytest.mark.parametrize("secret", ["dev", "changeme", "short-secret", "a" * 40])
async def test_a_weak_secret_serves_the_operator_alone(site: Path, secret: str) -> None:
    env = {"ARCADE_WORKER_SECRET": secret}
    async with serve(site, http="port = 0\nloopback_is_operator = true", env=env) as served:
        assert (await Engine(served, f"Bearer {token(secret)}").ask("GET", "tools")).status == 200
        assert "admits the operator alone: the worker's secret is weak" in served.stderr
        assert "HMAC" not in served.stderr
    async with serve(site, http='host = "0.0.0.0"\nport = 0', env=env, ready=False) as refused:
        assert await refused.wait() == 3
        assert "the worker's secret is weak; set ARCADE_WORKER_SECRET" in refused.stderr
    anywhere, no_mcp = "weak_secrets_anywhere = true", "[plugins.mcp]\nhttp = false"
    async with serve(site, anywhere, http='host = "0.0.0.0"\nport = 0', more=no_mcp, env=env) as allowed:
        assert allowed.url


async def test_a_section_without_a_secret_says_how_to_set_one(site: Path) -> None:
    async with serve(site, env={}, ready=False) as refused:
        assert await refused.wait() == 3
        assert "it needs a secret: set ARCADE_WORKER_SECRET" in refused.stderr


@pytest.mark.parametrize(
    ("settings", "env"),
    [("auth_disabled = true", {}), ("", {"ARCADE_AUTH_DISABLED": "true"})],
    ids=["settings", "variable"],
)
async def test_without_a_secret_it_is_not_served_to_those_without_tokens_and_says_so(
    site: Path, settings: str, env: dict[str, str]
) -> None:
    async with serve(site, settings, env=env) as served:
        assert (await served.request("GET", "/worker/health")).status == 404
        assert "not served: it needs a secret" in served.stderr
        assert "set ARCADE_WORKER_SECRET" in served.stderr


async def test_the_variable_alone_switches_it_on_and_is_never_shown(site: Path) -> None:
    async with Served(site, "[plugins.http]\nport = 0\n", env={"ARCADE_WORKER_SECRET": SECRET}) as served:
        engine = Engine(served, f"Bearer {token()}")
        body: Any = {"tool": reference("RetBool")}
        assert (await engine.ask("POST", "tools/invoke", body)).body["output"]["value"] is False
        assert SECRET not in served.stderr


async def test_a_token_is_made_to_try_it_with(site: Path, served: Served) -> None:
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site), "ARCADE_WORKER_SECRET": SECRET}

    def made(*arguments: str) -> str:
        command = [str(PEGBOARD), "token", "--config", "hostconfig.toml", *arguments]
        return subprocess.check_output(command, env=env, cwd=served.cwd, text=True).strip()

    assert (await Engine(served, f"Bearer {await asyncio.to_thread(made)}").ask("GET", "tools")).status == 200
    short = await asyncio.to_thread(made, "--seconds", "5")
    told = jwt.decode(short, SECRET, algorithms=["HS256"], audience="worker")
    assert (told["ver"], told["exp"] - told["iat"]) == ("1", 5)
