"""The command line itself: options, help, exit codes, and output that reaches whoever reads it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.cli.parser import parse
from tests.cli.conftest import WAIT, Command, Done

COMMANDS = ("stdio", "serve", "list", "show", "call", "plugins", "why", "config", "config check", "config show")

# --- options


@pytest.mark.parametrize(
    "line",
    [
        "--json --only a,b -v list",
        "list --json --only a,b -v",
        "--json list --only a,b -v",
        "--only a -v list --only b --json",
    ],
)
def test_options_may_stand_before_and_after_the_command(line: str) -> None:
    options = parse(line.split())
    assert (options.run, options.json, options.only, options.verbose) == ("listing:run_list", True, ["a", "b"], 1)
    assert (options.strict, options.safe, options.config) == (False, False, None)


@pytest.mark.parametrize(
    "line",
    [
        "call --json TOOL a=1 b:=2",
        "call TOOL --json a=1 b:=2",
        "call TOOL a=1 --json b:=2",
        "call TOOL a=1 b:=2 --json",
        "--json call TOOL a=1 b:=2",
    ],
)
def test_options_may_stand_between_the_arguments_of_a_call(line: str) -> None:
    options = parse(line.split())
    assert (options.run, options.json, options.tool) == ("call:run_call", True, "TOOL")
    assert options.arguments == ["a=1", "b:=2"]


def test_options_add_up_wherever_they_stand() -> None:
    assert parse(["-v", "list", "-v"]).verbose == 2
    assert parse(["list", "-vv"]).verbose == 2
    assert parse(["--only", "a, b ,", "list", "--only=c"]).only == ["a", "b", "c"]


def test_groups_of_commands_take_options_too() -> None:
    options = parse(["config", "--json", "check", "--config", "x.toml"])
    assert (options.run, options.json, options.config) == ("config_commands:run_config_check", True, Path("x.toml"))


def refused(*argv: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as caught:
        parse(argv)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("pegboard: see `pegboard")
    return err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("lits", "there is no command 'lits'; did you mean 'list'?"),
        ("quite", "there is no command 'quite'"),
        ("config chekc", "there is no command 'chekc'; did you mean 'check'?"),
        ("config", "the following arguments are required: COMMAND"),
        ("show", "the following arguments are required: tool"),
        ("call", "the following arguments are required: tool\n"),
        ("list files", "'files' is one argument too many\n"),
        ("list kit.py", "'kit.py' is one argument too many; a file of tools is named with --file kit.py\n"),
        ("list --jsno", "unknown option '--jsno'; did you mean '--json'?"),
        ("list --js", "unknown option '--js'"),
        ("list --config", "argument --config: expected one argument"),
        ("call TOOL --path=x", "unknown option '--path=x'; a tool's arguments have no dashes: path=x"),
        ("call TOOL --path x", "unknown option '--path'; a tool's arguments have no dashes: path=VALUE"),
    ],
)
def test_what_is_wrong_is_said_with_what_was_meant(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(*line.split(), capsys=capsys).startswith(f"pegboard: {told}")


# --- help and version


def test_the_version_is_printed_and_little_is_loaded(bare: Command) -> None:
    from importlib.metadata import version

    assert bare("--version") == Done(0, f"pegboard {version('pegboard')}\n", "")


@pytest.mark.parametrize("argument", ["--version", "--nonsense"])
def test_nothing_heavy_is_loaded_for_talk(argument: str, bare: Command) -> None:
    code = (
        "import sys\nfrom pegboard.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('pydantic', 'pluggy', 'asyncio', 'pegboard.host') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, argument],
        env=bare.environment(),
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_without_a_command_there_is_help(bare: Command) -> None:
    done = bare()
    assert (done.code, done.err) == (0, "")
    assert done.out == bare("--help").out
    for command in COMMANDS[:8]:
        assert f"    {command} " in done.out
    assert "exit codes: 0 fine; 1 " in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_that_parse(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse([*command.split(), "--help"])
    assert caught.value.code == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "--config FILE" in out
    examples = out.partition("examples:\n")[2].split("\n")
    lines = [line.split() for line in examples if line.strip()]
    assert lines
    for words in lines:
        assert words[: 1 + len(command.split())] == ["pegboard", *command.split()]
        parse(words[1:])


def test_the_examples_of_the_general_help_parse(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    text = capsys.readouterr().out.partition("examples:\n")[2].partition("\n\n")[0]
    lines = [line.strip().partition("   ")[0].split() for line in text.splitlines()]
    assert len(lines) > 3
    for words in lines:
        assert words[0] == "pegboard"
        parse(words[1:])


# --- output


def pipe_closed_by_reader(pegboard: Command, *arguments: str) -> tuple[int, str]:
    """Run the command with a reader that has gone already."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            pegboard.arguments(*arguments),
            cwd=pegboard.folder,
            env=pegboard.environment(),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WAIT,
            check=False,
        )
    finally:
        os.close(writing)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments", [("list",), ("call", "demo_big"), ("config", "show"), ("--help",), ("--version",), ()]
)
def test_a_reader_that_has_gone_is_no_reason_to_complain(arguments: tuple[str, ...], pegboard: Command) -> None:
    code, err = pipe_closed_by_reader(pegboard, *arguments)
    assert code in (0, 1)
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert "BrokenPipe" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is full")
@pytest.mark.parametrize("arguments", [("list",), ("call", "demo_big")])
def test_output_that_cannot_be_written_is_told(arguments: tuple[str, ...], pegboard: Command) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            pegboard.arguments(*arguments),
            cwd=pegboard.folder,
            env=pegboard.environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WAIT,
            check=False,
        )
    assert done.returncode == 1
    assert "pegboard: the output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("arguments", [["list"], ["--version"], ["call", "demo_chat"], ["config", "check"]])
def test_without_any_output_a_command_still_works(arguments: list[str], pegboard: Command) -> None:
    code = "import os, sys\nos.close(1)\nos.execv(sys.executable, [sys.executable, '-m', 'pegboard', *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=pegboard.folder,
        env=pegboard.environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=WAIT,
        check=False,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("env", "encoding"),
    [
        ({"PYTHONIOENCODING": "cp932"}, "cp932"),
        ({"PYTHONIOENCODING": "", "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "ascii"),
        ({"PYTHONIOENCODING": "ascii:strict"}, "ascii"),
        ({"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}, "cp1252"),
    ],
    ids=["cp932", "C", "ascii", "cp1252"],
)
def test_output_fits_the_encoding_it_goes_to(env: dict[str, str], encoding: str, pegboard: Command) -> None:
    for arguments in (("list",), ("show", "demo_evil"), ("call", "demo_evil"), ("config", "show"), ("plugins",)):
        done = pegboard(*arguments, env=env, encoding=encoding)
        assert done.code == 0, done.err
        assert done.out
    found = pegboard("show", "demo_evil", "--json", env=env, encoding=encoding).data
    assert "é 日本" in found["description"]
    if encoding == "cp932":
        assert "日本" in pegboard("list", env=env, encoding=encoding).out


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("show", "demo_echo"),
        ("plugins",),
        ("why", "demo"),
        ("config", "check"),
        ("config", "show"),
        ("call", "demo_nothing"),
    ],
)
def test_json_is_all_there_is_on_stdout(arguments: tuple[str, ...], pegboard: Command) -> None:
    pegboard.install("broken", "print('noise')\nraise OSError\n")
    assert pegboard(*arguments, "--json", "-vv").data is not None
