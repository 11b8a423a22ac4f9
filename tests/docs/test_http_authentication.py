"""The page about the front door: its settings and its curl lines do what it says."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

from pegboard.plugin import SECRET_BYTES, fingerprint
from pegboard.routing.refusal_log import MAX_LINES, PERIOD_SECONDS
from pegboard_plugins.auth_token import AuthTokenConfig
from pegboard_plugins.resource_server import ResourceServerConfig
from pegboard_plugins.resource_server.introspection import MAX_CONCURRENT, MAX_CONCURRENT_PER_PEER
from pegboard_plugins.resource_server.introspection_queue import MAX_ASKED, MAX_ASKED_PER_PEER, REFUSED_SECONDS
from pegboard_plugins.resource_server.servers import AuthorizationServer, Introspection
from pegboard_plugins.resource_server.settings import with_implied
from pegboard_plugins.scopes import ScopesConfig
from tests.docs.pages import Page, serving
from tests.support.environments import run
from tools.install import ROOT

PAGE = Page("docs/http-authentication.md")
LONG = "0123456789abcdefghijklmnopqrstuvwxyz"


def answered(folder: Path, settings: str, lines: str) -> str:
    """Return the output of lines of the page, run against a server with settings of the page."""
    (folder / "hostconfig.toml").write_text(PAGE.blocks.get(settings, ""), "utf-8")
    state = {"PEGBOARD_STATE_DIR": str(folder / "state"), "DOOR_TOKEN": LONG, "ARCADE_DISABLED_TOOLKITS": "github"}
    with serving(folder, "--config", "hostconfig.toml", env=state) as address:
        script = PAGE.blocks[lines].replace("http://127.0.0.1:8000", address)
        script = script.replace("pegboard operator-token", f"{sys.executable} -m pegboard operator-token")
        return run("sh", "-c", script, cwd=folder, env={**os.environ, **state})


def test_the_curl_lines_are_answered(tmp_path: Path) -> None:
    shown = answered(tmp_path, "toml file=hostconfig.toml", "sh curl")
    assert shown.startswith("401 Bearer\n")
    assert '"isError":false' in shown
    assert shown.endswith("ok\n")


def test_the_operators_curl_line_is_answered(tmp_path: Path) -> None:
    assert '"isError":false' in answered(tmp_path, "", "sh operator")


def test_what_needs_scopes_is_refused_as_the_page_shows(tmp_path: Path) -> None:
    shown = answered(tmp_path, "toml scopes", "sh scopes")
    assert f"\n    {shown}" in PAGE


def test_the_table_of_scopes_has_every_key() -> None:
    told = re.findall(r"^\| ((?:`\w+`,? ?)+) \| .* \| .* \|$", PAGE.partition("## Scopes\n")[2], re.M)
    keys = [key for row in told for key in re.findall(r"`(\w+)`", row)]
    assert sorted(keys) == sorted(ScopesConfig.model_fields)


def test_a_caller_may_have_two_tokens() -> None:
    text = re.sub(r'\{ env = "(\w+)" \}', rf'"{LONG}-\1"', PAGE.blocks["toml callers"]).replace("_TOKEN", "-T")
    config = AuthTokenConfig.model_validate(tomllib.loads(text)["plugins"]["auth_token"])
    assert {one.subject for one in config.named.values()} == {"ada"}


def test_the_settings_of_the_resource_server_are_whole() -> None:
    config = ResourceServerConfig.model_validate(
        tomllib.loads(PAGE.blocks["toml resource"])["plugins"]["resource_server"]
    )
    assert config.metadata_url == "https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    keys = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## Scopes\n")[0], re.M)
    assert sorted([*keys, "issuer"]) == sorted(AuthorizationServer.model_fields)


def test_scopes_hold_others_as_the_page_says() -> None:
    given = tomllib.loads(PAGE.blocks["toml resource"])["plugins"]["resource_server"]
    given |= tomllib.loads(PAGE.blocks["toml implied"])["plugins"]["resource_server"]
    implied = ResourceServerConfig.model_validate(given).implied_scopes
    assert with_implied(["admin"], implied) == {"admin", "write", "read"}


def test_servers_are_asked_as_the_page_says() -> None:
    text = PAGE.blocks["toml introspection"].replace('{ env = "TOOLS_CLIENT_SECRET" }', '"x"')
    given = {"resource": "https://tools.example.com/mcp", **tomllib.loads(text)["plugins"]["resource_server"]}
    (server,) = ResourceServerConfig.model_validate(given).authorization_servers
    assert server.introspection
    for text in (
        f"asked {MAX_CONCURRENT} questions at once, {MAX_CONCURRENT_PER_PEER} of them for one peer",
        f"Up to {MAX_ASKED} tokens wait, {MAX_ASKED_PER_PEER} of one peer",
        f"a refusal for {REFUSED_SECONDS:g} seconds at most",
        f"lane with {MAX_CONCURRENT} places",
    ):
        assert text in PAGE.words
    assert all(f"`{name}" in PAGE for name in Introspection.model_fields if not name.startswith("client"))


def test_what_is_kept_of_refusals() -> None:
    """The kinds of lines are those that the code writes; the numbers are its numbers."""
    kinds = re.findall(r"^\| `refused: ([a-z ]+)` \|", PAGE, re.M)
    sources = [path.read_text("utf-8") for folder in ("host", "plugins") for path in (ROOT / folder).rglob("*.py")]
    written = {kind for text in sources for kind in re.findall(r'\.refused\(\s*"([^"]+)"', text)}
    assert sorted(kinds) == sorted(written)
    assert f"no more than {MAX_LINES} lines a minute" in PAGE
    assert (PERIOD_SECONDS, len(fingerprint("x"))) == (60, 12)


def test_the_numbers_of_the_page() -> None:
    assert f"shorter than {SECRET_BYTES} characters" in PAGE
    default = {name: field.default for name, field in ResourceServerConfig.model_fields.items()}
    for name in (
        "refresh_seconds",
        "refresh_interval_seconds",
        "verified_seconds",
        "introspected_seconds",
        "fetch_seconds",
    ):
        assert f"`{name}` ({default[name]})" in PAGE
    assert (default["max_age_seconds"], default["leeway_seconds"]) == (24 * 3600, 30)
    assert "known keys serve until they are `max_age_seconds` (a day) old" in PAGE.words
    assert "more than the 30 seconds of" in PAGE
