"""Tools that require a token or scopes: a third-party auth provider, token source, error adapter and authenticator."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.support import acme_login
from tests.support.distributions import make_distribution
from tests.support.mcp_client import NEWEST, McpServer, text_of


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("acme")
    entry_points = {
        "pegboard.plugins": {"acme_login": "acme_login:AcmePlugin"},
        "pegboard.toolkits": {"desk": "acme_login:kit"},
    }
    make_distribution(site, "acme-login", "1", entry_points, {"acme_login.py": inspect.getsource(acme_login)})
    return site


def serving(transport: str, site: Path, *, door: bool = False, operator: bool = True) -> McpServer:
    more = f"[plugins.acme_login]\ndoor = {str(door).lower()}"
    return McpServer(transport, site, host='user = "ann"', more=more, operator=operator)


async def test_a_token_reaches_the_tool_and_is_masked_in_errors_and_the_log(transport: str, site: Path) -> None:
    async with serving(transport, site) as server:
        client = await server.client(NEWEST[1])
        assert await client.text("desk_greet") == "hello ann, True"
        assert await client.text("desk_guarded") == "done"  # the operator has every scope
        refused = await client.call("desk_fails")
        assert text_of(refused).startswith("Acme refused.")
        assert refused["_meta"]["pegboard/error"]["kind"] == "UPSTREAM_RUNTIME_AUTH_ERROR"
        for purpose in (True, False):
            failed = await client.call("desk_leaks", purpose=purpose)
            assert failed["isError"] is True
            assert ("no good: ****" in text_of(failed)) is purpose
            assert acme_login.CANARY not in str(failed)
        await server.wait_for_stderr(r"no good: \*\*\*\*")
        assert acme_login.CANARY not in server.stderr
        tools = {tool["name"]: tool.get("_meta", {}) for tool in (await client.result("tools/list"))["tools"]}
        acme = {"authorization": {"provider": "acme", "type": "oauth2", "scopes": ["read", "write"]}}
        requirements = {name: meta.get("pegboard/requirements") for name, meta in tools.items()}
        assert requirements["desk_greet"] == acme
        assert (requirements["desk_guarded"], requirements["desk_who"]) == ({"scopes": ["work"]}, None)


def user(name: str, scopes: str = "", expires: int = 0) -> list[tuple[str, str]]:
    return [("X-User", name), ("X-Scopes", scopes), ("X-Expires", str(expires))]


async def test_a_call_has_the_scopes_of_its_own_token(site: Path) -> None:
    async with serving("http", site, door=True, operator=False) as server:
        for revision in NEWEST:
            client = await server.client(revision, fields=user("ann"))
            for scopes, allowed in (("", False), ("other", False), ("work other", True)):
                client.fields = user("ann", scopes)
                reply = await client.request("tools/call", {"name": "desk_guarded", "arguments": {}})
                if allowed:
                    assert reply.text == "done"
                else:
                    assert (reply.error["code"], reply.error["data"]) == (-32602, {"requiredScopes": ["work"]})
            for scopes, expires, text in (("a", 1, "ann ['a'] 1.0"), ("b", 2, "ann ['b'] 2.0")):
                client.fields = user("ann", scopes, expires)  # a renewed token opens the same session
                assert await client.text("desk_who") == text
            client.fields = user("bob", "a", 1)
            answer = await client.request("tools/call", {"name": "desk_who", "arguments": {}})
            assert answer.text == "bob ['a'] 1.0" if client.modern else answer.status == 404
