"""Tokens of the worker, and settings that admit callers of this machine only."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import jwt
import pytest
from pydantic import SecretStr, ValidationError

from pegboard.types import Caller, Request, Response, header_fields
from pegboard_plugins.protocols.worker import jwt_authenticator
from pegboard_plugins.protocols.worker.jwt_authenticator import WorkerAuthenticator, create_token
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_plugins.support.refusal_log import fingerprint
from tests.plugins.protocols.worker.conftest import METHODS, SECRET, Engine, claims, reference, serve, token
from tests.support.http import Served
from tests.support.http_mcp import ask, message

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
    "too deep": (lambda: base64.urlsafe_b64encode(b"[" * 20_000).decode() + ".b.c", ""),
    "not UTF-8": (lambda: "\x80", "'utf-8' codec can't encode character"),
}


async def test_valid_tokens_are_accepted(engine: Engine) -> None:
    for text in (token(), token(aud=["other", "worker"]), token(nbf=now() - 60)):
        for scheme in ("Bearer", "bearer"):
            assert (await engine.ask("GET", "tools", bearer=f"{scheme} {text}")).status == 200
    bearer = f"Bearer {token(iss='engine', sub='ada', jti='1')}"
    reply = await engine.ask("POST", "tools/invoke", {"tool": reference("Talk")}, bearer=bearer)
    assert reply.body["output"]["value"] == "None"  # the subject of a token is not the user


@pytest.mark.parametrize(("make", "reason"), BAD.values(), ids=BAD)
async def test_invalid_tokens_are_refused(engine: Engine, make: Callable[[], str], reason: str) -> None:
    bearer = f"Bearer {make()}"
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


# --- without a server


class Counting:
    """An authenticator that counts checks of signatures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self._authenticator = WorkerAuthenticator(WorkerConfig(secret=SecretStr(SECRET), **settings))
        self._decode = jwt.decode
        self.checked = 0
        monkeypatch.setattr(jwt, "decode", self._counted)

    def _counted(self, *arguments: Any, **options: Any) -> Any:
        self.checked += 1
        return self._decode(*arguments, **options)

    async def accepts(self, text: str) -> bool:
        request = Request("GET", "/worker/tools", {}, header_fields({"Authorization": f"Bearer {text}"}))
        caller = await self._authenticator.authenticate(request)
        assert caller == Caller(client_id="worker", service=True) or isinstance(caller, Response)
        return isinstance(caller, Caller)


async def test_clocks_may_differ_by_the_leeway(monkeypatch: pytest.MonkeyPatch) -> None:
    strict, lenient = Counting(monkeypatch), Counting(monkeypatch, leeway_seconds=60)
    for claim, sign in (("exp", -1), ("nbf", 1), ("iat", 1)):
        for door, seconds, accepted in ((strict, 30, False), (lenient, 30, True), (lenient, 90, False)):
            changed: dict[str, Any] = {claim: now() + sign * seconds}
            text = token(**changed)
            assert [await door.accepts(text) for _ in range(2)] == [accepted] * 2
    assert not await lenient.accepts(token(exp=None))


async def test_a_remembered_token_is_checked_again_once_it_has_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    leeway = 60
    door = Counting(monkeypatch, leeway_seconds=leeway)
    end = now() + 600
    text = token(exp=end + 0.9)  # the library rounds it down
    assert await door.accepts(text)
    for at, checked in ((end + leeway - 0.01, 1), (end + leeway, 2)):
        monkeypatch.setattr(jwt_authenticator, "time", lambda at=at: at)
        assert await door.accepts(text)
        assert door.checked == checked


async def test_a_limited_number_of_valid_tokens_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwt_authenticator, "_MAX_KEPT_TOKENS", 2)
    door = Counting(monkeypatch, require_exp=False)
    first, second, third = (token(jti=name) for name in ("1", "2", "3"))
    for text, checked in ((first, 1), (second, 2), (first, 2), (third, 3), (second, 3), (third, 3), (first, 4)):
        assert await door.accepts(text)
        assert door.checked == checked


