"""Finding, reading and layering configuration: which file, which source wins, and what is wrong with a file."""

from __future__ import annotations

import importlib.metadata
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
from pegboard.host import Host
from pegboard.loading.discovery import defaults

MEANT = '; did you mean "{}"?'


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def named(path: Path, name: str) -> Path:
    return write(path, f'[host]\nname = "{name}"\n')


def problems(
    tmp_path: Path, text: str | None = None, *, environ: Mapping[str, str] | None = None, path: Path | None = None
) -> list[str]:
    """What `load` says is wrong, a line each."""
    if text is not None:
        path = write(tmp_path / "hostconfig.toml", text)
    with pytest.raises(ConfigError) as caught:
        HostConfig.load(path, environ=environ or {"HOME": str(tmp_path)}, directory=tmp_path)
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    return str(caught.value).splitlines()


def load(tmp_path: Path, text: str = "", environ: Mapping[str, str] | None = None, **more: Any) -> HostConfig:
    write(tmp_path / "hostconfig.toml", text)
    return HostConfig.load(Path("hostconfig.toml"), environ=environ or {}, directory=tmp_path, **more)


# --- which file ---


def test_without_any_file_safe_defaults_hold(tmp_path: Path) -> None:
    config = HostConfig.load(environ={"HOME": str(tmp_path)}, directory=tmp_path)
    host = config.host
    assert config.file is None
    assert config.directory == tmp_path
    assert (host.name, host.title, host.transports, host.autoload) == ("pegboard", None, (), True)
    assert (host.missing_secrets, host.tool_names, host.page_size, host.threads) == ("warn", "snake", 1000, 40)
    assert (host.log_level, host.user) == ("warning", None)
    assert host.version is None
    assert dict(config.plugins) == dict(config.toolkits) == {}


def test_the_search_order(tmp_path: Path) -> None:
    work = tmp_path / "work"
    environ = {"HOME": str(tmp_path), "PEGBOARD_CONFIG": "by-variable.toml"}
    explicit = named(work / "explicit.toml", "explicit")
    named(work / "by-variable.toml", "variable")
    named(work / "hostconfig.toml", "directory")
    user = ".config/pegboard" if sys.platform != "darwin" else "Library/Application Support/pegboard"
    named(tmp_path / user / "hostconfig.toml", "user")

    def name(path: Path | None = None) -> str:
        return HostConfig.load(path, environ=environ, directory=work, on_untrusted=bool).host.name

    assert name(explicit) == name(Path("explicit.toml")) == "explicit"
    assert name() == "variable"
    environ["PEGBOARD_CONFIG"] = ""
    assert name() == "directory"
    (work / "hostconfig.toml").unlink()
    assert name() == "user"


