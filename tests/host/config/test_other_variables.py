"""Environment variables of arcade-mcp: each sets a key or causes a warning. Misspelled names are reported.

`docs/environment.md` has the key of each variable.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.command_config import ignored_variables
from pegboard.config import HostConfig, HostSection
from pegboard.config.problems import undotted
from pegboard.loading.discovery import defaults, find_plugins
from pegboard.messages.argument_errors import step
from tests.support.config import load

NAMES = defaults()["environment"]
RENAMED = NAMES["renamed"]
KINDS: dict[str, tuple[str, Any]] = {
    "values": ("[9]", "[9]"),
    "literals": ("true", True),
    "secrets": ("s", {"env": "ARCADE_WORKER_SECRET"}),
    "choices": ("stdio, http", ["stdio", "http"]),
    "lists": ("A.b, c", ["A.b", "c"]),
}
"""A text and its value, for each kind of variable."""


def warnings(**environ: str) -> list[str]:
    return list(map(str, ignored_variables(environ, NAMES)))


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in NAMES.get(kind, ())])
def test_a_variable_sets_its_key(kind: str, name: str, tmp_path: Path) -> None:
    text, expected = KINDS[kind]
    key = NAMES[kind][name]
    config = load(tmp_path, environ={name: text}, collect=True)
    node: Any = config.sources.tree
    for part in undotted(key):
        node = step(node, part)
    assert node == expected
    assert str(config.source(key)) in (f"environment variable {name}", "default")  # a table has no source of its own
    assert warnings(**{name: text}) == []


@pytest.mark.parametrize("name", [*RENAMED, *NAMES["unused"]])
def test_a_variable_without_effect_causes_a_warning(tmp_path: Path, name: str) -> None:
    assert HostConfig.load(environ={name: "1"}, directory=tmp_path).sources.tree == {}
    (warning,) = warnings(**{name: "1"})
    assert warning.startswith(f"{name} is `{RENAMED[name]}`" if name in RENAMED else f"{name} has no effect here: ")
    assert warnings(**{name: " "}) == []


@pytest.mark.needs("auth")
@pytest.mark.parametrize("name", NAMES.get("of_plugins", []))
def test_a_variable_of_a_disabled_plugin_causes_a_warning(name: str) -> None:
    (warning,) = warnings(**{name: "1"})
    assert warning == f"{name} has no effect here: only [plugins.arcade_cloud] uses it, which is disabled"
    assert list(ignored_variables({name: "1"}, NAMES, ["arcade_cloud"])) == []


@pytest.mark.needs("auth")
def test_a_warning_names_an_existing_key() -> None:
    models: dict[str, Any] = {
        f"plugins.{origin.name}": getattr(origin.load(), "Config", None)
        for origin in find_plugins().origins
        if origin.entry_point
    }
    models["host"] = HostSection
    for setting in NAMES["renamed"].values():
        table, key = re.match(r"\[(.+)\] (\w+)", setting).groups()  # type: ignore[union-attr]  # it matches
        assert key in models[table].model_fields


@pytest.mark.needs("worker")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MCP_SERVER_NAM", "MCP_SERVER_NAME"),
        ("mcp_server_name", "MCP_SERVER_NAME"),
        ("MPC_SERVER_TITLE", "MCP_SERVER_TITLE"),
        ("ARCADE_SERVER_PROT", "ARCADE_SERVER_PORT"),
        ("ARCADE_WORKERS_SECRET", "ARCADE_WORKER_SECRET"),
        ("PEGBOARD_HOST_NAME", "PEGBOARD__HOST__NAME"),
        ("PEGBORD__HOST__PAGE_SIZE", "PEGBOARD__HOST__PAGE_SIZE"),
        ("PEG_BOARD_PLUGINS__HTTP__PORT", "PEGBOARD__PLUGINS__HTTP__PORT"),
        ("PEGBOARD_PLUGINS_HTTP_PORT", "PEGBOARD__PLUGINS__NAME__KEY"),
        ("PEGBOARD_CONFG", "PEGBOARD_CONFIG"),
    ],
)
def test_a_misspelled_name_is_reported(name: str, meant: str) -> None:
    assert warnings(**{name: "x"}) == [f'the environment variable {name} has no effect; did you mean "{meant}"?']


def test_names_of_other_programs_are_not_reported() -> None:
    foreign = ("MCP_TIMEOUT", "MCP_TOOL_TIMEOUT", "MCP_SERVER_PORT", "MAX_MCP_OUTPUT_TOKENS", "ARCADE_GAME", "MCP_HOST")
    own = ("PEGBOARD_CONFIG", "PEGBOARD_STATE_DIR", "PEGBOARD__HOST__NAME", "PEGBOARD_ADMIN_TOKEN", "PATH")
    assert warnings(**dict.fromkeys((*foreign, *own), "x")) == []
