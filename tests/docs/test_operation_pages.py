"""The examples, settings and tables of the pages about discovery, diagnosis, reloads, the vault and logins."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from pegboard import Host, ToolResult
from pegboard.cli.parsing.declared_commands import declared_checks, host_tables
from pegboard.loading.plugin_facts import own_facts
from pegboard.plugin import PluginError
from pegboard.types import Call
from pegboard.types.reloads import ReloadResult
from pegboard_plugins.auth.login.settings import LoginConfig
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.operation.lock import LockConfig
from pegboard_plugins.toolkit_sources.local_files import LocalFilesConfig
from pegboard_plugins.toolkit_sources.tool_packages import ToolPackagesConfig
from tests.docs.pages import Page, pegboard

DIAGNOSIS, DISCOVERY, RELOAD = (Page(f"docs/{name}.md") for name in ("diagnosis", "discovery", "reload"))
MODELS: dict[str, Any] = {
    "local_files": LocalFilesConfig,
    "lock": LockConfig,
    "login": LoginConfig,
    "tool_packages": ToolPackagesConfig,
    "vault": VaultConfig,
}


def test_the_file_of_the_page_is_served(tmp_path: Path) -> None:
    listed = pegboard("list", "--file", ".", cwd=DISCOVERY.write(tmp_path))
    assert (listed.code, listed.out.split()[0]) == (0, "demo_add")


async def test_a_plugin_finds_a_toolkit() -> None:
    plugin = DISCOVERY.module("greetings.py").GreetingsPlugin
    async with Host({"host": {"autoload": False}, "plugins": {"greet": {}}}, plugins={"greet": plugin}) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "greetings_hello", "arguments": {"name": "Ada"}}))
    assert outcome == ToolResult("Hello Ada")


async def test_a_plugin_serves_the_toolkits_of_a_folder(tmp_path: Path) -> None:
    plugin = DISCOVERY.module("handy.py").HandyPlugin
    settings = {"host": {"autoload": False}, "plugins": {"handy": {"folder": str(tmp_path / "handy")}}}
    with pytest.raises(PluginError, match=r"there is no folder .*handy: correct \[plugins.handy\] folder"):
        await Host(settings, plugins={"handy": plugin}).start()
    DISCOVERY.write(tmp_path / "handy")
    async with Host(settings, plugins={"handy": plugin}) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "demo_add", "arguments": {"a": 1, "b": 2}}))
    assert outcome == ToolResult(3, structured=True)


def test_a_failure_as_json(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_text('[host]\nnmae = "shed"\n')
    failed = pegboard("list", "--json", "--config", "hostconfig.toml", cwd=tmp_path)
    assert (failed.code, json.loads(failed.out)) == (3, json.loads(DIAGNOSIS.blocks["json"]))


def test_the_tables_are_complete() -> None:
    checks = re.findall(r"^\| (?!check \|)([A-Za-z' ]+) \|", DIAGNOSIS, re.M)
    added = [check for facts in own_facts().values() for check in declared_checks(facts.commands, "doctor")]
    assert set(checks) >= {check.name for check in (*declared_checks(host_tables(), "doctor"), *added)}
    outcomes = re.findall(r"`([^`]+)`", "".join(re.findall(r"^\| (`.*?) \| (?:the|only)", RELOAD, re.M)))
    assert set(outcomes) >= set(get_args(get_type_hints(ReloadResult)["outcome"]))


@pytest.mark.parametrize("page", ["discovery", "lock", "login", "vault"])
def test_the_settings_are_valid(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools").mkdir()
    for path in ("tools/weather.py", "more"):
        (tmp_path / path).touch()
    blocks = re.findall(r"^ *```toml (?!file=)[^\n]*\n(.*?)^ *```$", Page(f"docs/{page}.md"), re.M | re.S)
    for block in blocks:
        tree = tomllib.loads(re.sub(r'\{ env = "\w+" \}', f'"{"0f1e2d3c" * 4}"', block))
        for name, section in tree.get("plugins", {}).items():
            MODELS[name].model_validate(section)
    assert blocks
