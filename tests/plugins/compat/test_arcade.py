"""Servers and catalogs of tools in the style of Arcade, served by pegboard."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from pegboard import Host, NotFoundError
from pegboard.loading.discovery import Selection
from pegboard_evals import EvalSuite, ExpectedToolCall, MCPToolDefinition
from pegboard_plugins.compat.arcade import (
    Context,
    MCPApp,
    MCPServer,
    MCPSettings,
    Resource,
    ToolCatalog,
    create_arcade_mcp,
    resource,
)
from pegboard_plugins.compat.arcade.mcp_app import TransportType
from pegboard_plugins.compat.arcade.resource_server import AuthorizationServerEntry, ResourceServerAuth
from pegboard_plugins.compat.arcade.types import Prompt, PromptArgument
from pegboard_plugins.compat.fastmcp import UserMessage
from pegboard_testing import PlainClient, accept, connect, reply
from tests.plugins.compat import toolshed
from tests.plugins.compat.bookshop import in_a_thread
from tests.plugins.protocols.worker.conftest import SECRET, token
from tests.support.asgi import lifespan, send
from tests.support.http_mcp import JSON_FIELDS, call, mirrored, modern, opening
from tests.support.issuer import RESOURCE, Issuer
from tests.support.serving import serving
from tools.install import ROOT

OPTIONS: dict[str, Any] = {
    "secrets": {"SHED_KEY": "key-5d0c7a"},
    "tokens": {"github": "token-41b7f2"},
    "hostconfig": {"host": {"user": "ada"}},
}


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def client(request: pytest.FixtureRequest) -> Iterator[PlainClient]:
    with connect(toolshed.app, revision=request.param, **OPTIONS) as client:
        assert client.problems == ()
        yield client


def test_its_tools_are_listed_with_its_names_and_schemas(client: PlainClient) -> None:
    tools = {tool["name"]: tool for tool in client.tools()}
    assert tools["ToolShed_Add"]["title"] == "Add"
    assert tools["ToolShed_Greeting"]["description"] == "Greets."
    assert tools["ToolShed_Greeting"]["_meta"]["com.acme/team"] == "shed"
    assert tools["ToolShed_Old"]["description"].startswith("[DEPRECATED: use Add]")
    assert tools["ToolShed_Lend"]["annotations"] == {"readOnlyHint": False}
    assert tools["ToolShed_Lend"]["inputSchema"]["properties"].keys() == {"loan", "saws", "sizes"}
    assert "The number of teeth." in json.dumps(tools["ToolShed_Lend"]["inputSchema"])
    assert tools["ToolShed_Lend"]["outputSchema"]["description"] == "The record"
    assert tools["ToolShed_Show"]["_meta"]["ui"]["resourceUri"] == "ui://ToolShed/1.2.0/saw.html"


def test_results_and_arguments_have_the_form_of_arcade(client: PlainClient) -> None:
    assert client.call("ToolShed_Add", {"a": 1}).text == "1"
    assert client.call("ToolShed_Greeting", {"name": "Ada"}).text == "Hello Ada"
    swept = client.call("ToolShed_Sweep")
    assert (swept.text, swept.structured) == ("{}", {})
    assert client.call("ToolShed_Lend", {"loan": {"days": 2}, "saws": [{"teeth": 9}]}).structured["sizes"] == []
    lent = client.call("ToolShed_Lend", {"loan": {"days": 2}, "saws": [{"teeth": 9}], "sizes": ["large"]})
    assert lent.structured == {"days": 2, "teeth": 9, "sizes": ["large"]}
    assert client.call("ToolShed_Fail").text == "Try again\n\nlater"


def test_its_context_has_the_values_of_the_call(client: PlainClient) -> None:
    expected = ["key-5d0c7a", "token-41b7f2", "ada", "token-41b7f2", "ada", "none", "SHED_KEY", "key-5d0c7a"]
    assert json.loads(client.call("ToolShed_Unlock").text) == [*expected, "user_id", "ada"]


def test_its_context_uses_the_host(client: PlainClient) -> None:
    report = json.loads(client.call("ToolShed_Chain").text)
    assert report["added"] == [False, {"result": 3}, "3"]
    assert report["swept"] == [False, {}, "{}"]
    assert report["wrong"] == [True, None, "Try again\n\nlater"]
    assert {"ToolShed_Ask", "ToolShed_Chain"} <= set(report["tools"])
    assert {"shed://blob", "shed://file", "shed://text"} <= set(report["resources"])
    assert report["templates"] == ["shed://files/{+path}", "shed://saws/{number}"]
    assert (report["read"], report["blob"]) == ("shed://saws/3 has 3 saws", "AP8=")
    assert (report["prompts"], report["prompt"]) == ([True], "[('topic', 'saws')] ada")
    assert client.logs[0][:2] == ("info", {"message": "chaining", "extra": {"step": 1}})
    assert (1, 2, "half") in [event[:3] for event in client.progress]


def test_its_context_asks(client: PlainClient) -> None:
    client.answer(accept(name="Ada"), accept(), reply("brief"), ["file:///shed"])
    answers = json.loads(client.call("ToolShed_Ask").text)
    assert answers == ["accept", "Ada", "accept", "brief", "file:///shed"]


def test_its_resources_and_prompts(client: PlainClient) -> None:
    assert client.read("shed://files/a/b").raw["contents"] == [
        {"uri": "shed://files/a/b", "mimeType": "text/x-path", "text": "a/b"}
    ]
    assert client.read("shed://text").text == "hello"
    assert client.read("shed://file").text.startswith('"""A server')
    page = client.read("ui://ToolShed/1.2.0/saw.html").raw["contents"][0]
    assert (page["text"], page["mimeType"]) == ("<p>saw</p>", "text/html;profile=mcp-app")
    assert page["_meta"]["ui"]["csp"] == {"connectDomains": ["https://acme.example"]}
    assert client.prompt("review", {"topic": "a", "tone": "b"}).text == "[('tone', 'b'), ('topic', 'a')] ada"


