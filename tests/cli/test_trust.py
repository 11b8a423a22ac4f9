"""A `hostconfig.toml` in the working directory counts only as its user has accepted it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import WAIT, Command, Done

HIDES = '[host]\ndisabled_tools = ["demo_echo"]\n'
KNOWN = "0123456789abcdef" * 4
STDIO = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


class Opened(Command):
    """The command in a folder whose file nobody names."""

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        env = super().environment() | {"PEGBOARD_CONFIG": "", "HOME": str(self.folder.parent / "home")}
        return env | dict(more or {})

    def write(self, text: str = HIDES) -> Path:
        file = self.folder / "hostconfig.toml"
        file.write_text(text, "utf-8")
        return file

    def at_terminal(self, answer: str, *arguments: str) -> Done:
        """Run it with standard input and error at a terminal, where a person answers."""
        ours, theirs = pty.openpty()
        os.write(ours, answer.encode())
        done = subprocess.run(
            self.arguments(*arguments),
            cwd=self.folder,
            env=self.environment(),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=WAIT,
            check=False,
        )
        os.close(theirs)
        told = b"".join(iter(partial(_read, ours), b""))
        os.close(ours)
        return Done(done.returncode, done.stdout.decode(), told.decode().replace("\r", ""))


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


@pytest.fixture
def opened(pegboard: Command) -> Opened:
    return Opened(pegboard.folder, pegboard.site)


@pytest.mark.parametrize("command", ["serve", "list --json", "config show --safe", "token"])
def test_a_file_that_is_not_trusted_stops_the_command(command: str, opened: Opened) -> None:
    opened.write()
    done = opened(*command.split())
    assert (done.code, done.out) == (3, "")
    assert "hostconfig.toml: is not trusted" in done.err
    assert "`pegboard config trust`" in done.err
    assert "--config hostconfig.toml" in done.err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], [], ["list", "--help"]])
def test_help_works_without_trust(arguments: list[str], opened: Opened) -> None:
    opened.write()
    assert opened(*arguments).code == 0


def test_trust_holds_until_it_is_withdrawn(opened: Opened) -> None:
    file = opened.write()
    trusted = opened("config", "trust", "--json")
    assert trusted.data["file"] == str(file)
    assert "demo_echo" not in opened("list").out
    assert opened("config", "untrust").out == f"no longer trusted: {file}\n"
    assert opened("config", "untrust").out == f"was not trusted: {file}\n"
    assert opened("list").code == 3


def test_the_pin_is_of_one_content_in_one_place(opened: Opened, tmp_path: Path) -> None:
    file = opened.write()
    assert opened("config", "trust").code == 0
    (tmp_path / "elsewhere").symlink_to(opened.folder)
    elsewhere = Opened(tmp_path / "elsewhere", opened.site)
    opened.write()
    assert elsewhere("list").code == 0, "another spelling of the folder"
    elsewhere.folder.unlink()
    elsewhere.folder.mkdir()
    (elsewhere.folder / "hostconfig.toml").symlink_to(file)
    assert elsewhere("list").code == 3, "relative paths in the file would count from this folder"
    opened.write(HIDES + "# edited\n")
    assert "has changed since it was trusted" in opened("list").err
    opened.write()
    assert opened("list").code == 0


def test_a_file_that_is_named_and_the_users_own_need_no_trust(opened: Opened, tmp_path: Path) -> None:
    file = opened.write()
    assert opened("list", "--config", "hostconfig.toml").code == 0
    assert opened("list", env={"PEGBOARD_CONFIG": "hostconfig.toml"}).code == 0
    own = tmp_path / "home/.config/pegboard/hostconfig.toml"
    own.parent.mkdir(parents=True)
    file.rename(own)
    assert opened("list").code == 0
    own.chmod(0o666)
    assert opened("list").code == 3


def test_only_stdio_goes_on_and_says_so(opened: Opened) -> None:
    opened.write('[host]\nname = "foreign"\n')
    line = opened.arguments("stdio")
    done = subprocess.run(
        line, cwd=opened.folder, env=opened.environment(), input=STDIO, capture_output=True, text=True, check=False
    )
    assert (done.returncode, json.loads(done.stdout)["id"]) == (0, 1)
    assert "hostconfig.toml: is not trusted" in done.stderr
    assert "The host starts without this file." in done.stderr


def world(mode: int) -> Callable[[Path], None]:
    return lambda path: path.chmod(mode)


def in_folder(mode: int) -> Callable[[Path], None]:
    return lambda path: path.parent.chmod(mode)


def through_link(path: Path) -> None:
    target = path.parent / "shared"
    target.mkdir()
    target.chmod(0o777)
    path.rename(target / "target.toml")
    path.symlink_to(target / "target.toml")


REFUSED = {
    "writable": (world(0o646), "other users can write it"),
    "in a writable folder": (in_folder(0o777), "other users can write its folder"),
    "link into a writable folder": (through_link, "other users can write its folder"),
    "another owner": (lambda path: os.chown(path, 12345, -1), "it belongs to another user"),
}


@pytest.mark.parametrize(("change", "told"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_others_can_change_is_refused(change: Callable[[Path], None], told: str, opened: Opened) -> None:
    file = opened.write()
    assert opened("config", "trust").code == 0
    try:
        change(file)
    except PermissionError:
        pytest.skip("only root gives files away")
    assert (opened("list").code, opened("config", "trust").code) == (3, 3)
    assert told in opened("list").err
    named = opened("list", "--config", "hostconfig.toml")
    assert (named.code, told in named.err) == (0, True), "the operator decided, and is warned"


@pytest.mark.parametrize("change", [world(0o664), in_folder(0o1777), in_folder(0o775)], ids=["group", "sticky", "team"])
def test_the_group_and_sticky_folders_do_no_harm(change: Callable[[Path], None], opened: Opened) -> None:
    file = opened.write()
    change(file)
    assert opened("config", "trust").code == 0
    assert opened("list").code == 0


@pytest.mark.parametrize("command", ["list", "config trust"])
def test_a_pipe_in_the_files_place_keeps_nobody_waiting(command: str, opened: Opened) -> None:
    (opened.folder / "hostconfig.toml").unlink()
    os.mkfifo(opened.folder / "hostconfig.toml")
    assert "not a regular file" in opened(*command.split()).err


@pytest.mark.parametrize("target", ["missing/hostconfig.toml", "hostconfig.toml"], ids=["no file", "a loop"])
def test_a_link_that_leads_nowhere_stops_the_command(target: str, opened: Opened) -> None:
    """The file behind it may hold the authenticators, as on a disk that is not mounted."""
    file = opened.write()
    file.unlink()
    file.symlink_to(target)
    done = opened("list")
    assert done.code == 3
    assert "hostconfig.toml: cannot be read: " in done.err


def test_the_settings_that_widen_access_are_shown(opened: Opened) -> None:
    opened.write('[plugins.http]\nhost = "0.0.0.0"\nport = 1\n[plugins.worker]\nsecret = {env = "K"}\n')
    shown = opened("config", "trust").out
    assert 'plugins.http.host = "0.0.0.0"' in shown
    assert "plugins.http.port" not in shown
    assert 'plugins.worker.secret = { env = "K" }' in shown


def test_tokens_and_issuers_that_a_file_admits_are_shown(opened: Opened) -> None:
    """Their author knows them, and may be a stranger."""
    opened.write(
        f'[plugins.auth_token]\ntoken = "{KNOWN}"\ncallers.eve.token = "{KNOWN}x"\n'
        f'[plugins.worker]\nsecret = "{KNOWN}"\n'
        '[plugins.resource_server]\nresource = "http://localhost/mcp"\n'
        '[[plugins.resource_server.authorization_servers]]\nissuer = "https://evil.example"\n'
    )
    shown = opened("config", "trust").out
    for key in ("auth_token.token", "auth_token.callers", "worker.secret", "resource_server.authorization_servers"):
        assert f"  plugins.{key} = " in shown
    assert "https://evil.example" in shown
    assert KNOWN not in shown


def test_no_key_and_no_folder_forges_a_line(opened: Opened) -> None:
    folder = opened.folder / "a\nFORGED"
    folder.mkdir()
    inside = Opened(folder, opened.site)
    inside.write(
        '[plugins.http]\nhost = "0.0.0.0"\n[plugins.static_tokens.tokens]\n"github\\nFORGED" = { env = "T" }\n'
    )
    for command in ("config trust", "config show", "config untrust", "config check --config hostconfig.toml"):
        done = inside(*command.split(), env={"T": "x"})
        assert not [line for line in (done.out + done.err).splitlines() if line.startswith("FORGED")], command
    assert 'tokens."github\\nFORGED"' in inside("config", "trust").out


@pytest.mark.parametrize("variables", [{"HOME": "."}, {"HOME": "", "XDG_CONFIG_HOME": "."}], ids=str)
def test_a_relative_home_names_no_file_of_the_users_own(variables: dict[str, str], opened: Opened) -> None:
    (opened.folder / "hostconfig.toml").unlink()
    own = opened.folder / ".config/pegboard/hostconfig.toml"
    own.parent.mkdir(parents=True)
    own.write_text(HIDES)
    assert "demo_echo" in opened("list", env=variables).out


def test_without_a_state_directory_the_message_names_the_variable(opened: Opened) -> None:
    file = opened.write()
    for command in ("trust", "untrust"):
        done = opened("config", command, env={"PEGBOARD_STATE_DIR": str(file)})
        assert (done.code, "set PEGBOARD_STATE_DIR to a folder that you can write" in done.err) == (1, True)


def test_a_terminal_is_asked_once(opened: Opened) -> None:
    opened.write('[plugins.http]\nhost = "0.0.0.0"\n')
    refused = opened.at_terminal("n\n", "list")
    assert (refused.code, 'plugins.http.host = "0.0.0.0"' in refused.err) == (3, True)
    accepted = opened.at_terminal("y\n", "list")
    assert (accepted.code, "[y/N]" in accepted.err) == (0, True)
    assert "[y/N]" not in opened.at_terminal("", "list").err
    assert "[y/N]" not in opened.at_terminal("", "list", "--json").err


def test_after_an_edit_the_changed_settings_are_shown(opened: Opened) -> None:
    opened.write('[host]\ntitle = "old"\nuser = "ada"\n[toolkits.demo]\n')
    assert opened("config", "trust").code == 0
    opened.write('[host]\ntitle = "new\\u001b[2J"\nuser = "ada"\n')
    told = opened.at_terminal("y\n", "list").err
    assert '  - host.title = "old"\n' in told.replace("pegboard: ", "")
    assert '  + host.title = "new\\u001b[2J"\n' in told.replace("pegboard: ", "")
    assert "host.user" not in told
    assert opened("list").code == 0


@pytest.mark.parametrize("text", ["x = ", "[host]\nnonsense = 1\n"])
def test_a_wrong_file_is_not_trusted(text: str, opened: Opened) -> None:
    opened.write(text)
    assert opened("config", "trust").code == 3
    assert "is not trusted" in opened("list").err


def test_a_program_that_serves_itself_needs_trust_as_well(opened: Opened) -> None:
    opened.write('[host]\nname = "foreign"\n')
    (opened.folder.parent / "own.py").write_text("from pegboard import Toolkit\nToolkit('own').run('http', port=0)\n")
    line = [sys.executable, "../own.py"]
    done = subprocess.run(
        line, cwd=opened.folder, env=opened.environment(), capture_output=True, text=True, check=False, timeout=WAIT
    )
    assert (done.returncode, "is not trusted" in done.stderr) == (3, True)


@pytest.mark.parametrize(
    ("settings", "variables", "told"),
    [
        ('[plugins.http]\nhost = "127.0.0.1"\n[host]\ntitle = "x"', {}, []),
        (
            '[plugins.rate_limit]\nburst = 7\n[toolkits.files]\nroots = ["."]\nwrite = true',
            {"PEGBOARD__HOST__DISABLED_PLUGINS": '["rate_limit"]', "TOKEN": "canary"},
            ["toolkits.files.write = true (changes files, hostconfig.toml:5)", 'disabled_plugins = ["rate_limit"] (']
        ),
        (
            '[plugins.static_tokens.tokens]\ngithub = { env = "TOKEN" }',
            {"TOKEN": "canary-of-the-token"},
            ['plugins.static_tokens.tokens.github = { env = "TOKEN" } (passes the variable TOKEN on, '],
        ),
    ],
)  # fmt: skip
def test_the_start_tells_what_widens_access(
    settings: str, variables: dict[str, str], told: list[str], opened: Opened
) -> None:
    opened.write(settings)
    env = opened.environment({"PEGBOARD_CONFIG": "hostconfig.toml", **variables})
    line = opened.arguments("stdio")
    done = subprocess.run(
        line, cwd=opened.folder, env=env, input="", capture_output=True, text=True, check=False, timeout=WAIT
    )
    lines = [line for line in done.stderr.splitlines() if "settings that widen access" in line]
    assert len(lines) == (1 if told else 0), done.stderr
    assert all(text in lines[0] for text in told)
    assert "canary" not in done.stderr


def test_the_start_tells_the_files_that_were_read(opened: Opened) -> None:
    opened.write('[host]\nlog_level = "info"\n')
    (opened.folder / ".env").write_text("UNUSED=1\n")
    (opened.folder / "key").write_text("12345")
    env = opened.environment({"PEGBOARD_CONFIG": "hostconfig.toml", "DEMO_KEY_FILE": "key"})
    del env["GITHUB_TOKEN"], env["DEMO_KEY"]
    line = opened.arguments("stdio")
    done = subprocess.run(
        line, cwd=opened.folder, env=env, input="", capture_output=True, text=True, check=False, timeout=WAIT
    )
    (told,) = [line for line in done.stderr.splitlines() if ": started with " in line]
    assert told.partition("started with ")[2].startswith(
        f"{opened.folder}/hostconfig.toml, {opened.folder}/.env, key; "
    )


def test_a_third_partys_plugin_widens_access(opened: Opened) -> None:
    opened.install("around", "from pegboard.plugin import Plugin\nclass kit(Plugin): pass\n", group="pegboard.plugins")
    opened.write("[plugins.around]\n")
    assert "plugins.around = true  (runs code of dist-around around every call)" in opened("config", "trust").out
