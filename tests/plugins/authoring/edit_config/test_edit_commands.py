"""`pegboard enable`, `disable` and `config set`: the file changes, its comments stay, and mistakes change nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tomli

from tests.support.command_line import INSTALLED, Command

COMMENTED = f"""# mine
[host]  # the host
name = "a"  # a name
disabled_toolkits = {json.dumps(INSTALLED)}
disabled_plugins = [
    "timing",  # too slow
]

[toolkits.demo]
word = "moin"  # northern
"""


def file_of(pegboard: Command) -> str:
    return (pegboard.folder / "hostconfig.toml").read_text("utf-8")


def comments(text: str) -> list[str]:
    return [line.partition("#")[2] for line in text.splitlines() if "#" in line]


@pytest.mark.needs("worker")
@pytest.mark.parametrize(
    ("key", "text", "line"),
    [
        ("host.name", "b # c", 'name = "b # c"  # a name'),
        ("host.version", "1.10", 'version = "1.10"'),
        ("host.page_size", "0x10", "page_size = 0x10"),
        ("toolkits.demo.word", '"true"', 'word = "true"  # northern'),
        ("plugins.http.port", "9000", "[plugins.http]\nport = 9000"),
        ("plugins.worker.secret", '{ env = "DEMO_KEY" }', '[plugins.worker]\nsecret = { env = "DEMO_KEY" }'),
        ("host.autoload", "false", "autoload = false"),
    ],
)
def test_a_key_is_set_and_comments_stay(key: str, text: str, line: str, pegboard: Command) -> None:
    pegboard.write(COMMENTED)
    done = pegboard("config", "set", key, text)
    assert (done.code, done.err, done.out) == (0, "", f"set {key} in {pegboard.folder / 'hostconfig.toml'}\n")
    assert line in file_of(pegboard)
    assert set(comments(COMMENTED)) <= {comment.rpartition("#")[2] for comment in comments(file_of(pegboard))}
    assert pegboard("config", "check").code == 0


@pytest.mark.needs("auth", "audit")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "config set plugins.http.port x",
            'hostconfig.toml:13: plugins.http.port: expected an integer, found text "x"',
        ),
        ("config set host.nmae x", 'host.nmae: unknown key; did you mean "name"?'),
        ("config set host.name.first x", "host.name is not a table"),
        ("config set plugins.mcp.path x", 'plugins.mcp.path: must begin with "/"'),
        ('config set plugins.http.host ""', "plugins.http.host: must not be empty"),
        ("config set host x", "'host' is not a key"),
        ("enable adit", 'is installed; did you mean "audit"?'),
        ("enable auth_token", "missing token"),
        ("enable audit", "is required and missing; set it with `pegboard config set plugins.audit.file VALUE`"),
    ],
)
def test_a_mistake_changes_nothing(line: str, message: str, pegboard: Command) -> None:
    pegboard.write(COMMENTED)
    done = pegboard(*line.split())
    assert (done.code, done.out) == (3, "")
    assert message in done.err
    assert file_of(pegboard) == COMMENTED
    assert [path.name for path in pegboard.folder.iterdir() if "edited" in path.name] == []


@pytest.mark.parametrize(
    "text",
    [
        "plugins = { mcp = { path = '/x' } }\n",
        "\ufeffhost.name = 'x' # c\n",
        "[toolkits.demo]\r\nword = 'a'\r\n[plugins.mcp]\r\n[host]\r\n",
        "plugins.mcp.path = '/x'",
        "",
    ],
)
def test_every_form_of_a_table_can_be_changed(text: str, pegboard: Command) -> None:
    pegboard.write(text)
    before = tomli.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    assert pegboard("config", "set", "plugins.http.port", "1").err == ""
    changed = tomli.loads(file_of(pegboard))
    plugins = before.setdefault("plugins", {})
    plugins["http"] = {"port": 1}
    assert changed == before


@pytest.mark.parametrize("name", ["timing", "response_size", "demo", "pegboard:cache"])
def test_a_plugin_is_switched(name: str, pegboard: Command) -> None:
    pegboard.write(COMMENTED)

    def is_on() -> bool:
        report = pegboard("config", "check", "--json").data
        return name.rpartition(":")[2] in [*report["plugins"], *report["toolkits"]]

    begun = is_on()
    for word in ("disable", "enable", "disable", "enable"):
        done = pegboard(word, name)
        assert (done.code, done.err) == (0, "")
        assert is_on() is (word == "enable")
        assert pegboard(word, name, "--json").data["changed"] is False
        assert ".edited" not in pegboard(word, name).out
    assert begun is (name == "demo")
    assert comments(file_of(pegboard))[:3] == [" mine", " the host", " a name"]


@pytest.mark.needs("worker", "audit")
def test_a_glob_or_a_variable_is_named_if_it_prevents_the_change(pegboard: Command) -> None:
    pegboard.configure("disabled_plugins = ['aud*']")
    assert "audit cannot be enabled: disabled by 'aud*'" in pegboard("enable", "audit").err
    done = pegboard("config", "set", "host.name", "x", env={"PEGBOARD__HOST__NAME": "y"})
    assert done.err == "pegboard: the environment variable PEGBOARD__HOST__NAME takes precedence\n"


@pytest.mark.needs("tool_commands")
def test_a_trusted_file_stays_trusted_and_another_is_not_changed(pegboard: Command) -> None:
    env = {"PEGBOARD_CONFIG": None, "PEGBOARD_STATE_DIR": str(pegboard.folder / "state")}
    refused = pegboard("disable", "demo", env=env)
    assert (refused.code, "is not trusted" in refused.err) == (3, True)
    assert pegboard("config", "trust", env=env).code == 0
    assert "demo_greet" in pegboard("list", env=env).out
    assert pegboard("disable", "demo", env=env).code == 0
    listed = pegboard("list", env=env)
    assert (listed.code, "demo_greet" in listed.out) == (0, False)


@pytest.mark.parametrize("line", ["enable cache", "disable logging", "config set host.name x"])
def test_a_folder_that_cannot_be_written_is_an_error(line: str, pegboard: Command) -> None:
    (pegboard.folder / "hostconfig.toml").unlink()
    done = pegboard(*line.split(), "--json", env={"PEGBOARD_CONFIG": None, "XDG_CONFIG_HOME": "/dev/null"})
    assert (done.code, done.err) == (1, "")
    message = "the folder /dev/null/pegboard cannot be created: Not a directory; name another file with --config"
    assert done.data["error"]["message"] == message


def test_the_user_s_file_is_made_if_there_is_none(pegboard: Command, tmp_path: Path) -> None:
    (pegboard.folder / "hostconfig.toml").unlink()
    env = {"PEGBOARD_CONFIG": None, "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    made = tmp_path / "settings" / "pegboard" / "hostconfig.toml"
    for line in ("enable tming", "config set host.nmae x", "disable cache"):
        assert "cannot be" not in pegboard(*line.split(), env=env).err
        assert not made.parent.exists()
    for line in ("config set host.name mine", "config set host.page_size 0x10"):
        done = pegboard(*line.split(), env=env)
        assert (done.code, str(made) in done.out) == (0, True)
        assert done.err == "pegboard: this file is for every folder without a hostconfig.toml of its own\n"
    assert made.read_text("utf-8") == '[host]\nname = "mine"\npage_size = 0x10\n'
    assert made.stat().st_mode & 0o777 == 0o600
    done = pegboard("disable", "timing", env=env)
    assert (done.code, done.err, str(made) in done.out) == (0, "", False)
    assert "for every folder" in pegboard("enable", "timing", env=env).err


def test_a_read_only_file_is_refused(pegboard: Command) -> None:
    file = pegboard.write(COMMENTED)
    file.chmod(0o444)
    done = pegboard("config", "set", "host.name", "b")
    assert (done.code, done.err) == (1, f"pegboard: {file} is read-only: change its permissions\n")
    assert file_of(pegboard) == COMMENTED
