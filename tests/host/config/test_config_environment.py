"""What the environment says: its own names for every key, and the existing system's well-known ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from pegboard.config import HostConfig, PluginConfig, validate_section
from pegboard.errors import ConfigError
from pegboard.loading.discovery import defaults

NAMES = {"environment": defaults()["environment"]}


def load(tmp_path: Path, environ: dict[str, str], text: str = "") -> HostConfig:
    (tmp_path / "hostconfig.toml").write_text(text, "utf-8")
    return HostConfig.load(Path("hostconfig.toml"), environ=environ, defaults=NAMES, directory=tmp_path)


def problem(tmp_path: Path, environ: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, environ)
    [one] = caught.value.problems
    return str(one)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9000", 9000),
        ("true", True),
        ('["a", "b"]', ("a", "b")),
        ("127.0.0.1", "127.0.0.1"),
        ('"quoted"', "quoted"),
        ("", ""),
        ("a = b", "a = b"),
        ("1\nother = 2", "1\nother = 2"),
        ("[" * 3000, "[" * 3000),
    ],
)
def test_a_value_is_toml_or_else_text(tmp_path: Path, text: str, value: object) -> None:
    assert load(tmp_path, {"PEGBOARD__PLUGINS__ACME__KEY": text}).plugins["acme"]["key"] == value


def test_a_table_may_be_given_whole_and_added_to(tmp_path: Path) -> None:
    environ = {"PEGBOARD__PLUGINS__ACME": '{a = 1, b = "x"}', "PEGBOARD__PLUGINS__ACME__A": "2"}
    assert dict(load(tmp_path, environ).plugins["acme"]) == {"a": 2, "b": "x"}


@pytest.mark.parametrize("name", ["PEGBOARD__TOOLKITS__MY_KIT__MAXSIZE", "pegboard__toolkits__my_kit__maxSize"])
def test_names_mean_the_key_that_is_spelt_with_other_case_or_hyphens(tmp_path: Path, name: str) -> None:
    config = load(tmp_path, {name: "2"}, "[toolkits.My-Kit]\nmaxSize = 1\n")
    assert {key: dict(section) for key, section in config.toolkits.items()} == {"My-Kit": {"maxSize": 2}}


def test_a_number_is_text_where_a_model_wants_text(tmp_path: Path) -> None:
    class Config(PluginConfig):
        label: str
        pin: SecretStr
        path: Path | None = None
        version: str | None = None
        size: int = 0

    names = {"LABEL": "007", "PIN": "12345", "PATH": "8", "VERSION": "1.10", "SIZE": "3"}
    config = load(tmp_path, {f"PEGBOARD__PLUGINS__ACME__{name}": text for name, text in names.items()})
    settings = validate_section(config, "plugins", "acme", Config)
    assert isinstance(settings, Config)
    assert (settings.label, settings.pin.get_secret_value(), settings.path) == ("007", "12345", Path("8"))
    assert (settings.version, settings.size) == ("1.10", 3)
    host = load(tmp_path, {"PEGBOARD__HOST__VERSION": "1.10", "PEGBOARD__HOST__USER": "true"}).host
    assert (host.version, host.user) == ("1.10", "true")


def test_text_that_is_taken_back_and_still_wrong_is_told(tmp_path: Path) -> None:
    assert problem(tmp_path, {"PEGBOARD__HOST__TOOL_NAMES": "1"}) == (
        'environment variable PEGBOARD__HOST__TOOL_NAMES: host.tool_names: expected "snake" or "pascal", found text "1"'
    )


def test_a_number_that_is_out_of_bounds_stays_a_number(tmp_path: Path) -> None:
    assert problem(tmp_path, {"PEGBOARD__HOST__THREADS": "5000"}).endswith(
        "expected at most 1000, found the number 5000"
    )


def test_a_list_given_as_text_is_told(tmp_path: Path) -> None:
    assert problem(tmp_path, {"PEGBOARD__HOST__TRANSPORTS": "stdio"}) == (
        'environment variable PEGBOARD__HOST__TRANSPORTS: host.transports: expected a list, found text "stdio"'
    )


def test_what_is_wrong_names_the_variable(tmp_path: Path) -> None:
    start = "environment variable "
    assert problem(tmp_path, {"PEGBOARD__HOST__NMAE": "x"}) == (
        start + 'PEGBOARD__HOST__NMAE: host.nmae: unknown key; did you mean "name"?'
    )
    assert problem(tmp_path, {"PEGBOARD__PLUGINS__HTTP": "on"}) == (
        start + "PEGBOARD__PLUGINS__HTTP: plugins.http: expected a table, such as [plugins.http]"
    )
    assert problem(tmp_path, {"PEGBOARD__PLUGGINS__HTTP__PORT": "1"}) == (
        start + "PEGBOARD__PLUGGINS__HTTP__PORT: after PEGBOARD__ comes HOST, PLUGINS or TOOLKITS, not PLUGGINS; "
        'did you mean "PEGBOARD__PLUGINS__HTTP__PORT"?'
    )
    for name in ("PEGBOARD__", "PEGBOARD__HOST__", "PEGBOARD__HOST____NAME"):
        assert problem(tmp_path, {name: "x"}).startswith(f"{start}{name}: a part of its name is empty")


def test_a_key_below_a_value_is_told(tmp_path: Path) -> None:
    environ = {"PEGBOARD__PLUGINS__ACME__A": "1", "PEGBOARD__PLUGINS__ACME__A__B": "2"}
    assert problem(tmp_path, environ) == (
        "environment variable PEGBOARD__PLUGINS__ACME__A__B: "
        "plugins.acme.a is set by PEGBOARD__PLUGINS__ACME__A and is no table"
    )


def test_other_variables_of_this_program_are_not_keys(tmp_path: Path) -> None:
    assert load(tmp_path, {"PEGBOARD_LOG": "x", "PEGBOARD": "y"}).host.name == "pegboard"


def test_well_known_names_are_aliases_below_our_own_and_above_the_file(tmp_path: Path) -> None:
    environ = {
        "MCP_SERVER_NAME": "alias",
        "MCP_SERVER_VERSION": "2",
        "MCP_SERVER_TITLE": "Title",
        "MCP_SERVER_INSTRUCTIONS": "[do]",
        "ARCADE_USER_ID": "someone",
    }
    config = load(tmp_path, environ, '[host]\nname = "file"\n')
    host = config.host
    assert (host.name, host.version, host.title, host.instructions) == ("alias", "2", "Title", "[do]")
    assert host.user == "someone"
    assert str(config.source("host.name")) == "environment variable MCP_SERVER_NAME"
    ours = load(tmp_path, environ | {"PEGBOARD__HOST__NAME": "7"})
    assert ours.host.name == "7"
    assert str(ours.source("host.name")) == "environment variable PEGBOARD__HOST__NAME"


def test_an_empty_alias_counts_as_none(tmp_path: Path) -> None:
    assert load(tmp_path, {"MCP_SERVER_NAME": " "}, '[host]\nname = "file"\n').host.name == "file"


def test_arcades_lists_are_added_to_ours_item_by_item(tmp_path: Path) -> None:
    environ = {
        "ARCADE_DISABLED_TOOLS": " Github.DeleteRepo, math_add,,a ",
        "ARCADE_DISABLED_TOOLKITS": "slack",
        "PEGBOARD__HOST__DISABLED_TOOLKITS": '["jira"]',
    }
    config = load(tmp_path, environ, '[host]\ndisabled_tools = [\n  "a",\n]\ndisabled_toolkits = ["gone"]\n')
    assert config.host.disabled_tools == ("a", "Github.DeleteRepo", "math_add")
    assert config.host.disabled_toolkits == ("jira", "slack")
    assert str(config.source(("host", "disabled_tools", 0))) == "hostconfig.toml:3"
    assert str(config.source(("host", "disabled_tools", 1))) == "environment variable ARCADE_DISABLED_TOOLS"
    assert str(config.source(("host", "disabled_toolkits", 1))) == "environment variable ARCADE_DISABLED_TOOLKITS"


def test_arcades_lists_alone(tmp_path: Path) -> None:
    config = load(tmp_path, {"ARCADE_DISABLED_TOOLKITS": "a,b"})
    assert config.host.disabled_toolkits == ("a", "b")
    assert str(config.source("host.disabled_toolkits")) == "environment variable ARCADE_DISABLED_TOOLKITS"
    assert config.disabled_toolkits.match_plugin("A")


def test_a_list_that_is_none_is_told_and_not_mended(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_text('[host]\ndisabled_tools = "a"\n')
    with pytest.raises(
        ConfigError, match=r'^hostconfig\.toml:2: host\.disabled_tools: expected a list, found text "a"$'
    ):
        HostConfig.load(
            Path("hostconfig.toml"), environ={"ARCADE_DISABLED_TOOLS": "b"}, defaults=NAMES, directory=tmp_path
        )
