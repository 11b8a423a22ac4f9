"""Environment variables that set keys: PEGBOARD__..., and those that plugins declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import Field, SecretStr

from pegboard.config import Layer, PluginConfig, validate_section
from pegboard.config.environment import SETTING_KINDS
from pegboard.config.explain import config_show
from pegboard.loading.discovery import find_plugins, is_built_in
from pegboard.loading.plugin_facts import own_facts
from tests.support.config import load, problems

PLACE = "environment variable "


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9000", 9000),
        ('["a", "b"]', ("a", "b")),
        ("127.0.0.1", "127.0.0.1"),
        ("1\nother = 2", "1\nother = 2"),
        ("[" * 3000, "[" * 3000),
    ],
)
def test_a_value_is_toml_or_else_a_string(tmp_path: Path, text: str, value: object) -> None:
    environ = {"PEGBOARD__PLUGINS__ACME__KEY": text, "PEGBOARD_LOG": "x", "PEGBOARD": "y"}
    assert load(tmp_path, environ=environ).plugins["acme"]["key"] == value


def test_a_number_is_a_string_where_a_model_requires_one(tmp_path: Path) -> None:
    class Config(PluginConfig):
        label: str
        pin: SecretStr
        size: int = 0

    names = {"LABEL": "007", "PIN": "12345", "SIZE": "3"}
    environ = {f"PEGBOARD__PLUGINS__ACME__{name}": text for name, text in names.items()}
    config = load(tmp_path, environ=environ | {"PEGBOARD__HOST__VERSION": "1.10"})
    settings = validate_section(config, "plugins", "acme", Config)
    assert settings == Config(label="007", pin=SecretStr("12345"), size=3)
    assert config.host.version == "1.10"


@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_variable_counts_as_unset(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, '[host]\nname = "file"\n', {"PEGBOARD__HOST__NAME": text}).host.name == "file"


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"HOST__TOOL_NAMES": "1"}, 'HOST__TOOL_NAMES: host.tool_names: expected "snake" or "pascal", found text "1"'),
        (
            {"PLUGGINS__HTTP__PORT": "1"},
            (
                "PLUGGINS__HTTP__PORT: after PEGBOARD__ comes HOST, PLUGINS or TOOLKITS, not PLUGGINS; "
                'did you mean "PEGBOARD__PLUGINS__HTTP__PORT"?'
            ),
        ),
        (
            {"PLUGINS__ACME__A": "1", "PLUGINS__ACME__A__B": "2"},
            "PLUGINS__ACME__A__B: plugins.acme.a is set by PEGBOARD__PLUGINS__ACME__A, so it is not a table",
        ),
        (
            {"PLUGINS__ACME": "{ a = 1 }", "PLUGINS__ACME__A__B": "2"},
            "PLUGINS__ACME__A__B: plugins.acme.a is set by PEGBOARD__PLUGINS__ACME, so it is not a table",
        ),
    ],
)
def test_a_problem_names_the_variable(tmp_path: Path, environ: dict[str, str], problem: str) -> None:
    lines = problems(tmp_path, environ={f"PEGBOARD__{name}": text for name, text in environ.items()})
    assert lines == [f"{PLACE}PEGBOARD__{problem}"]


def test_well_known_variables_come_below_our_own_and_above_the_file(tmp_path: Path) -> None:
    environ = {
        "MCP_SERVER_NAME": "alias",
        "MCP_SERVER_VERSION": "2",
        "MCP_SERVER_TITLE": " ",
        "MCP_SERVER_INSTRUCTIONS": "[do]",
        "ARCADE_USER_ID": "someone",
    }
    config = load(tmp_path, '[host]\nname = "file"\ntitle = "file"\n', environ)
    host = config.host
    assert (host.name, host.version, host.title, host.instructions) == ("alias", "2", "file", "[do]")
    assert host.user == "someone"
    assert str(config.source("host.name")) == f"{PLACE}MCP_SERVER_NAME"
    assert load(tmp_path, environ=environ | {"PEGBOARD__HOST__NAME": "7"}).host.name == "7"


def test_lists_are_added_item_by_item(tmp_path: Path) -> None:
    environ = {
        "ARCADE_DISABLED_TOOLS": " Github.DeleteRepo, math_add,,a ",
        "ARCADE_DISABLED_TOOLKITS": "slack",
        "PEGBOARD__HOST__DISABLED_TOOLKITS": '["jira"]',
    }
    config = load(tmp_path, '[host]\ndisabled_tools = [\n  "a",\n]\ndisabled_toolkits = ["gone"]\n', environ)
    assert config.host.disabled_tools == ("a", "Github.DeleteRepo", "math_add")
    assert config.host.disabled_toolkits == ("jira", "slack")
    assert str(config.source(("host", "disabled_tools", 1))) == f"{PLACE}ARCADE_DISABLED_TOOLS"


class Settings(PluginConfig):
    label: str = "none"
    verbose: bool = False
    pin: SecretStr | None = None
    size: int = Field(0, ge=0)


VARIABLES = [
    ("label", "ACME_LABEL", "values"),
    ("verbose", "ACME_VERBOSE", "literals"),
    ("pin", "ACME_PIN", "secrets"),
    ("size", "ACME_SIZE", "values"),
]


def test_a_variable_sets_a_setting(tmp_path: Path) -> None:
    environ = {"ACME_LABEL": "[1]", "ACME_VERBOSE": "true", "ACME_PIN": "1234"}
    config = load(tmp_path, '[plugins.acme]\nlabel = "file"\n', environ)
    settings = validate_section(config, "plugins", "acme", Settings, VARIABLES)
    assert settings == Settings(label="[1]", verbose=True, pin=SecretStr("1234"))
    view = config_show(config, {"plugins": {"acme": settings}})
    assert view.values["plugins"]["acme"]["pin"] == "**********"
    program = Layer("code", {"plugins": {"acme": {"label": "program"}}})
    of_program = validate_section(
        load(tmp_path, environ=environ, overrides=program), "plugins", "acme", Settings, VARIABLES
    )
    assert isinstance(of_program, Settings)
    assert of_program.label == "program"
    wrong = validate_section(
        load(tmp_path, environ={"ACME_VERBOSE": "maybe", "ACME_SIZE": "-1"}), "plugins", "acme", Settings, VARIABLES
    )
    assert isinstance(wrong, list)
    assert list(map(str, wrong)) == [
        f'{PLACE}ACME_VERBOSE: plugins.acme.verbose: expected true or false, found text "maybe"',
        f"{PLACE}ACME_SIZE: plugins.acme.size: expected at least 0, found the number -1",
    ]


def test_text_is_a_boolean_in_variables_only(tmp_path: Path) -> None:
    environ = {"PEGBOARD__HOST__AUTOLOAD": "no", "ACME_VERBOSE": "yes", "VERBOSE": "on"}
    config = load(tmp_path, environ=environ)
    settings = validate_section(config, "plugins", "acme", Settings, VARIABLES)
    assert (config.host.autoload, settings) == (False, Settings(verbose=True))
    referring = load(tmp_path, '[plugins.acme]\nverbose = { env = "VERBOSE" }', {"VERBOSE": "on"})
    assert validate_section(referring, "plugins", "acme", Settings, VARIABLES) == Settings(verbose=True)
    reason = "expected true or false, without quotes"
    assert problems(tmp_path, '[host]\nautoload = "no"') == [f"hostconfig.toml:2: host.autoload: {reason}"]
    wrong = validate_section(load(tmp_path, '[plugins.acme]\nverbose = "true"'), "plugins", "acme", Settings, VARIABLES)
    assert isinstance(wrong, list)
    assert list(map(str, wrong)) == [f"hostconfig.toml:2: plugins.acme.verbose: {reason}"]


def test_a_boolean_is_no_number(tmp_path: Path) -> None:
    lines = problems(tmp_path, "[host]\nthreads = true", {"PEGBOARD__HOST__MAX_RESULT_BYTES": "false"})
    assert lines == [
        f"{PLACE}PEGBOARD__HOST__MAX_RESULT_BYTES: host.max_result_bytes: expected a number, found false",
        "hostconfig.toml:2: host.threads: expected a number, found true",
    ]


def test_the_variables_of_built_in_plugins_set_settings_of_their_kind() -> None:
    models: dict[str, Any] = {
        origin.name: getattr(origin.load(), "Config", None) for origin in find_plugins().origins if is_built_in(origin)
    }
    for name, facts in own_facts().items():
        for _, kind, text in facts.variables(name):
            if kind in SETTING_KINDS:
                annotation = models[name].model_fields[text.removeprefix(f"plugins.{name}.")].annotation
                types = {annotation, *get_args(annotation)}
                assert kind == ("secrets" if SecretStr in types else "literals" if bool in types else "values")