def test_the_users_directory_is_where_xdg_says_unless_that_is_relative(tmp_path: Path) -> None:
    named(tmp_path / "xdg/pegboard/hostconfig.toml", "xdg")
    empty = write(tmp_path / "empty/file", "").parent
    environ = {"HOME": str(empty), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    config = HostConfig.load(environ=environ, directory=empty)
    assert config.host.name == "xdg"
    assert config.directory == tmp_path / "xdg/pegboard"
    relative = HostConfig.load(environ=environ | {"XDG_CONFIG_HOME": "../xdg"}, directory=empty)
    assert relative.host.name == "pegboard"


def test_macos_has_its_own_users_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named(tmp_path / "Library/Application Support/pegboard/hostconfig.toml", "mac")
    named(tmp_path / ".config/pegboard/hostconfig.toml", "linux")
    monkeypatch.setattr(sys, "platform", "darwin")
    environ = {"HOME": str(tmp_path)}
    assert HostConfig.load(environ=environ, directory=tmp_path / "work").host.name == "mac"


def test_a_tilde_is_the_home_directory(tmp_path: Path) -> None:
    named(tmp_path / "home/mine.toml", "mine")
    environ = {"HOME": str(tmp_path / "home"), "PEGBOARD_CONFIG": "~/mine.toml"}
    assert HostConfig.load(environ=environ, directory=tmp_path).host.name == "mine"


def test_a_named_file_that_is_missing_is_an_error_that_says_who_named_it(tmp_path: Path) -> None:
    assert problems(tmp_path, path=Path("no.toml")) == [
        "no.toml: cannot be read: there is no such file (named by --config)"
    ]
    named(tmp_path / "hostconfig.toml", "not looked at")
    assert problems(tmp_path, environ={"PEGBOARD_CONFIG": "/no/where.toml"}) == [
        "/no/where.toml: cannot be read: there is no such file (named by environment variable PEGBOARD_CONFIG)"
    ]


def test_a_directory_in_the_files_place(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").mkdir()
    assert HostConfig.load(environ={"HOME": str(tmp_path)}, directory=tmp_path).file is None
    assert "directory" in problems(tmp_path, path=Path("hostconfig.toml"))[0]


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no /dev/null on this system")
def test_dev_null_is_an_empty_file(tmp_path: Path) -> None:
    named(tmp_path / "hostconfig.toml", "x")
    assert HostConfig.load(Path("/dev/null"), environ={}, directory=tmp_path).host.name == "pegboard"


def test_the_working_directory_is_the_processs_unless_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named(tmp_path / "hostconfig.toml", "here")
    monkeypatch.chdir(tmp_path)
    config = HostConfig.load(environ={}, on_untrusted=bool)
    assert (config.host.name, config.directory) == ("here", tmp_path)


def test_without_a_home_there_is_no_users_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert HostConfig.load(environ={}, directory=tmp_path).file is None
    assert problems(tmp_path, path=Path("~/x.toml"), environ={"A": "b"})[0].startswith("~/x.toml: cannot be read")


def test_the_home_of_the_processs_user_serves_where_no_variable_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(tmp_path / "home/mine.toml", "mine")
    monkeypatch.setattr("os.path.expanduser", lambda _: str(tmp_path / "home"))
    environ = {"PEGBOARD_CONFIG": "~/mine.toml"}
    assert HostConfig.load(environ=environ, directory=tmp_path).host.name == "mine"


# --- what is wrong with a file ---


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[host]\nname = \n", "hostconfig.toml:2:8: not valid TOML: "),
        ("[host]\n[host]\n", "hostconfig.toml:2:6: not valid TOML: cannot declare [host] twice"),
        ("a = [1,\n\n x]", "hostconfig.toml:3:2: not valid TOML: "),
    ],
)
def test_bad_toml_is_told_with_line_and_column(tmp_path: Path, text: str, where: str) -> None:
    [line] = problems(tmp_path, text)
    assert line.startswith(where)


def test_what_is_not_utf_8_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_bytes(b'[host]\nname = "\xff"\n')
    assert problems(tmp_path, path=Path("hostconfig.toml")) == ["hostconfig.toml:2: is not UTF-8"]


def test_endless_nesting_is_told_in_one_line(tmp_path: Path) -> None:
    assert problems(tmp_path, "a = " + "[" * 100_000) == ["hostconfig.toml: is nested too deeply"]


def test_a_byte_order_mark_and_line_ends_of_windows_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_bytes(b'\xef\xbb\xbf[host]\r\nname = "x"\r\n')
    assert HostConfig.load(Path("hostconfig.toml"), environ={}, directory=tmp_path).host.name == "x"


