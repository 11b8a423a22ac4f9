"""What the README shows is what happens: its code is run, its commands are called, its tables are compared."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from pegboard import cli
from tests.docs.pages import Page, pegboard, serving
from tests.support.distributions import make_distribution
from tests.support.environments import built_wheels, executable, make_environment, run
from tools.install import ROOT

README = Page("README.md")
BLOCKS = re.findall(r"^```(\w+(?: http)?)(?: file=(\S+))?\n(.*?)^```$", README, re.M | re.S)


def test_the_toolkit_installs_its_tool_runs_and_its_test_passes(tmp_path: Path) -> None:
    source = tmp_path / "dice"
    for name in ("pyproject.toml", "src/toolkit_dice/__init__.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(README.files[name])
    environment = make_environment(tmp_path / "env", "toolkit-dice", wheels=built_wheels(source))
    command = executable(environment, "pegboard")
    rolled = json.loads(run(command, "call", "dice_roll", "sides:=20", "dice:=3", "--json", cwd=tmp_path))["result"]
    assert len(rolled) == 3
    assert all(1 <= value <= 20 for value in rolled)
    (tmp_path / "toolkit_dice.py").write_text(README.files["src/toolkit_dice/__init__.py"])
    refused = pegboard("call", "--file", "toolkit_dice.py", "dice_roll", "dice:=101", cwd=tmp_path)
    assert (refused.code, "That is more than 100 dice; roll fewer." in refused.err) == (1, True)
    (tmp_path / "test_dice.py").write_text(README.files["test_dice.py"])
    (tmp_path / "conftest.py").touch()
    assert " 1 passed " in run(sys.executable, "-m", "pytest", "-p", "no:asyncio", "test_dice.py", cwd=tmp_path)


def test_the_plugin_runs_only_when_the_configuration_names_it(tmp_path: Path) -> None:
    make_distribution(
        tmp_path,
        "pegboard-loud",
        "1",
        {"pegboard.plugins": {"loud": "pegboard_loud:LoudPlugin"}},
        {"pegboard_loud/__init__.py": README.files["src/pegboard_loud/__init__.py"]},
    )
    (tmp_path / "note.txt").write_text("quiet words")
    read = ("call", "files_read", "path=note.txt")
    assert "quiet words" in pegboard(*read, cwd=tmp_path, path=tmp_path).out
    (tmp_path / "hostconfig.toml").write_text("[plugins.loud]\n")
    assert "QUIET WORDS" in pegboard(*read, "--config", "hostconfig.toml", cwd=tmp_path, path=tmp_path).out


def test_the_configuration_is_valid(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_text(README.files["hostconfig.toml"])
    (tmp_path / ".env").touch()
    checked = pegboard("config", "check", "--config", "hostconfig.toml", cwd=tmp_path)
    assert checked.code == 0, checked.err
    assert "files_search" not in pegboard("list", "--config", "hostconfig.toml", cwd=tmp_path).out


def test_the_server_in_one_file_and_the_embedded_host_run(tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text(README.files["demo.py"])
    (tmp_path / "embedded.py").write_text(README.files["embedded.py"])
    (line,) = re.findall(r"pegboard (call --file [^`]*)`", README)
    assert pegboard(*line.split(), cwd=tmp_path).out == "3\n"
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n"
    for command in ([sys.executable, "-m", "pegboard", "stdio", "demo.py"], [sys.executable, "demo.py"]):
        done = subprocess.run(command, cwd=tmp_path, input=request, capture_output=True, text=True, check=False)
        assert (done.returncode, json.loads(done.stdout)["id"]) == (0, 1)
    assert "Hello, Ada!" in run(sys.executable, tmp_path / "embedded.py", cwd=tmp_path)


def test_the_commands_and_the_settings_of_a_client_work() -> None:
    for line in re.findall(r"^pegboard [^\n]*", "\n".join(text for kind, _, text in BLOCKS if kind == "sh"), re.M):
        done = pegboard(*shlex.split(line, comments=True)[1:], "--config", "hostconfig.toml", cwd=ROOT)
        assert (done.code, bool(done.out)) == (0, True), done.err
    (settings,) = (json.loads(text) for kind, _, text in BLOCKS if kind == "json")
    arguments = settings["mcpServers"]["pegboard"]["args"]
    arguments[arguments.index("--config") + 1] = str(ROOT / "hostconfig.toml")
    assert pegboard(*arguments, cwd=ROOT) == (0, "", "")


def test_the_curl_lines_are_answered(tmp_path: Path) -> None:
    with serving(ROOT, "--config", "hostconfig.toml", env={"PEGBOARD_STATE_DIR": str(tmp_path)}) as address:
        script = README.blocks["sh http"].replace("http://127.0.0.1:8000", address)
        shown = run("sh", "-c", script, cwd=tmp_path)
    assert '"isError":false' in shown
    assert shown.endswith("ready\n")


def test_the_tables_of_commands_and_exit_codes_are_complete() -> None:
    table = README.partition("## Commands")[2].partition("| exit code")[0]
    commands = set(re.findall(r"^    (\w+) ", pegboard("--help", cwd=ROOT).out, re.M))
    assert commands
    assert all(re.search(rf"\b{command}\b", table) for command in commands)
    codes = {cli.OK, cli.FAILED, cli.USAGE, cli.CANNOT_START, cli.CANNOT_OPEN, cli.INTERRUPTED}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.M)} == codes


def test_no_command_installs_our_names_from_an_index() -> None:
    for page in (README, *(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))):
        assert not re.search(r"(install|uv add|uvx|pipx run) (\S+ )*(pegboard|toolkit-\w+)(\s|$)", page)