def test_a_running_app_changes() -> None:
    app = MCPApp("shed")
    app.add_tool(toolshed.old)

    @app.tool
    async def restock(context: Context) -> list[str]:
        """Change the app."""
        await app.tools.add(toolshed.later)
        await app.prompts.add(Prompt(name="fresh"))
        await app.resources.add(Resource(uri="shed://fresh", name="fresh"), lambda uri: uri)
        await app.tools.remove("Shed_Old")
        await context.notifications.tools.list_changed()
        listed = [*await app.tools.list(), *await app.prompts.list(), *await app.resources.list()]
        return [item.name for item in listed]

    with connect(app) as client:
        assert json.loads(client.call("Shed_Restock").text) == ["Shed_Restock", "Shed_Later", "fresh", "fresh"]
        assert client.call("Shed_Later").text == "later"
        assert client.read("shed://fresh").text == "shed://fresh"
        assert client.prompt("fresh").text == "Prompt: fresh"
        assert {tool["name"] for tool in client.tools()} == {"Shed_Restock", "Shed_Later"}


def test_prompt_handlers_run_in_threads_and_their_arguments_have_any_name() -> None:
    arguments = [PromptArgument(name="file-name", description="a file", required=True), PromptArgument(name="class")]
    app = MCPApp("shed")
    app.add_prompt(
        Prompt(name="review", arguments=arguments), lambda values: [UserMessage(f"{in_a_thread()} {sorted(values)}")]
    )
    with connect(app) as client:
        [prompt] = client.prompts()
        assert prompt["arguments"] == [
            {"name": "file-name", "description": "a file", "required": True},
            {"name": "class", "required": False},
        ]
        assert client.prompt("review", {"file-name": "a"}).text == "True ['file-name']"
        assert client.prompt("review", {"file-name": "a", "class": "b"}).text == "True ['class', 'file-name']"


def test_async_functions_may_have_a_sync_decorator() -> None:
    app = MCPApp("shed")

    app.add_tool(lambda: asyncio.sleep(0), "Rest.", name="Rest")
    app.add_resource("shed://rest", handler=lambda uri: asyncio.sleep(0, {"text": uri}))
    with connect(app) as client:
        assert client.call("Shed_Rest").structured == {}
        assert client.read("shed://rest").text == "shed://rest"


MODULES = {
    "__init__.py": "from shed_kit.tools import lend",
    "tools.py": """
from pegboard_plugins.compat.arcade import resource, tool
from tests.plugins.compat.toolshed import later

@resource(file="page.html")
def page(): ...

@tool(ui=page)
def lend() -> str:
    \"\"\"Lend.\"\"\"
    return "lent"
""",
    "broken.py": "raise RuntimeError('this module has no tools')",
    "page.html": "<p>page</p>",
    "more/deep/borrow.py": """
from pegboard_plugins.compat.arcade import tool

@tool
def borrow() -> str:
    \"\"\"Borrow.\"\"\"
    return borrow.__tool_name__
""",
}


