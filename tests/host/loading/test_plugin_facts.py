"""`pegboard_plugin.toml`: facts of plugins of other distributions, which count if the operator names the plugin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.command_config import ignored_settings
from pegboard.config import HostConfig
from pegboard.host import Host
from pegboard.loading.discovery import defaults
from pegboard.loading.plugin_facts import FACTS_FILE
from tests.docs.pages import Page
from tests.support.distributions import make_distribution

PLUGIN = """
from pydantic import SecretStr
from pegboard import PluginConfig
from pegboard.plugin import Plugin

class Settings(PluginConfig):
    url: str = "http://acme.example"
    key: SecretStr | None = None
    debug: bool = False

class Acme(Plugin):
    Config = Settings
    def __init__(self, config: Settings) -> None:
        self.config = config
"""
FACTS = Page("docs/plugin-facts.md").blocks["toml pegboard_plugin.toml"]


def loaded(
    site: Path, facts: str, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], **sections: Any
) -> tuple[Host, list[str]]:
    """Load a host beside an installed plugin. Return the host and its problems."""
    name = "acme_" + site.name
    files = {f"{name}/__init__.py": "", f"{name}/plugin/__init__.py": PLUGIN, f"{name}/plugin/{FACTS_FILE}": facts}
    make_distribution(site, "acme", "1", {"pegboard.plugins": {"acme": f"{name}.plugin:Acme"}}, files)
    monkeypatch.syspath_prepend(site)
    tree = {"host": {"autoload": False}, "plugins": sections}
    host = Host(HostConfig.load(None, environ=environ, defaults=defaults(), overrides=tree, directory=site))
    host.load()
    assert (f"{name}.plugin" in sys.modules) == bool(sections)
    return host, [str(problem) for problem in host.problems]


def settings(host: Host) -> Any:
    (plugin,) = (plugin for plugin in host.report.plugins if plugin.origin.name == "acme")
    return plugin.instance.config


def test_variables_set_keys_of_a_named_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"ACME_URL": "http://b.example", "ACME_DEBUG": "true", "ACME_KEY": "1234", "MCP_SERVER_NAME": "shed"}
    facts = FACTS.replace("[acme.environment]", '[acme.environment]\nMCP_SERVER_NAME = "url"')
    host, (problem,) = loaded(tmp_path, facts, monkeypatch, environ, acme={})
    values = settings(host)
    assert (values.url, values.debug, values.key.get_secret_value()) == ("http://b.example", True, "1234")
    assert host.config.host.name == "shed"
    assert problem.endswith(f"{FACTS_FILE} has the variable MCP_SERVER_NAME, which pegboard has already; rename it")


def test_variables_without_effect_are_reported_if_the_plugin_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"ACME_SPEED": "2", "ACME_THREADS": "3", "ACME_HOME": "here"}
    host, _ = loaded(tmp_path, FACTS, monkeypatch, environ, acme={})
    assert [str(setting) for setting in ignored_settings(host.config, environ)] == [
        "ACME_SPEED is `[plugins.acme] rate` here",
        "ACME_THREADS has no effect here: calls have no threads",
    ]


def test_an_installed_plugin_that_nobody_names_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = FACTS.replace("[acme]", "[acme]\ndefault = true")
    host, problems = loaded(tmp_path, facts, monkeypatch, {"ACME_URL": "http://b.example"})
    assert problems == []
    assert [plugin for plugin in host.report.plugins if plugin.origin.name == "acme"] == []


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ("[acme", "is ignored: "),
        ("[acme]\npolicy = 1", "is ignored: policy: Extra inputs are not permitted"),
        (
            "[acme]\ndefault = true",
            "`default`, `mounts`, `log` or `folders`, which only pegboard may have; remove them",
        ),
        (
            '[[acme.commands.greet.arguments]]\nname = "word"\naliases = ["-w"]\nhelp = "a word"',
            "the argument word has `aliases`, `value`, `repeated`, `key` or `run`, which only an option may have;",
        ),
        (
            '[acme.commands.fax]\nsummary = "f"\nrun = "a:fax"\ncommands = {send = {summary = "s", run = "a:send"}}',
            "a group of commands has `run`, which only its commands may have; remove it",
        ),
        ('[acme.commands.fax]\nrun = "acme:fax"', "state the effect of the command with `summary`"),
    ],
)
def test_an_invalid_file_is_reported_and_the_plugin_runs(
    facts: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, (problem,) = loaded(tmp_path, facts, monkeypatch, {}, acme={})
    assert message in problem
    assert settings(host).url == "http://acme.example"


@pytest.mark.parametrize(("facts", "closes"), [("", True), ('[acme]\npolicies = ["acme"]', False)])
def test_a_plugin_that_states_its_policies_closes_only_these(
    facts: str, closes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"PEGBOARD__HOST__DISABLED_PLUGINS": '["acme"]'}
    monkeypatch.setattr(sys, "modules", {**sys.modules, f"acme_{tmp_path.name}.plugin": None})
    _, problems = loaded(tmp_path, facts, monkeypatch, environ, acme={})
    assert any("may authenticate callers" in problem for problem in problems) == closes


def test_a_module_in_a_shared_folder_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"module_{tmp_path.name}"
    files = {f"{name}.py": PLUGIN, FACTS_FILE: FACTS}
    make_distribution(tmp_path, "acme", "1", {"pegboard.plugins": {"acme": f"{name}:Acme"}}, files)
    monkeypatch.syspath_prepend(tmp_path)
    overrides: dict[str, Any] = {"plugins": {"acme": {}}}
    host = Host(HostConfig.load(None, environ={"ACME_DEBUG": "true"}, overrides=overrides, directory=tmp_path))
    host.load()
    assert not settings(host).debug
