"""The pages about HTTP, its front door and the worker protocol: settings and curl lines do what they say."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from pegboard_plugins.auth.auth_token import AuthTokenConfig
from pegboard_plugins.auth.resource_server.conversions import with_implied
from pegboard_plugins.auth.resource_server.settings import AuthorizationServer, Introspection, ResourceServerConfig
from pegboard_plugins.auth.scopes import ScopesConfig
from tests.docs.pages import Page, serving
from tests.support.environments import run
from tests.support.sdk import sdk_python
from tools.install import ROOT

PAGE = Page("docs/http-authentication.md")
LONG = "0123456789abcdefghijklmnopqrstuvwxyz"


def answered(folder: Path, settings: str, lines: str) -> str:
    """Return the output of lines of the page, run against a server with settings of the page."""
    (folder / "hostconfig.toml").write_text(PAGE.blocks.get(settings, ""), "utf-8")
    state = {"PEGBOARD_STATE_DIR": str(folder / "state"), "DOOR_TOKEN": LONG, "ARCADE_DISABLED_TOOLKITS": "github"}
    state["BOB_TOKEN"] = LONG[::-1]
    with serving(folder, "--config", "hostconfig.toml", env=state) as address:
        script = PAGE.blocks[lines].replace("http://127.0.0.1:8000", address)
        script = re.sub("pegboard (?=call|operator-token)", f"{sys.executable} -m pegboard ", script)
        return run("sh", "-c", script, cwd=folder, env={**os.environ, **state})


def test_the_lines_are_answered(tmp_path: Path) -> None:
    shown = answered(tmp_path, "toml file=hostconfig.toml", "sh curl")
    assert shown.startswith("401 Bearer\n")
    assert '"roots"' in shown
    assert shown.endswith("ok\n")


def test_the_operators_line_is_answered(tmp_path: Path) -> None:
    assert '"roots"' in answered(tmp_path, "", "sh operator")


def test_what_needs_scopes_is_refused_as_the_page_shows(tmp_path: Path) -> None:
    shown = answered(tmp_path, "toml scopes", "sh scopes")
    assert f"\n    {shown}" in PAGE


def test_a_caller_sees_what_its_scopes_allow(tmp_path: Path) -> None:
    shown = answered(tmp_path, "toml two-callers", "sh two-callers")
    assert set(re.findall(r'"name":"([a-z]+)_', shown)) == {"math"}


def test_the_table_of_scopes_has_every_key() -> None:
    rows = re.findall(r"^\| ((?:`\w+`,? ?)+) \| .* \| .* \|$", PAGE.partition("## Scopes\n")[2], re.M)
    keys = [key for row in rows for key in re.findall(r"`(\w+)`", row)]
    assert sorted(keys) == sorted(ScopesConfig.model_fields)


def test_the_settings_of_the_resource_server_are_complete() -> None:
    settings = tomllib.loads(PAGE.blocks["toml resource"])["plugins"]["resource_server"]
    settings |= tomllib.loads(PAGE.blocks["toml implied"])["plugins"]["resource_server"]
    config = ResourceServerConfig.model_validate(settings)
    assert config.metadata_url == "https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    assert with_implied(["admin"], config.implied_scopes) == {"admin", "write", "read"}
    keys = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## Scopes\n")[0], re.M)
    assert sorted([*keys, "issuer"]) == sorted(AuthorizationServer.model_fields)
    callers = re.sub(r'\{ env = "(\w+)" \}', rf'"{LONG}-\1"', PAGE.blocks["toml callers"]).replace("_TOKEN", "-T")
    named = AuthTokenConfig.model_validate(tomllib.loads(callers)["plugins"]["auth_token"]).named
    assert {caller.subject for caller in named.values()} == {"ada"}


def test_the_settings_of_introspection_are_valid_and_complete() -> None:
    text = PAGE.blocks["toml introspection"].replace('{ env = "TOOLS_CLIENT_SECRET" }', '"x"')
    settings = {"resource": "https://tools.example.com/mcp", **tomllib.loads(text)["plugins"]["resource_server"]}
    (server,) = ResourceServerConfig.model_validate(settings).authorization_servers
    assert server.introspection
    assert all(f"`{name}" in PAGE for name in Introspection.model_fields if not name.startswith("client"))


def test_the_page_lists_every_kind_of_refusal() -> None:
    kinds = re.findall(r"^\| `refused: ([a-z ]+)` \|", PAGE, re.M)
    sources = [path.read_text("utf-8") for folder in ("host", "plugins") for path in (ROOT / folder).rglob("*.py")]
    written = {kind for text in sources for kind in re.findall(r'\.refused\(\s*"([^"]+)"', text)}
    assert sorted(kinds) == sorted(written)


def test_the_lines_of_http_are_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        script = Page("docs/http.md").blocks["sh http"].replace("http://127.0.0.1:8000", address)
        script = script.replace("pegboard call", f"{sys.executable} -m pegboard call")
        shown = run("sh", "-ec", script, cwd=tmp_path)
    assert '"roots"' in shown.partition("jsonrpc")[0]
    assert '"isError":false' in shown
    assert shown.endswith("ready\n")


@pytest.mark.timeout(600)  # the first run makes the environment
@pytest.mark.parametrize("token", ["", "0123456789" * 4])
def test_the_client_of_the_official_sdk_is_answered(token: str, tmp_path: Path) -> None:
    project = Page("docs/http.md").write(tmp_path)
    (project / "own.toml").write_text("[plugins.auth_token]\ntoken = {env = 'DOOR_TOKEN'}\n" if token else "")
    own = {"DOOR_TOKEN": token}
    with serving(project, "--config", "own.toml", env=own) as address:
        shown = run(sdk_python("2"), "ask.py", cwd=project, env={**own, "MCP_URL": f"{address}/mcp"})
    assert "'roots': [" in shown


def test_the_curl_lines_for_the_worker_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADE_WORKER_SECRET", "0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("ARCADE_DISABLED_TOOLKITS", "github")
    with serving(tmp_path) as address:
        script = Page("docs/worker.md").blocks["sh worker"].replace("http://127.0.0.1:8000", address)
        command = Path(sys.executable).with_name("pegboard")
        answer = json.loads(run("sh", "-c", script.replace("pegboard token", f"{command} token"), cwd=tmp_path))
    assert answer["success"] is True
    assert answer["output"]["value"]["roots"]
