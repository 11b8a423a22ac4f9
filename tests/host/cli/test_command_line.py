"""The command line: options, also those that set keys of the configuration, help, exit codes and output."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from pegboard.cli import main
from pegboard.cli.command_config import load_config
from pegboard.cli.parsing.parser import parse
from pegboard.messages.argument_errors import step
from pegboard.terminal.printing import UsageError
from tests.docs.pages import Page
from tests.support.command_line import Command
from tests.support.http import Served, http_config

OF_PLUGINS = "a plugin adds its options when it is enabled (`pegboard plugins`)"
COMMANDS = ("stdio", "serve", "list", "show", "call", "new", "plugins", "why", "config", "config check", "config show")


@pytest.mark.needs("tool_commands")
def test_options_may_come_before_between_and_after_arguments() -> None:
    options = parse(["--only", "a", "call", "TOOL", "x=1", "--no-wait", "y:=2", "--only", "b", "--json", "-v"])
    assert (options.run, options.tool) == ("pegboard_plugins.authoring.tool_commands.call_command:run_call", "TOOL")
    assert options.arguments == ["x=1", "y:=2"]
    assert (options.json, options.only, options.verbose) == (True, ["a", "b"], 1)


@pytest.mark.needs("configure", "cost", "edit_config", "secret", "tool_commands")
@pytest.mark.parametrize(
    ("line", "message", "command"),
    [
        ("check", "there is no command 'check'; did you mean `pegboard config check`?\n", ""),
        ("set", "there is no command 'set'; did you mean `pegboard config set` or `pegboard secret set`?\n", ""),
        ("configure kit.py cursor", "there is no command 'kit.py'; write one of claude-desktop, ", "configure "),
        ("list kit.py", "'kit.py' is a file: write `pegboard list --file kit.py`\n", "list "),
        ("serve --prot 80", "unknown option '--prot'; did you mean '--port'?", "serve "),
        ("config show --jsno", "unknown option '--jsno'; did you mean '--json'?", "config show "),
        ("list --js", "unknown option '--js'; did you mean '--json'?", "list "),
        ("serve --usage-file x", f"unknown option '--usage-file'; {OF_PLUGINS}", "serve "),
        ("list --url", "--url requires a value", "list "),
        ("config", "name a command of `pegboard config`: check, show", "config "),
        ("list --json=1", "--json takes no value", ""),
        ("serve --port abc", "--port must be an integer, not 'abc'", "serve "),
        ("cost --budget -5", "argument --budget: must be a whole number from 0, not '-5'", "cost "),
        ("call TOOL --path x", "unknown option '--path'; write arguments of a tool without dashes: path=", "call "),
    ],
)
def test_a_wrong_line_is_refused_with_a_hint(
    line: str, message: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        parse(line.split())
    assert f"{caught.value}\n".startswith(message)
    assert caught.value.program == f"pegboard {command}".rstrip()


@pytest.mark.needs("tool_commands")
def test_a_removed_working_directory_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder := tmp_path / "gone").mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert main(["list"]) == 3
    assert capsys.readouterr().err.startswith("pegboard: the working directory does not exist: change to another")


@pytest.mark.parametrize(("argument", "code"), [("--version", 0), ("--nonsense", 2)])
def test_version_and_usage_load_no_host(argument: str, code: int, bare: Command) -> None:
    script = (
        "import sys\nfrom pegboard.cli import main\ncode = main(sys.argv[1:])\n"
        "print([name for name in ('asyncio', 'aiohttp', 'pegboard.host') if name in sys.modules])\n"
        "sys.exit(code)"
    )
    done = bare.run([sys.executable, "-c", script, argument])
    first = f"pegboard {version('pegboard')}\n" if code == 0 else ""
    assert (done.code, done.out) == (code, f"{first}[]\n")


@pytest.mark.needs("demo", "dev", "tool_commands", "why")
def test_help_has_examples_that_parse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("", *COMMANDS):
        with pytest.raises(SystemExit) as caught:
            parse([*command.split(), "--help"])
        out, err = capsys.readouterr()
        assert (caught.value.code, err, "--config FILE" in out) == (0, "", True)
        examples = out.partition("examples:\n")[2].partition("\n\n")[0].splitlines()
        assert examples
        for example in examples:
            words = example.strip().partition("   ")[0].split()
            assert words[: 1 + len(command.split())] == ["pegboard", *command.split()]
            parse(words[1:])


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize("line", ["call demo_big", "--help"])
def test_a_closed_pipe_causes_no_complaint(line: str, pegboard: Command) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = pegboard(*line.split(), stdout=writing)
    os.close(writing)
    assert done.code in (0, 1)
    assert not [words for words in ("Traceback", "Exception ignored", "BrokenPipe") if words in done.err]


@pytest.mark.needs("tool_commands")
def test_output_fits_its_encoding(pegboard: Command) -> None:
    env, encoding = {"PYTHONIOENCODING": "cp932"}, "cp932"
    evil = pegboard.run(pegboard.arguments("call", "demo_evil"), env=env, encoding=encoding)
    assert (evil.code, bool(evil.out)) == (0, True), evil.err
    shown = pegboard.run(pegboard.arguments("show", "demo_evil", "--json"), env=env, encoding=encoding)
    assert "é 日本" in shown.data["description"]
    assert "日本" in pegboard.run(pegboard.arguments("list"), env=env, encoding=encoding).out


FILE = """
[host]
transports = ["file"]
log_level = "error"
[plugins.http]
host = "192.0.2.1"
port = 1
[plugins.mcp]
path = "/file"
[plugins.stdio]
after_eof = "drop"
"""
TALKING = '''
import logging
from pegboard import Toolkit
kit = Toolkit("shop")
logging.getLogger("shop").warning("warned")
logging.getLogger("shop").info("informed")
@kit.tool
def find() -> str:
    """Find."""
    return ""
'''


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("serve --host ::1", "plugins.http.host", "::1"),
        ("serve --port 0", "plugins.http.port", 0),
        ("serve --path /tools", "plugins.mcp.path", "/tools"),
        ("serve --transport stdio,http", "host.transports", ["stdio", "http"]),
        ("serve --log-level debug", "host.log_level", "debug"),
        ("stdio --log-level info", "host.log_level", "info"),
        ("stdio --finish", "plugins.stdio.after_eof", "finish"),
    ],
)
def test_an_option_sets_its_key_and_wins(
    line: str, key: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hostconfig.toml"
    file.write_text(FILE, "utf-8")
    monkeypatch.setenv("PEGBOARD__" + key.upper().replace(".", "__"), "environment")
    config = load_config(parse([*line.split(), "--config", str(file)]))
    table, _, name = key.rpartition(".")
    node = config.sources.tree
    for part in key.split("."):
        node = step(node, part)
    assert (node, config.source(key).kind) == (value, "command line")
    section = Page("docs/configuration.md").partition(f"## [{table}]")[2].partition("\n## ")[0]
    assert re.search(rf"^- `{name}\b", section, re.M)


async def test_a_server_listens_as_the_options_say(pegboard: Command) -> None:
    options = ("--host", "127.0.0.1", "--port", "0", "--path", "/tools", "--transport", "http", "--log-level", "info")
    command = (sys.executable, "-m", "pegboard", "serve", *options)
    async with Served(pegboard.site, http_config("host = '192.0.2.1'"), command=command) as served:
        assert served.url.endswith("/tools")
        assert (await served.request("GET", "/readyz")).status == 200
        assert "INFO" in served.stderr or "info" in served.stderr


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(
    ("level", "options", "logged"),
    [
        ("debug", [], ["warned"]),
        ("error", [], []),
        ("debug", ["--log-level", "info"], ["warned", "informed"]),
        ("debug", ["-v"], ["warned", "informed"]),
    ],
)
def test_a_command_that_prints_data_logs_more_only_if_its_command_line_says_so(
    level: str, options: list[str], logged: list[str], bare: Command
) -> None:
    bare.install("shop", TALKING)
    bare.configure(f'log_level = "{level}"')
    done = bare("list", *options)
    assert (done.code, [line.split(": ")[-1] for line in done.err.splitlines() if "shop" in line]) == (0, logged)
