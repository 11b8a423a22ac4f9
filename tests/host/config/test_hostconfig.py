"""The configuration file that counts, the precedence of sources, and problems with a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.config import HostConfig
from pegboard.config.models import HostSection
from pegboard.errors import ConfigError
from tests.support.config import VARIABLES, load, problems

MEANT = '; did you mean "{}"?'
USER = "Library/Application Support/pegboard" if sys.platform == "darwin" else ".config/pegboard"


def named(path: Path, name: str) -> Path:
    """Write a file that sets the host's name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'[host]\nname = "{name}"\n', "utf-8")
    return path


def refusal(path: Path | None, environ: Mapping[str, str], directory: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        HostConfig.load(path, environ=environ, directory=directory)
    return str(caught.value)


def test_without_a_file_safe_defaults_hold(tmp_path: Path) -> None:
    config = HostConfig.load(environ={"HOME": str(tmp_path)}, directory=tmp_path)
    host = config.host
    assert (config.file, config.directory) == (None, tmp_path)
    assert (host.name, host.version, host.transports, host.autoload) == ("pegboard", None, (), True)
    assert (host.missing_secrets, host.tool_names, host.page_size, host.threads) == ("warn", "snake", 1000, 40)
    assert (host.log_level, host.user, dict(config.plugins), dict(config.toolkits)) == ("warning", None, {}, {})


def test_the_search_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, empty = tmp_path / "work", tmp_path / "empty"
    empty.mkdir()
    environ = {"HOME": str(tmp_path), "PEGBOARD_CONFIG": "by-variable.toml"}
    explicit = named(work / "explicit.toml", "explicit")
    named(work / "by-variable.toml", "variable")
    named(work / "hostconfig.toml", "directory")
    named(tmp_path / USER / "hostconfig.toml", "user")
    named(tmp_path / "xdg/pegboard/hostconfig.toml", "xdg")
    named(tmp_path / "mine.toml", "mine")

    def name(path: Path | None = None, directory: Path | None = work, **more: str) -> str:
        return HostConfig.load(path, environ=environ | more, directory=directory, on_untrusted=bool).host.name

    assert name(explicit) == name(Path("explicit.toml")) == "explicit"
    assert name() == "variable"
    assert name(PEGBOARD_CONFIG="~/mine.toml") == "mine"
    environ["PEGBOARD_CONFIG"] = ""
    assert name() == "directory"
    assert name(directory=empty) == "user"
    assert name(directory=empty, XDG_CONFIG_HOME=str(tmp_path / "xdg")) == "xdg"
    assert name(directory=empty, XDG_CONFIG_HOME="../xdg") == "user"
    monkeypatch.chdir(work)
    assert name(directory=None) == "directory"


def test_the_home_directory_of_the_user_serves_without_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(tmp_path / "mine.toml", "mine")
    monkeypatch.setattr("os.path.expanduser", lambda _: str(tmp_path))
    assert HostConfig.load(environ={"PEGBOARD_CONFIG": "~/mine.toml"}, directory=tmp_path).host.name == "mine"
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert HostConfig.load(environ={}, directory=tmp_path).file is None
    assert refusal(Path("~/x.toml"), {"A": "b"}, tmp_path).startswith("~/x.toml: cannot be read")


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    named(tmp_path / "hostconfig.toml", "not read")
    missing = "cannot be read: there is no such file (named by"
    assert refusal(Path("no.toml"), {}, tmp_path) == f"no.toml: {missing} --config)"
    by_variable = refusal(None, {"PEGBOARD_CONFIG": "/no/where.toml"}, tmp_path)
    assert by_variable == f"/no/where.toml: {missing} environment variable PEGBOARD_CONFIG)"


def test_directories_devices_and_folders_without_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostconfig.toml").mkdir()
    assert HostConfig.load(environ={"HOME": str(tmp_path)}, directory=tmp_path).file is None
    assert "directory" in refusal(Path("hostconfig.toml"), {}, tmp_path)
    if Path("/dev/null").exists():
        assert HostConfig.load(Path("/dev/null"), environ={}, directory=tmp_path).host.name == "pegboard"
    real = os.stat

    def stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if "locked" in str(path):
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", stat)
    assert HostConfig.load(environ={"XDG_CONFIG_HOME": "/locked"}, directory=tmp_path).file is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[host]\nname = \n", "2:8: not valid TOML: "),
        ("a = " + "[" * 100_000, " is nested too deeply"),
        ("host = 1\n", "1: host: expected a table, such as [host]"),
        ('[host]\nmiddleware = ["a", "b", "a"]\n', '2: host.middleware: "a" is named twice'),
        (
            '[host]\ndebug_stacktrace = "x"\n',
            "2: host.debug_stacktrace: unknown key: set [plugins.debug_errors] stacktrace instead",
        ),
    ],
)
def test_one_problem_is_one_line(tmp_path: Path, text: str, problem: str) -> None:
    (line,) = problems(tmp_path, text)
    assert line.startswith(f"hostconfig.toml:{problem}")


