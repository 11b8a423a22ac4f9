"""Tools that require a token or scopes, over HTTP: for programs of this machine, and for nobody who is not known."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.support import acme_login
from tests.support.distributions import make_distribution
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, message

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLUGIN = '\n[plugins.acme_login]\nmode = "token"\n'
DOOR = '\n[plugins.acme_login]\nmode = "door"\n'
GUARDED = ["desk_elsewhere", "desk_fails", "desk_greet", "desk_guarded", "desk_leaks"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("acme")
    entry_points = {
        "pegboard.plugins": {"acme_login": "acme_login:AcmePlugin"},
        "pegboard.toolkits": {"desk": "acme_login:kit"},
    }
    make_distribution(site, "acme-login", "1", entry_points, {"acme_login.py": inspect.getsource(acme_login)})
    return site


async def names(served: Served) -> list[str]:
    return [tool["name"] for tool in (await ask(served, message("tools/list"))).result["tools"]]


@pytest.mark.requirement("LIST-10")
async def test_without_proof_tools_with_scopes_are_not_there_and_those_with_tokens_say_why(site: Path) -> None:
    async with Served(site, http_config() + PLUGIN) as served:
        assert await names(served) == [name for name in [*GUARDED, "desk_plain", "desk_who"] if name != "desk_guarded"]
        assert (await ask(served, call("desk_guarded"))).last["error"]["message"] == "Unknown tool: desk_guarded"
        refused = (await ask(served, call("desk_greet"))).result
        assert refused["isError"]
        assert "send the operator token as `Authorization: Bearer`" in refused["content"][0]["text"]
        assert (await ask(served, call("desk_plain"))).result["content"][0]["text"] == "plain"


async def test_they_are_for_the_operator(site: Path) -> None:
    async with Served(site, http_config() + PLUGIN, operator=True) as served:
        assert await names(served) == [*GUARDED, "desk_plain", "desk_who"]
        for name, text in (("desk_greet", "hello None, True"), ("desk_guarded", "done"), ("desk_who", "nobody")):
            assert (await ask(served, call(name))).result["content"][0]["text"] == text
        session = Session(served)
        await session.open()
        result: Any = (await session.post(call("desk_greet"))).result
        assert result["content"][0]["text"] == "hello None, True"


def user(name: str, scopes: str = "", expires: int = 0) -> tuple[tuple[str, str], ...]:
    return ("X-User", name), ("X-Scopes", scopes), ("X-Expires", str(expires))


async def test_the_callers_token_must_allow_what_a_tool_says(site: Path) -> None:
    """Both eras; from loopback, too, once somebody authenticates."""
    async with Served(site, http_config("port = 0") + DOOR) as served:
        for scopes, allowed in (("", False), ("other", False), ("work other", True)):
            fields = {name.replace("-", "_"): text for name, text in user("ann", scopes)}
            modern = (await ask(served, call("desk_guarded"), **fields)).last
            session = Session(served)
            await session.open(**dict(user("ann")))
            legacy = (await session.post(call("desk_guarded"), *user("ann", scopes))).last
            for answer in (modern, legacy):
                if allowed:
                    assert answer["result"]["content"][0]["text"] == "done"
                else:
                    assert answer["error"]["code"] == -32602
                    assert answer["error"]["data"] == {"requiredScopes": ["work"]}


async def test_a_session_is_its_users_whatever_token_they_come_with(site: Path) -> None:
    """A token that was renewed opens the same session, and a call has what its own token says."""
    async with Served(site, http_config("port = 0") + DOOR) as served:
        session = Session(served)
        await session.open(**dict(user("ann", "a", 1)))
        for scopes, expires, told in (("a", 1, "ann ['a'] 1.0"), ("b", 2, "ann ['b'] 2.0")):
            answer = await session.post(call("desk_who"), *user("ann", scopes, expires))
            assert answer.result["content"][0]["text"] == told
        assert (await session.post(call("desk_who"), *user("bob", "a", 1))).status == 404
