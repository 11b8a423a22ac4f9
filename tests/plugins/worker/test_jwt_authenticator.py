"""Tokens of the worker, and settings that admit callers of this machine only."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from time import time
from typing import Any, NamedTuple

import jwt
import pytest
import pytest_asyncio
from pydantic import SecretStr

from pegboard.plugin import fingerprint
from pegboard.types import Caller, Request, Response
from pegboard_plugins.worker import WorkerConfig
from pegboard_plugins.worker.jwt_authenticator import WorkerAuthenticator
from tests.plugins.worker.conftest import METHODS, SECRET, Engine, claims, reference, serve, token
from tests.support.fields import Fields
from tests.support.http import Line, Served
from tests.support.http_mcp import ask, message
from tests.support.wire import PEGBOARD

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.filterwarnings("ignore:The HMAC key is")]


def now() -> int:
    return int(time())


def unsigned(algorithm: str) -> str:
    parts = [{"alg": algorithm, "typ": "JWT"}, claims()]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])


BAD: dict[str, tuple[Callable[[], str], str]] = {
    "another secret": (lambda: token(SECRET.upper()), "Signature verification failed"),
    "another audience": (lambda: token(aud="mcp"), "Audience doesn't match"),
    "no audience": (lambda: token(aud=None), 'Token is missing the "aud" claim'),
    "another version": (lambda: token(ver="2"), "Unsupported token version: 2"),
    "a number as version": (lambda: token(ver=1), "Unsupported token version: 1"),
    "no version": (lambda: token(ver=None), "Unsupported token version: None"),
    "expired": (lambda: token(exp=now() - 5), "Signature has expired"),
    "not yet valid": (lambda: token(nbf=now() + 3600), "The token is not yet valid (nbf)"),
    "issued in the future": (lambda: token(iat=now() + 3600), "The token is not yet valid (iat)"),
    "no expiry": (lambda: token(exp=None), 'Token is missing the "exp" claim'),
    "a string as expiry": (lambda: token(exp="soon"), "Expiration Time claim (exp) must be an integer."),
    "another algorithm": (lambda: token(algorithm="HS512"), "The specified alg value is not allowed"),
    "no signature": (lambda: unsigned("none"), "The specified alg value is not allowed"),
    "no signature, capitals": (lambda: unsigned("nOnE"), "The specified alg value is not allowed"),
    "no segments": (lambda: "x", "Not enough segments"),
    "nonsense": (lambda: "a.b.c", "Invalid header"),
    "not UTF-8": (lambda: "\x80", "'utf-8' codec can't encode character"),
}


async def test_valid_tokens_are_accepted_again_and_again(engine: Engine) -> None:
    valid = (token(), token(aud=["other", "worker"]), token(nbf=now() - 60), token(iss="engine", sub="ada", jti="1"))
    for given in valid:
        for scheme in ("Bearer", "bearer"):
            assert (await engine.ask("GET", "tools", bearer=f"{scheme} {given}")).status == 200
    body = {"tool": reference("Talk")}
    said = await engine.ask("POST", "tools/invoke", body, bearer=f"Bearer {valid[3]}")
    assert said.body["output"]["value"] == "None"  # the subject of a token is not the user


@pytest.mark.parametrize(("given", "reason"), BAD.values(), ids=BAD)
async def test_invalid_tokens_are_refused(engine: Engine, given: Callable[[], str], reason: str) -> None:
    bearer = f"Bearer {given()}"
    for path, method in METHODS.items():
        if path != "health":
            reply = await engine.ask(method, path, {} if method == "POST" else None, bearer=bearer)
            assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
            assert reply.body["detail"].startswith(f"Invalid token. Error: {reason}")


async def test_a_token_must_be_in_one_header(served: Served, engine: Engine) -> None:
    for bearer in (None, "Basic dTpw", "Bearer", "Bearer  ", "x.y.z"):
        reply = await engine.ask("GET", "tools", bearer=bearer)
        assert (reply.status, reply.body) == (401, {"detail": "Not authenticated"})
        assert reply.headers["www-authenticate"] == "Bearer"
    field = ("Authorization", f"Bearer {token()}")
    for path, fields in (("", [field, field]), (f"?access_token={token()}", []), (f"?access_token={token()}", [field])):
        answer = await served.request("GET", f"/worker/tools{path}", fields)
        assert (answer.status, answer.json) == (401, {"detail": "Not authenticated"})


async def test_refused_tokens_are_logged_by_their_digest(site: Path) -> None:
    async with serve(site, env={"ARCADE_WORKER_SECRET": SECRET, "PEGBOARD__HOST__LOG_LEVEL": "info"}) as served:
        bad = token(exp=now() - 5)
        assert (await Engine(served, f"Bearer {bad}").ask("GET", "tools")).status == 401
        facts = f"peer='127.0.0.1', path='/worker/tools', token='{fingerprint(bad)}'"
        await served.said(re.escape(f"refused: a token ({facts})"))
        assert bad not in served.stderr


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lenient(site: Path) -> AsyncIterator[Engine]:
    async with serve(site, "leeway_seconds = 60") as served:
        yield Engine(served)


async def test_clocks_may_differ_by_the_leeway(engine: Engine, lenient: Engine) -> None:
    for claim, sign in (("exp", -1), ("nbf", 1), ("iat", 1)):
        for asked, seconds, status in ((engine, 30, 401), (lenient, 30, 200), (lenient, 90, 401)):
            changed: dict[str, Any] = {claim: now() + sign * seconds}
            given = f"Bearer {token(**changed)}"
            assert [(await asked.ask("GET", "tools", bearer=given)).status for _ in range(2)] == [status] * 2
    assert (await lenient.ask("GET", "tools", bearer=f"Bearer {token(exp=None)}")).status == 401


# --- remembered tokens


class Counting:
    """An authenticator that counts checks of signatures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self._authenticator = WorkerAuthenticator(WorkerConfig(secret=SecretStr(SECRET), **settings))
        self._decode = jwt.decode
        self.checked = 0
        monkeypatch.setattr(jwt, "decode", self._counted)

    def _counted(self, *given: Any, **options: Any) -> Any:
        self.checked += 1
        return self._decode(*given, **options)

    async def accepts(self, given: str) -> bool:
        request = Request("GET", "/worker/tools", {}, Fields([("Authorization", f"Bearer {given}")]))
        found = await self._authenticator.authenticate(request)
        assert found == Caller(client_id="worker", service=True) or isinstance(found, Response)
        return isinstance(found, Caller)