def test_the_file_must_be_utf_8_and_may_come_from_windows(tmp_path: Path) -> None:
    file = tmp_path / "hostconfig.toml"
    file.write_bytes(b'[host]\nname = "\xff"\n')
    assert refusal(file, {}, tmp_path) == "hostconfig.toml:2: is not UTF-8"
    file.write_bytes(b'\xef\xbb\xbf[host]\r\nname = "x"\r\n')
    assert HostConfig.load(file, environ={}, directory=tmp_path).host.name == "x"
    file.write_text("nme = 1\n")
    assert refusal(file, {}, tmp_path / "work") == f'{file}:1: nme: unknown key; did you mean "host.name"?'


def test_all_problems_are_reported_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    text = """
nme = "x"
[plugin.http]
port = 1
[host]
titel = "x"
name = 5
page_size = 0
threads = 4000
missing_secrets = "wran"
transports = "stdio"
middleware = ["a", 3]
website_url = ""
autoload = "maybe"
log_level = 3
[plugins]
http = 80
""".lstrip()
    assert problems(tmp_path, text, {"PEGBOARD__HOST__VERSION": "", "PEGBOARD__HOTS__NAME": "x"}) == [
        "environment variable PEGBOARD__HOTS__NAME: after PEGBOARD__ comes HOST, PLUGINS or TOOLKITS, not HOTS"
        + MEANT.format("PEGBOARD__HOST__NAME"),
        "environment variable PEGBOARD__HOST__VERSION: host.version: must not be empty",
        'hostconfig.toml:1: nme: unknown key; did you mean "host.name"?',
        'hostconfig.toml:2: plugin: unknown section; did you mean "plugins"?',
        'hostconfig.toml:5: host.titel: unknown key; did you mean "title"?',
        "hostconfig.toml:6: host.name: expected a string, found the number 5; put it in quotes",
        "hostconfig.toml:7: host.page_size: expected at least 1, found the number 0",
        "hostconfig.toml:8: host.threads: expected at most 1000, found the number 4000",
        'hostconfig.toml:9: host.missing_secrets: expected "warn", "hide" or "fail", found text "wran"'
        + MEANT.format("warn"),
        'hostconfig.toml:10: host.transports: expected a list, found text "stdio"',
        "hostconfig.toml:11: host.middleware[1]: expected a string, found the number 3; put it in quotes",
        'hostconfig.toml:12: host.website_url: expected an address that begins with https:// or http://, found text ""',
        'hostconfig.toml:13: host.autoload: expected true or false, found text "maybe"',
        'hostconfig.toml:14: host.log_level: expected "debug", "info", "warning" or "error", found the number 3',
        "hostconfig.toml:16: plugins.http: expected a table, such as [plugins.http]",
    ]


def test_collecting_problems_keeps_valid_settings(tmp_path: Path) -> None:
    text = '[host]\nname = "x"\nthreads = "many"\n[plugins]\na = 1\nb = {}\n[bad]\n'
    config = load(tmp_path, text, collect=True)
    assert [problem.key for problem in config.problems] == ["host.threads", "plugins.a", "bad"]
    assert (config.host.name, config.host.threads, list(config.plugins)) == ("x", 40, ["b"])
    assert config.source("host.threads").kind == "default"
    unreadable = load(tmp_path, "= 1", {"PEGBOARD__HOST__NAME": "env"}, collect=True)
    assert (unreadable.host.name, [problem.line for problem in unreadable.problems]) == ("env", [1])


def test_command_line_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    values = {"name": "defaults", "title": "defaults", "user": "defaults", "instructions": "defaults"}
    text = '[host]\nname = "file"\ntitle = "file"\nuser = "file"\n'
    environ = {"PEGBOARD__HOST__NAME": "env", "PEGBOARD__HOST__TITLE": "env"}
    config = load(tmp_path, text, environ, defaults={"host": values}, overrides={"host": {"name": "line"}})
    host = config.host
    assert (host.name, host.title, host.user, host.instructions) == ("line", "env", "file", "defaults")
    assert [str(config.source(f"host.{key}")) for key in ("name", "title", "user", "instructions", "threads")] == [
        "command line",
        "environment variable PEGBOARD__HOST__TITLE",
        "hostconfig.toml:4",
        "defaults of the built-in plugins",
        "default",
    ]


