"""The configuration file that counts, the precedence of sources, and problems with a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pegboard.config import HostConfig
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


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    named(tmp_path / "hostconfig.toml", "not read")
    missing = "cannot be read: there is no such file (named by"
    assert refusal(Path("no.toml"), {}, tmp_path) == f"no.toml: {missing} --config)"
    by_variable = refusal(None, {"PEGBOARD_CONFIG": "/no/where.toml"}, tmp_path)
    assert by_variable == f"/no/where.toml: {missing} environment variable PEGBOARD_CONFIG)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[host]\nname = \n", "2:8: not valid TOML: "),
        ("a = " + "[" * 100_000, " is nested too deeply"),
        ('[host]\nmiddleware = ["a", "b", "a"]\n', '2: host.middleware: "a" is named twice'),
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


@pytest.mark.parametrize("environ", [{}, {"KEY": "k" * 31}])
def test_a_problem_with_a_key_of_the_state_is_the_only_one(tmp_path: Path, environ: Mapping[str, str]) -> None:
    missing = '[0]: the environment variable "KEY" is missing or empty'
    short = ": a key is shorter than 32 characters: create one with `openssl rand -base64 32`"
    text = '[host]\nstate = "redis"\nstate_keys = [{ env = "KEY" }]\n'
    assert problems(tmp_path, text, environ) == [f"hostconfig.toml:3: host.state_keys{short if environ else missing}"]


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
[plugins]
http = 80
""".lstrip()
    assert problems(tmp_path, text, {"PEGBOARD__HOST__VERSION": '""', "PEGBOARD__HOTS__NAME": "x"}) == [
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
        "hostconfig.toml:14: plugins.http: expected a table, such as [plugins.http]",
    ]


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
    text = '[plugins.http]\nhosts = ["b", "c"]\ntls.key = "file"\n[plugins.acme]\nx = 1\n'
    environ = {
        "PEGBOARD__PLUGINS__HTTP__PORT": "9000",
        "PEGBOARD__PLUGINS__ACME__X": "{w=2}",
        "PEGBOARD__TOOLKITS__MATH__DIGITS": "3",
    }
    config = load(tmp_path, text, environ, defaults=defaults)
    assert config.plugins["http"] == {"port": 9000, "hosts": ("b", "c"), "tls": {"on": True, "key": "file"}}
    assert config.plugins["acme"] == {"x": {"w": 2}}
    assert set(config.plugins) == {"http", "mcp", "acme"}
    sources = {key: str(config.source(key)) for key in ("plugins.http", "plugins.mcp", "toolkits.math", "plugins.a.b")}
    assert sources == {
        "plugins.http": "hostconfig.toml:1",  # that of its header
        "plugins.mcp": "defaults of the built-in plugins",
        "toolkits.math": "environment variable PEGBOARD__TOOLKITS__MATH__DIGITS",
        "plugins.a.b": "default",
    }
    assert [config.source(("plugins", name)).by_operator for name in ("http", "mcp")] == [True, False]


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


def test_configuration_is_immutable_and_shares_nothing(tmp_path: Path) -> None:
    tree: dict[str, Any] = {"host": {"disabled_tools": ["a"]}, "plugins": {"p": {"list": [{"x": 1}], "t": {}}}}
    config = load(tmp_path, "[plugins.p]\ny = 1\n", {"ARCADE_DISABLED_TOOLS": "b"}, defaults=tree | VARIABLES)
    assert tree == {"host": {"disabled_tools": ["a"]}, "plugins": {"p": {"list": [{"x": 1}], "t": {}}}}
    tree["plugins"]["p"]["list"][0]["x"] = 2
    assert config.plugins["p"]["list"][0]["x"] == 1
    for table in (config.plugins, config.plugins["p"], config.plugins["p"]["t"]):
        with pytest.raises(TypeError):
            table["a"] = 2  # type: ignore[index]
    assert isinstance(config.plugins["p"]["list"], tuple)


def test_values_of_the_program_are_added_to_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "hostconfig.toml"
    file.write_text('[plugins.p.servers]\na = { key = { env = "KEY" } }\nb = { x = 1 }\n', "utf-8")
    config = HostConfig.load(file, environ={"KEY": "secret"})
    added = config.with_section("p", {"servers": {"a": {"y": 2}, "c": {"z": 3}}})
    servers = added.plugins["p"]["servers"]
    assert (servers["a"]["key"].value, servers["a"]["y"], servers["b"]["x"], servers["c"]["z"]) == ("secret", 2, 1, 3)
    assert str(added.source("plugins.p.servers.c")) == "given by the program"
    assert added.source("plugins.p.servers.b").line == 3
    assert set(config.plugins["p"]["servers"]) == {"a", "b"}
    assert not config.source("plugins.p.servers.c").by_operator
    with pytest.raises(TypeError):
        added.plugins["p"] = {}  # type: ignore[index]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="other systems have no pipes with names")
@pytest.mark.parametrize("written", [None, b"[host]\nname = 'piped'\n"], ids=["silent", "written"])
def test_a_named_pipe_is_read_if_somebody_writes_it(
    written: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--config <(command)` names a pipe. Nobody waits for one that stays silent."""
    monkeypatch.setattr("pegboard.config.files.MAX_PIPE_SECONDS", 0.01 if written is None else 60)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as threads:
        if written is not None:
            threads.submit(path.write_bytes, written)
        config = HostConfig.load(path, environ={}, directory=tmp_path, collect=True)
    silent = "pipe: cannot be read: it is a pipe into which nothing was written for 0.01 s (named by --config)"
    assert [*map(str, config.problems)] == ([silent] if written is None else [])
    assert written is None or config.host.name == "piped"