def test_a_package_of_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in MODULES.items():
        (file := tmp_path / "shed_kit" / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    app = MCPApp()
    app.add_tools_from_module(import_module("shed_kit"))
    with connect(app) as client:
        assert [tool["name"] for tool in client.tools()] == ["ArcadeMCP_Borrow", "ArcadeMCP_Lend"]
        assert client.call("ArcadeMCP_Lend").text == "lent"
        assert client.call("ArcadeMCP_Borrow").text == "Borrow"
        assert client.read("ui://ArcadeMCP/0.1.0/page.html").text == "<p>page</p>"
    assert toolshed.later() == "later"


@pytest.mark.parametrize("pattern", ["ToolShed.Add", "tool_shed.add", "ToolShed_Add"])
def test_its_tools_can_be_disabled(pattern: str) -> None:
    with connect(toolshed.app, hostconfig={"host": {"disabled_tools": [pattern]}}) as client:
        names = {tool["name"] for tool in client.tools()}
    assert "ToolShed_Greeting" in names
    assert "ToolShed_Add" not in names


def test_a_wrong_option_is_named() -> None:
    for option in ("auth", "middleware", "porrt"):
        with pytest.raises(TypeError, match=option):
            MCPApp(**{option: object()})  # type: ignore[arg-type]
    for name, version in (("a__b", "1"), ("_a", "1"), ("a b", "1"), ("a", "one")):
        with pytest.raises(ValueError, match="a"):
            MCPApp(name, version)
    with pytest.raises(TypeError, match="a path or a file"):
        resource()
    with pytest.raises(TypeError, match="use `desc`"):
        MCPApp().add_tool(print, description="a")  # type: ignore[call-arg]
    with pytest.raises(NotFoundError, match="resources"):
        MCPApp().take("resources", "shed://gone")
    with pytest.raises(ValueError, match="pigeon"):
        MCPApp().run(transport="pigeon")


async def test_it_serves_callers_with_tokens_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="MCP_RESOURCE_SERVER_CANONICAL_URL"):
        ResourceServerAuth([])
    monkeypatch.setenv("MCP_RESOURCE_SERVER_CANONICAL_URL", RESOURCE)
    request = modern(call("Shed_Later"))
    fields, body = mirrored(request), json.dumps(request).encode()
    async with Issuer() as issuer:
        entry = AuthorizationServerEntry(issuer.url, issuer.url, f"{issuer.url}/keys")
        app = MCPApp("shed", auth=ResourceServerAuth([entry], default_challenge_scopes=["work"]))
        app.add_tool(toolshed.later)
        async with Host({}, toolkits={"shed": app}, selection=Selection(autoload=False)) as host:
            refusal = await send(host.asgi(), "POST", "/mcp", fields, body).answer()
            metadata = await send(host.asgi(), "GET", "/.well-known/oauth-protected-resource/mcp").answer()
            fields.append(("Authorization", f"Bearer {issuer.token()}"))
            answer = await send(host.asgi(), "POST", "/mcp", fields, body).answer()
    challenge = refusal.get("WWW-Authenticate") or ""
    assert (refusal.status, answer.status) == (401, 200)
    assert metadata.json["authorization_servers"] == [issuer.url]
    assert 'scope="work"' in challenge
    assert "/.well-known/oauth-protected-resource/mcp" in challenge
    assert "later" in answer.text


def test_a_missing_name_is_told_with_a_way_out() -> None:
    for module in ("", ".catalog", ".mcp_app", ".middleware", ".resource_server", ".server", ".settings", ".worker"):
        with pytest.raises(ImportError, match=r"has no 'run_arcade_mcp': .*plugins\.upstreams"):
            _ = import_module(f"pegboard_plugins.compat.arcade{module}").run_arcade_mcp
    assert get_args(TransportType) == ("http", "stdio")


def test_it_serves_the_worker_protocol(tmp_path: Path) -> None:
    variables = {"ARCADE_SERVER_TRANSPORT": "http", "ARCADE_SERVER_PORT": "0", "ARCADE_WORKER_SECRET": SECRET}
    environ = {**os.environ, **variables, "ARCADE_SERVER_RELOAD": "1"}
    with serving([sys.executable, toolshed.__file__], tmp_path, environ) as server:

        def ask(path: str, body: Any = None) -> Any:
            headers = {"Authorization": f"Bearer {token()}", "Content-Type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            url = f"{server.url.removesuffix('/mcp')}/worker/{path}"
            with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
                return json.loads(response.read())

        tools = {tool["fully_qualified_name"]: tool for tool in ask("tools")}
        sweep = {"tool": {"name": "Sweep", "toolkit": "ToolShed"}}
        assert ask("tools/invoke", sweep)["output"]["value"] == {}
    assert "[host] reload has no effect in a program: run `pegboard serve FILE --reload`" in server.stderr
    assert tools["ToolShed.Add"]["toolkit"] == {"name": "ToolShed", "description": "Lends tools.", "version": "1.2.0"}
    outputs = {name: tools[f"ToolShed.{name}"]["output"] for name in ("Add", "Greeting", "Sweep", "Fail")}
    assert {name: (output["description"], output["available_modes"]) for name, output in outputs.items()} == {
        "Add": ("The sum", ["value", "error"]),
        "Greeting": ("The greeting", ["value", "error"]),
        "Sweep": ("No description provided.", ["null"]),
        "Fail": ("No description provided.", ["value", "error"]),
    }


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