def test_a_file_elsewhere_is_told_with_its_whole_path(tmp_path: Path) -> None:
    file = write(tmp_path / "etc/hostconfig.toml", "nme = 1\n")
    assert problems(tmp_path / "work", path=file) == [f'{file}:1: nme: unknown key; did you mean "host.name"?']


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
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
    assert problems(tmp_path, text, environ={"PEGBOARD__HOST__VERSION": "", "PEGBOARD__HOTS__NAME": "x"}) == [
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


def test_sections_that_are_no_tables(tmp_path: Path) -> None:
    assert problems(tmp_path, "host = 1\nplugins = 'x'\n") == [
        "hostconfig.toml:1: host: expected a table, such as [host]",
        "hostconfig.toml:2: plugins: expected a table, such as [plugins.NAME]",
    ]


LISTS = [name for name, field in HostSection.model_fields.items() if field.annotation == tuple[str, ...]]


@pytest.mark.parametrize("given", [{}, {key: ["a", "b"] for key in LISTS}, {"plugins": ["a", "a"]}])
def test_lists_of_names_come_out_as_validation_has_them(given: dict[str, Any]) -> None:
    host = HostConfig.of({"host": given}).host
    assert host == HostSection.model_validate(given)
    assert host.model_fields_set == given.keys()


@pytest.mark.parametrize("names", [[1], [None], [["a"]], "a", {"a": 1}])
def test_what_is_no_list_of_names(names: Any) -> None:
    with pytest.raises(ConfigError, match=r"^given by the program: host\.plugins"):
        HostConfig.of({"host": {"plugins": names}})


def test_a_name_twice_in_a_list_where_order_is_meaning(tmp_path: Path) -> None:
    assert problems(tmp_path, '[host]\nmiddleware = ["a", "b", "a"]\n') == [
        'hostconfig.toml:2: host.middleware: "a" is named twice'
    ]


def test_going_on_in_spite_of_problems_keeps_what_is_right(tmp_path: Path) -> None:
    config = load(
        tmp_path, '[host]\nname = "x"\nthreads = "many"\n[plugins]\na = 1\nb = {}\n[bad]\n', environ={}, collect=True
    )
    assert [problem.key for problem in config.problems] == ["host.threads", "plugins.a", "bad"]
    assert (config.host.name, config.host.threads) == ("x", 40)
    assert config.source("host.threads").kind == "default"
    assert list(config.plugins) == ["b"]


def test_going_on_without_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    config = load(tmp_path, "= 1", {"PEGBOARD__HOST__NAME": "env"}, collect=True)
    assert config.host.name == "env"
    assert [problem.line for problem in config.problems] == [1]


# --- layers ---


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


def test_what_is_given_rightly_arrives(tmp_path: Path) -> None:
    text = '[host]\ntransports = ["http", "stdio"]\nmiddleware = ["b", "a"]\nwebsite_url = "https://example.com"\n'
    host = load(tmp_path, text).host
    assert (host.transports, host.middleware) == (("http", "stdio"), ("b", "a"))
    assert host.website_url == "https://example.com"
    assert HostConfig.of({"host": {"website_url": None}}).host.website_url is None


def test_sections_are_merged_and_lists_replaced(tmp_path: Path) -> None:
    defaults = {"plugins": {"http": {"port": 1, "hosts": ["a"], "tls": {"on": True, "key": "k"}}, "mcp": {}}}
    text = '[plugins.http]\nhosts = ["b", "c"]\ntls.key = "file"\n[plugins.acme]\n'
    config = load(tmp_path, text, {"PEGBOARD__PLUGINS__HTTP__PORT": "9000"}, defaults=defaults)
    assert config.plugins["http"]["port"] == 9000
    assert list(config.plugins["http"]["hosts"]) == ["b", "c"]
    assert dict(config.plugins["http"]["tls"]) == {"on": True, "key": "file"}
    assert set(config.plugins) == {"http", "mcp", "acme"}


def test_a_value_may_take_the_place_of_a_table_and_back(tmp_path: Path) -> None:
    text = "[plugins.a]\nx = 1\ny = {z = 1}\n"
    config = load(tmp_path, text, {"PEGBOARD__PLUGINS__A__X": "{w=2}", "PEGBOARD__PLUGINS__A__Y": "3"})
    assert dict(config.plugins["a"]["x"]) == {"w": 2}
    assert config.plugins["a"]["y"] == 3
    assert config.source("plugins.a.y.z").kind == "default"


def test_who_named_a_plugin_is_known(tmp_path: Path) -> None:
    text = "[plugins.http]\n[toolkits.files]\nroots = ['.']\n"
    environ = {"PEGBOARD__TOOLKITS__MATH__DIGITS": "3", "PEGBOARD__TOOLKITS__A__B": "3"}
    config = load(tmp_path, text, environ, defaults={"plugins": {"mcp": {}, "http": {"port": 1}}})
    assert str(config.source(("plugins", "http"))) == "hostconfig.toml:1"
    assert config.source(("plugins", "http")).by_operator
    assert not config.source(("plugins", "mcp")).by_operator
    assert str(config.source(("toolkits", "math"))) == "environment variable PEGBOARD__TOOLKITS__MATH__DIGITS"
    assert config.source(("plugins", "absent")).kind == config.source(("toolkits", "absent")).kind == "default"
    assert config.source("toolkits.files.write").kind == "default"
    assert str(config.source(("toolkits", "files", "roots", 0))) == "hostconfig.toml:3"


def test_a_table_is_the_one_who_wrote_its_header_though_others_add_to_it(tmp_path: Path) -> None:
    config = load(tmp_path, "[plugins.http]\n", {"PEGBOARD__PLUGINS__HTTP__PORT": "1"})
    assert str(config.source("plugins.http")) == "hostconfig.toml:1"


def test_the_lists_of_what_is_disabled_are_ready_to_match(tmp_path: Path) -> None:
    config = load(tmp_path, '[host]\ndisabled_plugins = ["a"]\ndisabled_toolkits = ["b"]\ndisabled_tools = ["c_*"]\n')
    assert config.disabled_plugins.texts == ("a",)
    assert config.disabled_toolkits.texts == ("b",)
    assert config.disabled_tools.texts == ("c_*",)


def test_the_version_is_pegboards_unless_it_is_set(tmp_path: Path) -> None:
    assert Host(load(tmp_path)).identity.version == importlib.metadata.version("pegboard")
    assert Host(load(tmp_path, '[host]\nversion = "7.1"\n')).identity.version == "7.1"


# --- what a program gives ---


def test_a_programs_mapping_is_checked_like_a_file_and_nothing_else_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(tmp_path / "hostconfig.toml", "file")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD__HOST__NAME", "env")
    config = HostConfig.of({"toolkits": {"files": {"roots": ["."]}}}, defaults={"plugins": {"mcp": {}}})
    assert config.host.name == "pegboard"
    assert set(config.plugins) == {"mcp"}
    assert str(config.source("toolkits.files")) == "given by the program"
    assert config.directory == tmp_path
    with pytest.raises(ConfigError, match=r'^given by the program: host\.nme: unknown key; did you mean "name"\?$'):
        HostConfig.of({"host": {"nme": "x"}})


def test_a_program_may_give_a_directory_and_variables(tmp_path: Path) -> None:
    config = HostConfig.of({"plugins": {"a": {"k": {"env": "K"}}}}, environ={"K": "v"}, directory=tmp_path)
    assert config.directory == tmp_path
    assert config.plugins["a"]["k"].value == "v"


def test_what_was_given_is_neither_changed_nor_shared(tmp_path: Path) -> None:
    given: dict[str, Any] = {"host": {"disabled_tools": ["a"]}, "plugins": {"p": {"list": [{"x": 1}], "t": {}}}}
    config = load(
        tmp_path,
        "[plugins.p]\ny = 1\n",
        {"ARCADE_DISABLED_TOOLS": "b"},
        defaults=given | {"environment": defaults()["environment"]},
    )
    assert given == {"host": {"disabled_tools": ["a"]}, "plugins": {"p": {"list": [{"x": 1}], "t": {}}}}
    given["plugins"]["p"]["list"][0]["x"] = 2
    assert config.plugins["p"]["list"][0]["x"] == 1


def test_configuration_cannot_be_changed(tmp_path: Path) -> None:
    config = load(tmp_path, "[plugins.p]\nlist = [1]\nt = {a = 1}\n")
    with pytest.raises(ValidationError):
        config.host.name = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        config.file = None  # type: ignore[misc]
    for table in (config.plugins, config.plugins["p"], config.plugins["p"]["t"]):
        with pytest.raises(TypeError):
            table["a"] = 2  # type: ignore[index]
    assert isinstance(config.plugins["p"]["list"], tuple)


def test_a_users_directory_that_may_not_be_entered_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.stat

    def stat(path: Any, *args: Any, **options: Any) -> os.stat_result:
        if "locked" in str(path):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    monkeypatch.setattr(os, "stat", stat)
    config = HostConfig.load(environ={"XDG_CONFIG_HOME": "/locked"}, directory=tmp_path)
    assert config.file is None
