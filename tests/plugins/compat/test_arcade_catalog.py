"""Catalogs of tools in the style of Arcade, served by pegboard."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard_evals import EvalSuite, ExpectedToolCall, MCPToolDefinition
from pegboard_plugins.compat.arcade import MCPServer, MCPSettings, ToolCatalog, create_arcade_mcp
from pegboard_plugins.compat.arcade.resource_server import AuthorizationServerEntry, ResourceServerAuth
from pegboard_testing import connect
from tests.plugins.compat import toolshed
from tests.plugins.protocols.worker.conftest import SECRET, token
from tests.support.asgi import lifespan, send
from tests.support.http_mcp import JSON_FIELDS, opening
from tests.support.issuer import RESOURCE
from tools.install import ROOT

ORIGIN = "https://app.example"
PROGRAM = """
from pegboard_plugins.compat.arcade.catalog import ToolCatalog
from pegboard_plugins.compat.arcade.server import MCPServer
from tests.plugins.compat.toolshed import later

catalog = ToolCatalog()
catalog.add_tool(later, "shed")
MCPServer(catalog, version="2").run()
"""


def catalog() -> ToolCatalog:
    catalog = ToolCatalog()
    catalog.add_tool(toolshed.later, "tool_shed", toolkit_version="1.2.0", toolkit_description="Lends tools.")
    catalog.add_module(toolshed, "barn")
    catalog.add_module(toolshed)
    return catalog


def empty() -> ToolCatalog:
    catalog = ToolCatalog()
    catalog.add_module(json)
    return catalog


def test_its_tools_and_resources_have_the_names_of_their_toolkits() -> None:
    with connect(MCPServer(catalog(), name="the shed")) as client:
        assert client.problems == ()
        assert {tool["name"] for tool in client.tools()} == {
            "ToolShed_Later",
            *(f"{kit}_{name}" for kit in ("Barn", "Toolshed") for name in ("Later", "Old", "Show")),
        }
        assert client.call("ToolShed_Later").text == "later"
        assert client.call("Barn_Old", {"a": 3}).text == "3"
        assert client.tool("Barn_Show")["_meta"]["ui"]["resourceUri"] == "ui://Barn/0.1.0/saw.html"
        assert client.read("ui://Barn/0.1.0/saw.html").text == "<p>saw</p>"


def test_a_program_serves_it_over_stdio_under_the_name_of_the_variable(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(PROGRAM)
    environ = {**os.environ, "MCP_SERVER_NAME": "the shed", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "server.py"],
        cwd=tmp_path,
        env=environ,
        input=json.dumps(opening()) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    server = json.loads(done.stdout)["result"]["serverInfo"]
    assert (server["name"], server["version"]) == ("the shed", "2.0.0")


async def test_it_is_an_asgi_application_with_both_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADE_WORKER_SECRET", SECRET)
    settings = MCPSettings.from_env()
    settings.server.name = "the shed"
    app = create_arcade_mcp(catalog(), settings, debug=True, allowed_origins=[ORIGIN])
    fields = [("Authorization", f"Bearer {token()}"), *JSON_FIELDS]
    invoked = {"tool": {"name": "Show", "toolkit": "Barn"}}
    async with lifespan(app):
        opened = await send(
            app, "POST", "/mcp", [*JSON_FIELDS, ("Origin", ORIGIN)], json.dumps(opening()).encode()
        ).answer()
        tools = (await send(app, "GET", "/worker/tools", fields).answer()).json
        answer = await send(app, "POST", "/worker/tools/invoke", fields, json.dumps(invoked).encode()).answer()
    assert opened.get("Access-Control-Allow-Origin") == ORIGIN
    assert '"the shed"' in opened.text
    assert {tool["fully_qualified_name"]: tool["toolkit"] for tool in tools}["ToolShed.Later"] == {
        "name": "ToolShed",
        "description": "Lends tools.",
        "version": "1.2.0",
    }
    assert answer.json["output"]["value"] == "shown"


async def test_without_a_secret_it_has_no_worker_and_callers_may_need_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCADE_WORKER_SECRET", raising=False)
    url = "https://issuer.example"
    issuer = AuthorizationServerEntry(url, url, f"{url}/keys")
    app = create_arcade_mcp(catalog(), resource_server_validator=ResourceServerAuth([issuer], RESOURCE))
    async with lifespan(app):
        assert (await send(app, "GET", "/worker/health").answer()).status == 404
        refused = await send(app, "POST", "/mcp", JSON_FIELDS, json.dumps(opening()).encode()).answer()
    assert refused.status == 401


def test_it_limits_the_tools_of_a_suite() -> None:
    served: list[MCPToolDefinition] = [{"name": "ToolShed_Later"}, {"name": "ToolShed_Greeting"}]
    functions = {"ToolShed_Later": toolshed.later.definition.function, "ToolShed_Greeting": toolshed.greet}
    limited = ToolCatalog()
    limited.add_tool(toolshed.later, "tool_shed")
    suite = EvalSuite("suite", "system", catalog=limited)
    suite.add_case("a", "later", [ExpectedToolCall(toolshed.later)])
    assert [tool["name"] for tool in suite.bind(served, functions)[""]] == ["ToolShed_Later"]


@pytest.mark.parametrize(
    ("mistake", "kind", "advice"),
    [
        (lambda: MCPServer(empty()), ValueError, "the toolkit 'json' has no tools: .*--tool-package json"),
        (lambda: MCPServer(catalog()).start(), AttributeError, r"MCPServer\.start .*run\(\)"),
        (lambda: MCPServer(catalog(), auth_disabled=True), TypeError, "http-authentication"),
        (lambda: create_arcade_mcp(catalog(), otel_enable=True), TypeError, "plugins.opentelemetry"),
        (lambda: ToolCatalog().add_tool(toolshed.later), ValueError, "None is not the name of an app or toolkit"),
        (lambda: MCPSettings().middleware, AttributeError, r"MCPSettings\.middleware .*hostconfig\.toml"),
    ],
)
def test_what_pegboard_lacks_names_the_way_out(mistake: Callable[[], Any], kind: type[Exception], advice: str) -> None:
    with pytest.raises(kind, match=advice):
        mistake()