@pytest.mark.parametrize("leeway", [0, 60])
async def test_a_remembered_token_is_checked_again_once_it_has_expired(
    monkeypatch: pytest.MonkeyPatch, leeway: int
) -> None:
    door = Counting(monkeypatch, leeway_seconds=leeway)
    end = now() + 600
    given = token(exp=end + 0.9)  # the library rounds it down
    assert await door.accepts(given)
    for at, checked in ((end + leeway - 0.01, 1), (end + leeway, 2)):
        monkeypatch.setattr("pegboard_plugins.worker.jwt_authenticator.time", lambda at=at: at)
        assert await door.accepts(given)
        assert door.checked == checked


async def test_valid_tokens_are_remembered_and_invalid_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Counting(monkeypatch, require_exp=False)
    for given, accepted, checked in (
        (token(exp=10**400), True, 1),
        (token(exp=None), True, 1),
        (token(ver="2"), False, 2),
        (token(SECRET.upper()), False, 2),
    ):
        door.checked = 0
        assert [await door.accepts(given) for _ in range(2)] == [accepted] * 2
        assert door.checked == checked


async def test_the_number_of_remembered_tokens_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_plugins.worker.jwt_authenticator._MAX_KEPT_TOKENS", 2)
    door = Counting(monkeypatch)
    first, second, third = (token(jti=name) for name in ("1", "2", "3"))
    for given, checked in ((first, 1), (second, 2), (first, 2), (third, 3), (second, 3), (third, 3), (first, 4)):
        assert await door.accepts(given)
        assert door.checked == checked


# --- secrets and callers of this machine


NO_MCP = "[plugins.mcp]\nhttp = false"
LOOPBACK = "port = 0\nloopback_is_operator = true"
WEAK = "changeme"


class Local(NamedTuple):
    """Settings that admit callers of this machine only."""

    env: dict[str, str]
    reason: str
    everywhere: str
    bearer: str | None


OPEN_ENV = {"ARCADE_WORKER_SECRET": SECRET, "ARCADE_AUTH_DISABLED": "true"}
BOTH = pytest.mark.parametrize(
    "local",
    [
        Local({"ARCADE_WORKER_SECRET": WEAK}, "the worker's secret is weak", "weak_secrets_anywhere = true", WEAK),
        Local(OPEN_ENV, "the worker admits callers without a token", "auth_disabled_anywhere = true", None),
    ],
    ids=["a weak secret", "no tokens"],
)


def fields_of(local: Local) -> list[tuple[str, str]]:
    return [] if local.bearer is None else [("Authorization", f"Bearer {token(local.bearer)}")]


@BOTH
async def test_loopback_and_unix_sockets_are_the_operators(site: Path, local: Local) -> None:
    for http in (LOOPBACK, f'host = "localhost"\n{LOOPBACK}', f'host = "127.0.0.2"\n{LOOPBACK}'):
        async with serve(site, http=http, env=local.env) as served:
            assert f"admits the operator alone: {local.reason}" in served.stderr
            assert "HMAC" not in served.stderr
            if http == LOOPBACK:
                assert (await served.request("GET", "/worker/tools", fields_of(local))).status == 200
    async with serve(site, http='socket = "here"', env=local.env, ready=False) as served:
        await served.said(r"serves .* at unix:")
        async with Line(*await asyncio.open_unix_connection(str(served.cwd / "here"))) as line:
            assert (await line.request("GET", "/worker/tools", fields_of(local))).status == 200