def test_sections_are_merged_and_lists_replaced(tmp_path: Path) -> None:
    defaults = {"plugins": {"http": {"port": 1, "hosts": ["a"], "tls": {"on": True, "key": "k"}}, "mcp": {}}}
    text = '[plugins.http]\nhosts = ["b", "c"]\ntls.key = "file"\n[plugins.acme]\nx = 1\ny = {z = 1}\n'
    environ = {
        "PEGBOARD__PLUGINS__HTTP__PORT": "9000",
        "PEGBOARD__PLUGINS__ACME__X": "{w=2}",
        "PEGBOARD__PLUGINS__ACME__Y": "3",
        "PEGBOARD__TOOLKITS__MATH__DIGITS": "3",
    }
    config = load(tmp_path, text, environ, defaults=defaults)
    assert config.plugins["http"] == {"port": 9000, "hosts": ("b", "c"), "tls": {"on": True, "key": "file"}}
    assert config.plugins["acme"] == {"x": {"w": 2}, "y": 3}
    assert set(config.plugins) == {"http", "mcp", "acme"}
    sources = {key: str(config.source(key)) for key in ("plugins.http", "plugins.mcp", "toolkits.math", "plugins.a.b")}
    assert sources == {
        "plugins.http": "hostconfig.toml:1",  # that of its header
        "plugins.mcp": "defaults of the built-in plugins",
        "toolkits.math": "environment variable PEGBOARD__TOOLKITS__MATH__DIGITS",
        "plugins.a.b": "default",
    }
    assert [config.source(("plugins", name)).by_operator for name in ("http", "mcp")] == [True, False]
    assert config.source("plugins.acme.y.z").kind == "default"
    assert str(config.source(("plugins", "http", "hosts", 0))) == "hostconfig.toml:2"


def test_a_mapping_is_validated_like_a_file_and_nothing_else_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(tmp_path / "hostconfig.toml", "file")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD__HOST__NAME", "env")
    config = HostConfig.of({"toolkits": {"files": {"roots": ["."]}}}, defaults={"plugins": {"mcp": {}}})
    assert (config.host.name, set(config.plugins), config.directory) == ("pegboard", {"mcp"}, tmp_path)
    assert str(config.source("toolkits.files")) == "given by the program"
    with pytest.raises(ConfigError, match=r'^given by the program: host\.nme: unknown key; did you mean "name"\?$'):
        HostConfig.of({"host": {"nme": "x"}})
    referring = HostConfig.of({"plugins": {"a": {"k": {"env": "K"}}}}, environ={"K": "v"}, directory=tmp_path / "x")
    assert (referring.directory, referring.plugins["a"]["k"].value) == (tmp_path / "x", "v")


def test_configuration_is_immutable_and_shares_nothing(tmp_path: Path) -> None:
    given: dict[str, Any] = {"host": {"disabled_tools": ["a"]}, "plugins": {"p": {"list": [{"x": 1}], "t": {}}}}
    config = load(tmp_path, "[plugins.p]\ny = 1\n", {"ARCADE_DISABLED_TOOLS": "b"}, defaults=given | VARIABLES)
    assert given == {"host": {"disabled_tools": ["a"]}, "plugins": {"p": {"list": [{"x": 1}], "t": {}}}}
    given["plugins"]["p"]["list"][0]["x"] = 2
    assert config.plugins["p"]["list"][0]["x"] == 1
    with pytest.raises(ValidationError):
        config.host.name = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        config.file = None  # type: ignore[misc]
    for table in (config.plugins, config.plugins["p"], config.plugins["p"]["t"]):
        with pytest.raises(TypeError):
            table["a"] = 2  # type: ignore[index]
    assert isinstance(config.plugins["p"]["list"], tuple)


def test_macos_has_another_user_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named(tmp_path / "Library/Application Support/pegboard/hostconfig.toml", "mac")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert HostConfig.load(environ={"HOME": str(tmp_path)}, directory=tmp_path / "work").host.name == "mac"


LISTS = [name for name, field in HostSection.model_fields.items() if field.annotation == tuple[str, ...]]


@pytest.mark.parametrize("given", [{}, {key: ["a", "b"] for key in LISTS}, {"plugins": ["a", "a"]}])
def test_the_short_way_for_lists_of_names_equals_validation(given: dict[str, Any]) -> None:
    host = HostConfig.of({"host": given}).host
    assert host == HostSection.model_validate(given)
    assert host.model_fields_set == given.keys()


@pytest.mark.parametrize("names", [[1], [None], [["a"]], "a", {"a": 1}])
def test_other_values_are_not_lists_of_names(names: Any) -> None:
    with pytest.raises(ConfigError, match=r"^given by the program: host\.plugins"):
        HostConfig.of({"host": {"plugins": names}})
