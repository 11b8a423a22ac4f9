"""Tools that require a token, as clients of either era see them: a stranger's provider, source and adapter."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.support import acme_login
from tests.support.distributions import make_distribution
from tests.support.pool import CONFIG
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

ERAS = pytest.mark.parametrize("modern", [False, True], ids=["session", "modern"])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("acme")
    entry_points = {
        "pegboard.plugins": {"acme_login": "acme_login:AcmePlugin"},
        "pegboard.toolkits": {"desk": "acme_login:kit"},
    }
    make_distribution(site, "acme-login", "1", entry_points, {"acme_login.py": inspect.getsource(acme_login)})
    return site


def wire_of(site: Path, mode: str) -> Wire:
    config = f'{CONFIG}\nuser = "ann"\n[plugins.acme_login]\nmode = "{mode}"\n'
    return Wire(config=config, site=site)


async def call(wire: Wire, name: str, *, modern: bool) -> dict[str, Any]:
    return await wire.result("tools/call", {"name": name, "arguments": {}}, modern=modern)


@ERAS
async def test_a_token_of_a_strangers_reaches_the_tool_and_nobody_else(site: Path, modern: bool) -> None:
    async with wire_of(site, "token") as wire:
        if not modern:
            await wire.initialize()
        assert (await call(wire, "desk_greet", modern=modern))["content"] == [
            {"type": "text", "text": "hello ann, True"}
        ]
        refused = await call(wire, "desk_fails", modern=modern)
        await wire.close()
    assert refused["isError"] is True
    assert refused["content"][0]["text"].startswith("Acme refused.")
    assert refused["_meta"]["pegboard/error"]["kind"] == "UPSTREAM_RUNTIME_AUTH_ERROR"
    assert acme_login.CANARY not in wire.stderr


@ERAS
@pytest.mark.parametrize("purpose", [True, False], ids=["on purpose", "by accident"])
async def test_a_token_of_a_sources_is_masked_in_errors_and_in_the_log(site: Path, modern: bool, purpose: bool) -> None:
    async with wire_of(site, "token") as wire:
        if not modern:
            await wire.initialize()
        params = {"name": "desk_leaks", "arguments": {"purpose": purpose}}
        failed = await wire.result("tools/call", params, modern=modern)
        await wire.close()
    assert failed["isError"] is True
    assert ("no good: ****" in failed["content"][0]["text"]) is purpose
    assert acme_login.CANARY not in str(failed)
    assert acme_login.CANARY not in wire.stderr
    assert ("no good: ****" in wire.stderr) is not purpose


@ERAS
async def test_clients_are_told_what_a_tool_requires(site: Path, modern: bool) -> None:
    async with wire_of(site, "token") as wire:
        if not modern:
            await wire.initialize()
        tools = (await wire.result("tools/list", modern=modern))["tools"]
    assert {tool["name"]: tool.get("_meta", {}).get("pegboard/requirements") for tool in tools} == {
        "desk_elsewhere": {"authorization": {"provider": "github", "type": "oauth2", "scopes": []}},
        "desk_fails": {"authorization": {"provider": "acme", "type": "oauth2", "scopes": []}},
        "desk_greet": {"authorization": {"provider": "acme", "type": "oauth2", "scopes": ["read", "write"]}},
        "desk_guarded": {"scopes": ["work"]},
        "desk_leaks": {"authorization": {"provider": "acme", "type": "oauth2", "scopes": []}},
        "desk_plain": None,
        "desk_who": None,
    }


@ERAS
async def test_without_a_token_the_model_and_the_person_are_told_what_to_do(site: Path, modern: bool) -> None:
    async with wire_of(site, "page") as wire:
        if not modern:
            await wire.initialize()
        page = await call(wire, "desk_greet", modern=modern)
        none = await call(wire, "desk_elsewhere", modern=modern)
        await wire.close()
    url = "https://acme.example/login?who=ann"
    assert page["isError"] is none["isError"] is True
    assert page["content"][0]["text"].splitlines() == [
        f"Authorization required: this tool needs a token of Acme that allows read, write. To allow it, open {url}",
        "",
        "Show the person this address as it is, and ask them to open it. Call the tool again once they have.",
    ]
    detail = page["_meta"]["pegboard/error"]
    assert (detail["kind"], detail["canRetry"]) == ("TOOL_RUNTIME_CONTEXT_REQUIRED", False)
    assert detail["authorizationRequired"] == {
        "provider": "acme",
        "scopes": ["read", "write"],
        "status": "pending",
        "url": url,
        "authorizationId": "a-1",
    }
    assert none["_meta"]["pegboard/error"]["authorizationRequired"] == {
        "provider": "github",
        "scopes": [],
        "status": "not_started",
    }
    assert "a token of GitHub, and there is none for you." in none["content"][0]["text"]
    assert "desk_greet has no token of acme (scopes: read write) for user 'ann': pending" in wire.stderr


@ERAS
async def test_a_source_that_is_broken_is_said_once_to_the_caller_and_told_to_the_log(site: Path, modern: bool) -> None:
    async with wire_of(site, "broken") as wire:
        if not modern:
            await wire.initialize()
        failed = await call(wire, "desk_greet", modern=modern)
        await wire.close()
    assert failed["_meta"]["pegboard/error"]["authorizationRequired"]["status"] == "failed"
    assert failed["_meta"]["pegboard/error"]["canRetry"] is True
    assert "the vault" not in failed["content"][0]["text"]
    assert "the token source acme_login failed for desk_greet: it raised RuntimeError" in wire.stderr
    assert "RuntimeError: the vault is shut" in wire.stderr