@BOTH
@pytest.mark.parametrize("host", ["0.0.0.0", "the machine's own name", "", "::"])
async def test_other_addresses_are_refused_unless_the_operator_says_so(site: Path, local: Local, host: str) -> None:
    address = socket.gethostname() if " " in host else host
    async with serve(site, http=f'host = "{address}"\nport = 0', env=local.env, ready=False) as refused:
        assert await refused.wait() == 3
        assert f", and {local.reason}" in refused.stderr
    if host == "0.0.0.0":
        http = f'host = "{host}"\nport = 0'
        async with serve(site, local.everywhere, http=http, more=NO_MCP, env=local.env) as served:
            assert (await served.request("GET", "/worker/tools", fields_of(local))).status == 200
            assert ("admits callers without a token" in served.stderr) is (local.bearer is None)


@BOTH
async def test_requests_through_a_proxy_and_of_other_users_are_refused(site: Path, local: Local) -> None:
    bearer = ("Authorization", f"Bearer {token(WEAK)}")
    async with serve(site, http=f'{LOOPBACK}\nallowed_hosts = ["tools.example.com"]', env=local.env) as served:
        forwarded = [
            ("X-Forwarded-For", "203.0.113.7"),
            ("Forwarded", "for=203.0.113.7"),
            ("Host", "tools.example.com"),
        ]
        for field in forwarded:
            answer = await served.request("GET", "/worker/tools", [field, bearer])
            assert (answer.status, answer.text.partition(".")[0]) == (403, "Only the operator may use this")
            assert (await served.request("GET", "/worker/health", [field, bearer])).status == 200
    async with serve(site, env=local.env) as served:
        answer = await served.request("GET", "/worker/tools", [bearer])
        assert answer.status == 403
        for told in (answer.text, served.stderr.partition("To prove that you are the operator")[2].partition("\n")[0]):
            assert ("send the operator token as `Authorization: Bearer`" in told) == (local.bearer is None)
        assert "set `loopback_is_operator = true`" in answer.text
        if local.bearer is None:
            assert (await served.request("GET", "/worker/tools", [served.proof])).status == 200


@pytest.mark.parametrize("value", ["false", "0", ""])
async def test_tokens_are_needed_unless_the_variable_is_true(site: Path, value: str) -> None:
    env = {**OPEN_ENV, "ARCADE_AUTH_DISABLED": value}
    async with serve(site, http='host = "0.0.0.0"\nport = 0', more=NO_MCP, env=env) as served:
        assert (await Engine(served).ask("GET", "tools")).status == 401


async def test_without_a_secret_the_worker_is_not_served(site: Path) -> None:
    async with serve(site, env={}, ready=False) as refused:
        assert await refused.wait() == 3
        assert "ARCADE_WORKER_SECRET" in refused.stderr
    for settings, env in (("auth_disabled = true", {}), ("", {"ARCADE_AUTH_DISABLED": "true"})):
        async with serve(site, settings, env=env) as served:
            assert (await served.request("GET", "/worker/health")).status == 404
            assert "set ARCADE_WORKER_SECRET" in served.stderr


async def test_the_variable_enables_the_plugin_and_mcp_needs_no_token(site: Path) -> None:
    async with Served(site, "[plugins.http]\nport = 0\n", env={"ARCADE_WORKER_SECRET": SECRET}) as served:
        body = json.dumps({"tool": reference("RetBool")}).encode()
        fields = [("Authorization", f"Bearer {token()}")]
        answer = await served.request("POST", "/worker/tools/invoke", fields, body)
        assert answer.json["output"]["value"] is False
        assert (await ask(served, message("tools/list"))).status == 200
        assert SECRET not in served.stderr


async def test_the_command_makes_a_token(site: Path, served: Served) -> None:
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site), "ARCADE_WORKER_SECRET": SECRET}

    def made(*arguments: str) -> str:
        command = [str(PEGBOARD), "token", "--config", "hostconfig.toml", *arguments]
        return subprocess.check_output(command, env=env, cwd=served.cwd, text=True).strip()

    assert (await Engine(served, f"Bearer {await asyncio.to_thread(made)}").ask("GET", "tools")).status == 200
    short = jwt.decode(await asyncio.to_thread(made, "--seconds", "5"), SECRET, ["HS256"], audience="worker")
    assert (short["ver"], short["exp"] - short["iat"]) == ("1", 5)
