"""A `hostconfig.toml` in the working directory is used only after its user has trusted it."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pegboard.cli import host_setup
from pegboard.errors import ConfigError
from tests.support.command_line import Command

HIDES = '[host]\ndisabled_tools = ["demo_echo"]\n'
KNOWN = "0123456789abcdef" * 4
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


class Opened(Command):
    """The command in a folder whose file is not named."""

    def environment(self, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
        own: dict[str, str | None] = {"PEGBOARD_CONFIG": "", "HOME": str(self.folder.parent / "home")}
        return super().environment(own | dict(more or {}))


@pytest.fixture
def opened(pegboard: Command) -> Opened:
    return Opened(pegboard.folder, pegboard.site)


@pytest.mark.needs("tool_commands")
def test_an_untrusted_file_stops_commands_but_not_help_and_stdio(opened: Opened) -> None:
    opened.write(HIDES)
    for line in ("serve", "list --json", "config show --safe", "token"):
        done = opened(*line.split())
        output, silent = (done.out, done.err) if "--json" in line else (done.err, done.out)
        assert (done.code, silent) == (3, "")
        assert "the file is not trusted" in output
        assert "`pegboard config trust`" in output
        assert "--config hostconfig.toml" in output
    for line in ("--version", "list --help"):
        assert opened(*line.split()).code == 0
    done = opened("stdio", typed=PING)
    assert (done.code, done.data["id"]) == (0, 1)
    assert "The host starts without this file." in done.err


def test_a_program_that_serves_itself_requires_trust(opened: Opened) -> None:
    opened.write("from pegboard import Toolkit\nToolkit('own').run('http', port=0)\n", "../own.py")
    done = opened.run([sys.executable, "../own.py"])
    assert (done.code, "is not trusted" in done.err) == (3, True)


@pytest.mark.needs("tool_commands")
def test_trust_is_of_one_content_in_one_place_until_it_is_withdrawn(opened: Opened, tmp_path: Path) -> None:
    file = opened.write(HIDES)
    assert opened("config", "trust", "--json").data["file"] == str(file)
    assert "demo_echo" not in opened("list").out
    (tmp_path / "elsewhere").symlink_to(opened.folder)
    elsewhere = Opened(tmp_path / "elsewhere", opened.site)
    opened.write(HIDES)
    assert elsewhere("list").code == 0, "another spelling of the folder"
    elsewhere.folder.unlink()
    elsewhere.folder.mkdir()
    (elsewhere.folder / "hostconfig.toml").symlink_to(file)
    assert elsewhere("list").code == 3, "relative paths in the file would mean other files"
    opened.write(HIDES + "# edited\n")
    assert "has changed since it was trusted" in opened("list").err
    edited = opened("stdio", typed=PING)
    assert (edited.code, edited.out, "has changed since it was trusted" in edited.err) == (3, "", True)
    file.unlink()
    file.symlink_to("absent.toml")
    assert opened("stdio", typed=PING).code == 3, "a trusted file that cannot be read"
    file.unlink()
    opened.write(HIDES)
    assert opened("list").code == 0
    assert "changed settings" not in opened("config", "trust").out
    assert opened("config", "untrust").out == f"no longer trusted: {file}\n"
    assert opened("config", "untrust").out == f"was not trusted: {file}\n"
    assert opened("list").code == 3


@pytest.mark.needs("tool_commands")
def test_a_named_file_and_the_users_own_need_no_trust(opened: Opened, tmp_path: Path) -> None:
    file = opened.write(HIDES)
    assert opened("list", "--config", "hostconfig.toml").code == 0
    assert opened("list", env={"PEGBOARD_CONFIG": "hostconfig.toml"}).code == 0
    own = tmp_path / "home/.config/pegboard/hostconfig.toml"
    own.parent.mkdir(parents=True)
    file.rename(own)
    assert opened("list").code == 0
    own.chmod(0o666)
    assert opened("list").code == 3


def through_link(path: Path) -> None:
    target = path.parent / "shared"
    target.mkdir()
    target.chmod(0o777)
    path.rename(target / "target.toml")
    path.symlink_to(target / "target.toml")


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.chmod(0o646), "other users can write it"),
        (lambda path: path.parent.chmod(0o777), "other users can write its folder"),
        (through_link, "other users can write its folder"),
        (lambda path: os.chown(path, 12345, -1), "it belongs to another user"),
        (lambda path: path.chmod(0o664), None),
        (lambda path: path.parent.chmod(0o1777), None),
        (lambda path: path.parent.chmod(0o775), None),
    ],
    ids=["writable", "folder", "link", "owner", "group", "sticky", "group folder"],
)
def test_a_file_that_other_users_can_change_is_refused(
    change: Callable[[Path], None], message: str | None, opened: Opened
) -> None:
    file = opened.write(HIDES)
    assert opened("config", "trust").code == 0
    try:
        change(file)
    except PermissionError:
        pytest.skip("only root gives files away")
    code = 0 if message is None else 3
    listed = opened("list")
    assert (listed.code, opened("config", "trust").code) == (code, code)
    assert opened("stdio", typed=PING).code == code, "it does not start without the trusted file"
    if message is not None:
        assert message in listed.err
        named = opened("list", "--config", "hostconfig.toml")
        assert (named.code, message in named.err) == (0, True), "the operator decided, and is warned"


def test_links_without_a_file_pipes_and_invalid_files_are_rejected(opened: Opened) -> None:
    """The file may configure authenticators, as on a disk that is not mounted."""
    file = opened.write("[host]\nnonsense = 1\n")
    done = opened("config", "trust")
    assert (done.code, "hostconfig.toml:2: " in done.err) == (3, True)
    assert "is not trusted" in opened("list").err
    file.unlink()
    file.symlink_to("missing/hostconfig.toml")
    done = opened("list")
    assert (done.code, "hostconfig.toml: cannot be read: " in done.err) == (3, True)
    file.unlink()
    os.mkfifo(file)
    for line in ("list", "config trust"):
        assert "not a regular file" in opened(*line.split()).err


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize("variables", [{"HOME": "."}, {"HOME": "", "XDG_CONFIG_HOME": "."}], ids=str)
def test_a_relative_home_is_not_the_users_own_folder(variables: dict[str, str], opened: Opened) -> None:
    (opened.folder / "hostconfig.toml").unlink()
    (opened.folder / ".config/pegboard").mkdir(parents=True)
    opened.write(HIDES, ".config/pegboard/hostconfig.toml")
    assert "demo_echo" in opened("list", env=variables).out


@pytest.mark.needs("auth", "worker", "rate_limit")
def test_settings_that_widen_access_are_shown_and_tokens_are_masked(opened: Opened) -> None:
    opened.install("around", "from pegboard.plugin import Plugin\nclass kit(Plugin): pass\n", group="pegboard.plugins")
    opened.write(
        f'[plugins.auth_token]\ntoken = "{KNOWN}"\ncallers.eve.token = "{KNOWN}x"\n'
        '[plugins.http]\nhost = "0.0.0.0"\nport = 1\n[plugins.worker]\nsecret = { env = "K" }\n'
        '[plugins.resource_server]\nresource = "http://localhost/mcp"\n'
        '[[plugins.resource_server.authorization_servers]]\nissuer = "https://evil.example"\n[plugins.around]\n'
    )
    shown = opened("config", "trust").out
    for key in ("auth_token.token", "auth_token.callers", "resource_server.authorization_servers"):
        assert f"  plugins.{key} = " in shown
    assert 'plugins.http.host = "0.0.0.0"' in shown
    assert "plugins.http.port" not in shown
    assert 'plugins.worker.secret = { env = "K" }' in shown
    assert "https://evil.example" in shown
    assert "plugins.around = true  (runs code of dist-around in the host)" in shown
    assert KNOWN not in shown


def test_long_settings_hide_nothing_from_the_person_who_decides(opened: Opened) -> None:
    def asked(last: str, answer: str) -> str:
        opened.write(f"[plugins.http]\nallowed_hosts = {[*(f'{place}.example' for place in range(50)), last]}\n")
        return opened("list", typed=f"{answer}\n", terminal=(0, 2)).err

    assert '"first.example"' in asked("first.example", "y")
    changed = asked("second.example", "n")
    assert [changed.count(f'"{name}.example"') for name in ("first", "second")] == [1, 2]
    references = "".join(f'a{place} = {{ env = "A" }}\n' for place in range(60))
    opened.write(f'[plugins.static_tokens.tokens]\n{references}[plugins.http]\nhost = "0.0.0.0"\n')
    assert 'plugins.http.host = "0.0.0.0"' in opened("config", "trust", env={"A": "x"}).out


@pytest.mark.needs("auth")
def test_names_of_keys_and_folders_cannot_forge_a_line(opened: Opened) -> None:
    folder = opened.folder / "a\nFORGED"
    folder.mkdir()
    inside = Opened(folder, opened.site)
    inside.write('[plugins.static_tokens.tokens]\n"github\\nFORGED" = { env = "T" }\n')
    for line in ("config trust", "config show", "config untrust"):
        done = inside(*line.split(), env={"T": "x"})
        assert not [text for text in (done.out + done.err).splitlines() if text.startswith("FORGED")], line
    assert 'tokens."github\\u000aFORGED"' in inside("config", "trust").out


@pytest.mark.needs("tool_commands")
def test_a_terminal_is_asked_once_and_after_an_edit_shows_the_changed_settings(opened: Opened) -> None:
    opened.write('[host]\ntitle = "old"\nuser = "ada"\n[plugins.http]\nhost = "0.0.0.0"\n')
    refused = opened("list", typed="n\n", terminal=(0, 2))
    assert (refused.code, 'plugins.http.host = "0.0.0.0"' in refused.err) == (3, True)
    accepted = opened("list", typed="y\n", terminal=(0, 2))
    assert (accepted.code, "[y/N]" in accepted.err) == (0, True)
    assert "[y/N]" not in opened("list", terminal=(0, 2)).err
    opened.write('[host]\ntitle = "new\\u001b[2J"\nuser = "ada"\n')
    text = opened("list", typed="y\n", terminal=(0, 2)).err.replace("pegboard: ", "")
    assert '  - host.title = "old"\n' in text
    assert '  + host.title = "new\\u001b[2J"\n' in text
    assert "host.user" not in text
    assert opened("list").code == 0


@pytest.mark.needs("worker", "rate_limit")
@pytest.mark.parametrize(
    ("settings", "variables", "expected"),
    [
        ('[plugins.http]\nhost = "127.0.0.1"\n[host]\ntitle = "x"', {}, []),
        (
            '[plugins.rate_limit]\nburst = 7\n[toolkits.files]\nroots = ["."]\nwrite = true',
            {"PEGBOARD__HOST__DISABLED_PLUGINS": '["rate_limit"]'},
            ["toolkits.files.write = true (changes files, hostconfig.toml:5)", 'disabled_plugins = ["rate_limit"] (']
        ),
        pytest.param(
            '[plugins.static_tokens.tokens]\ngithub = { env = "TOKEN" }',
            {"TOKEN": "canary-of-the-token"},
            ['plugins.static_tokens.tokens.github = { env = "TOKEN" } (gives this plugin the variable TOKEN, '],
            marks=pytest.mark.needs("auth"),
        ),
    ],
)  # fmt: skip
def test_the_start_logs_settings_that_widen_access(
    settings: str, variables: dict[str, str], expected: list[str], opened: Opened
) -> None:
    opened.write(settings)
    done = opened("stdio", env={"PEGBOARD_CONFIG": "hostconfig.toml", **variables})
    lines = [line for line in done.err.splitlines() if "settings to review" in line]
    assert len(lines) == (1 if expected else 0), done.err
    assert all(text in lines[0] for text in expected)
    assert "canary" not in done.err


def test_a_reload_skips_the_file_that_the_start_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(host_setup, "set_up_logging", lambda *_, **__: None)
    options = Namespace(config=None, file=[], only=[], verbose=0, safe=False, strict=False)

    def start() -> None:
        host_setup.host_from_options(options, serving=True, on_untrusted=host_setup.skip_untrusted)

    start()
    (tmp_path / "hostconfig.toml").write_text('[host]\nname = "hostile"\n')
    with pytest.raises(ConfigError, match="not trusted"):
        host_setup.config_again(options)
    start()
    assert host_setup.config_again(options).host.name != "hostile"


NEEDY = """
from pegboard import Toolkit
kit = Toolkit("needy")
@kit.tool(requires_secrets=["THE_KEY"])
def use() -> str:
    "Use the key."
    return "used"