# --- secrets and callers of this machine


WEAK, OPEN = {"secret": "changeme"}, {"secret": SECRET, "auth_disabled": True}
WEAK_TOKEN = ("Authorization", f"Bearer {create_token('changeme', 36_000)}")
OPEN_ENV = {"ARCADE_WORKER_SECRET": SECRET, "ARCADE_AUTH_DISABLED": "true"}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"secret": SECRET}, None),
        (WEAK, "the worker's secret is weak"),
        (WEAK | {"weak_secrets_anywhere": True}, None),
        (OPEN, "the worker admits callers without a token"),
        (OPEN | {"auth_disabled_anywhere": True}, None),
    ],
    ids=str,
)
async def test_weak_secrets_and_no_tokens_are_for_the_operator_unless_configured(
    settings: dict[str, Any], reason: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    door = WorkerAuthenticator(WorkerConfig.model_validate(settings))
    assert (door.only_local or "").partition(";")[0].partition(":")[0] == (reason or "")
    assert ("without a token" in caplog.text and "from anywhere" in caplog.text) is (
        "auth_disabled_anywhere" in settings
    )
    caller = await door.authenticate(Request("GET", "/worker/tools", {}, header_fields()))
    assert caller == Caller(client_id="worker") if settings.get("auth_disabled") else isinstance(caller, Response)


async def test_other_addresses_are_refused_without_tokens(site: Path) -> None:
    served = serve(site, http='host = "0.0.0.0"\nport = 0', env=OPEN_ENV)
    await served.assert_refuses(3, ", and the worker admits callers without a token")


async def test_loopback_is_the_operators_if_so_configured_but_not_for_a_proxy(site: Path) -> None:
    http = 'port = 0\nloopback_is_operator = true\nallowed_hosts = ["tools.example.com"]'
    async with serve(site, http=http, env={"ARCADE_WORKER_SECRET": "changeme"}) as served:
        assert "admits the operator alone: the worker's secret is weak" in served.stderr
        assert "HMAC" not in served.stderr
        assert (await served.request("GET", "/worker/tools", [WEAK_TOKEN])).status == 200
        for field in (("X-Forwarded-For", "203.0.113.7"), ("Host", "tools.example.com")):
            answer = await served.request("GET", "/worker/tools", [field, WEAK_TOKEN])
            assert (answer.status, answer.text.partition(".")[0]) == (403, "Only the operator may use this")
            assert (await served.request("GET", "/worker/health", [field])).status == 200


async def test_without_a_secret_the_worker_is_not_served(site: Path) -> None:
    with pytest.raises(ValidationError, match="missing secret: set ARCADE_WORKER_SECRET"):
        WorkerConfig()
    async with serve(site, env={"ARCADE_AUTH_DISABLED": "true"}) as served:
        for path, method in METHODS.items():
            assert (await served.request(method, f"/worker/{path}")).status == 404
        assert "set ARCADE_WORKER_SECRET" in served.stderr


async def test_the_variable_enables_the_plugin_and_mcp_needs_no_token(site: Path) -> None:
    env = {"ARCADE_WORKER_SECRET": SECRET, "PEGBOARD__HOST__LOG_LEVEL": "info"}
    async with Served(site, "[plugins.http]\nport = 0\n", env=env) as served:
        engine = Engine(served, f"Bearer {token()}")
        assert (await engine.invoke("RetBool"))["output"]["value"] is False
        assert (await ask(served, message("tools/list"))).status == 200
        bad = token(exp=now() - 5)
        assert (await engine.ask("GET", "tools", bearer=f"Bearer {bad}")).status == 401
        facts = f"peer='127.0.0.1', path='/worker/tools', token='{fingerprint(bad)}'"
        await served.wait_for_stderr(re.escape(f"refused: a token ({facts})"))
        for hidden in (SECRET, bad):
            assert hidden not in served.stderr