"""


@pytest.mark.needs("tool_commands")
def test_the_env_file_of_a_folder_is_read_once_the_folder_is_trusted(opened: Opened) -> None:
    opened.install("needy", NEEDY)
    (opened.folder / "hostconfig.toml").unlink()
    file = opened.write("THE_KEY=found\n", ".env")
    line = f"in {file} (found, but not read until you run `pegboard config trust {opened.folder}`)"
    done = opened("call", "needy_use")
    assert (done.code, line in done.err) == (1, True)
    assert opened("config", "trust", ".").out == f"trusted: {opened.folder}; tools get the secrets of its .env\n"
    assert opened("call", "needy_use").out == "used\n"
    assert opened("config", "untrust", ".").out == f"no longer trusted: {opened.folder}\n"
    assert opened("call", "needy_use").code == 1
    assert opened("config", "trust", ".", "--json").data == {"file": str(opened.folder), "sha256": None, "widens": []}
    opened.write(HIDES)
    done = opened("stdio", typed="")
    assert ("The host starts without this file." in done.err, "THE_KEY" in done.err) == (True, False)
    assert opened("config", "trust", ".").out.endswith(f"trusted: {opened.folder}/hostconfig.toml\n")
    assert opened("call", "needy_use").out == "used\n"


@pytest.mark.parametrize(
    ("folder", "problem"),
    [("/", "is or holds your home"), ("..", "is or holds your home"), ("open", "other users can write it")],
)
def test_a_folder_that_is_too_wide_or_open_to_others_is_not_trusted(folder: str, problem: str, opened: Opened) -> None:
    (opened.folder / "open").mkdir()
    (opened.folder / "open").chmod(0o777)
    done = opened("config", "trust", folder)
    assert (done.code, problem in done.err) == (3, True), done


@pytest.mark.needs("secret", "tool_commands")
def test_a_secret_is_set_beside_the_users_own_settings_without_a_configuration_file(opened: Opened) -> None:
    opened.install("needy", NEEDY)
    (opened.folder / "hostconfig.toml").unlink()
    file = opened.folder.parent / "home/.config/pegboard/.env"
    done = opened("secret", "set", "THE_KEY", typed="key\n")
    assert (done.code, done.out) == (0, f"THE_KEY is set in {file}\n")
    assert (file.stat().st_mode & 0o777, opened("call", "needy_use").out) == (0o600, "used\n")
