"""What the README shows is what happens: its code is run, its commands are called, its tables are compared."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Page, serving
from tests.support.distributions import make_distribution
from tests.support.environments import built_wheels, executable, make_environment, run
from tools.install import ROOT

README = Page("README.md")
BLOCKS = re.findall(r"^```(\w+(?: http)?)(?: file=(\S+))?\n(.*?)^```$", README, re.M | re.S)


def pegboard(*arguments: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pegboard", *arguments]
    environ = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    nothing = subprocess.DEVNULL
    return subprocess.run(command, cwd=cwd, env=environ, stdin=nothing, capture_output=True, text=True, check=False)


def test_every_kind_of_code_is_there() -> None:
    assert set(README.files) == {
        "hostconfig.toml",
        "pyproject.toml",
        "src/toolkit_dice/__init__.py",
        "src/pegboard_loud/__init__.py",
        "demo.py",
        "embedded.py",
        "test_dice.py",
    }


def test_the_toolkit_installs_and_its_tool_runs(tmp_path: Path) -> None:
    source = tmp_path / "dice"
    for name in ("pyproject.toml", "src/toolkit_dice/__init__.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(README.files[name])
    environment = make_environment(tmp_path / "env", "toolkit-dice", wheels=built_wheels(source))
    command = executable(environment, "pegboard")
    rolled = json.loads(run(command, "call", "dice_roll", "sides:=20", "dice:=3", "--json", cwd=tmp_path))["result"]
    assert len(rolled) == 3
    assert all(1 <= value <= 20 for value in rolled)
    refused = subprocess.run(
        [command, "call", "dice_roll", "dice:=101"], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert "That is more than 100 dice; roll fewer." in refused.stderr


def test_the_test_of_the_toolkit_passes(tmp_path: Path) -> None:
    (tmp_path / "toolkit_dice.py").write_text(README.files["src/toolkit_dice/__init__.py"])
    (tmp_path / "test_dice.py").write_text(README.files["test_dice.py"])
    (tmp_path / "conftest.py").touch()
    assert " 1 passed " in run(sys.executable, "-m", "pytest", "-p", "no:asyncio", cwd=tmp_path)


def test_the_plugin_runs_once_it_is_named(tmp_path: Path) -> None:
    make_distribution(
        tmp_path,
        "pegboard-loud",
        "1",
        {"pegboard.plugins": {"loud": "pegboard_loud:LoudPlugin"}},
        {"pegboard_loud/__init__.py": README.files["src/pegboard_loud/__init__.py"]},
    )
    (tmp_path / "note.txt").write_text("quiet words")
    quiet = pegboard("call", "files_read", "path=note.txt", cwd=tmp_path, path=tmp_path)
    assert "quiet words" in quiet.stdout
    (tmp_path / "hostconfig.toml").write_text("[plugins.loud]\n")
    named = ("--config", "hostconfig.toml")
    loud = pegboard("call", "files_read", "path=note.txt", *named, cwd=tmp_path, path=tmp_path)
    assert "QUIET WORDS" in loud.stdout


def test_the_configuration_is_in_order(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_text(README.files["hostconfig.toml"])
    (tmp_path / ".env").touch()
    checked = pegboard("config", "check", "--config", "hostconfig.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "files_search" not in pegboard("list", "--config", "hostconfig.toml", cwd=tmp_path).stdout


def test_the_server_in_one_file_serves_itself_and_is_served(tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text(README.files["demo.py"])
    (line,) = re.findall(r"pegboard (call --file [^`]*)`", README)
    assert pegboard(*line.split(), cwd=tmp_path).stdout == "3\n"
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n"
    for command in ([sys.executable, "-m", "pegboard", "stdio", "demo.py"], [sys.executable, "demo.py"]):
        done = subprocess.run(command, cwd=tmp_path, input=request, capture_output=True, text=True, check=False)
        assert (done.returncode, json.loads(done.stdout)["id"]) == (0, 1)


def test_the_embedded_host_greets(tmp_path: Path) -> None:
    (tmp_path / "embedded.py").write_text(README.files["embedded.py"])
    assert "Hello, Ada!" in run(sys.executable, tmp_path / "embedded.py", cwd=tmp_path)


@pytest.mark.parametrize(
    "line", re.findall(r"^pegboard [^\n]*", "\n".join(text for kind, _, text in BLOCKS if kind == "sh"), re.M)
)
def test_commands_shown_succeed(line: str) -> None:
    shown = shlex.split(line, comments=True)[1:]
    done = pegboard(*shown, "--config", "hostconfig.toml", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_clients_settings_are_json_and_the_command_takes_them() -> None:
    (settings,) = (json.loads(text) for kind, _, text in BLOCKS if kind == "json")
    arguments = settings["mcpServers"]["pegboard"]["args"]
    arguments[arguments.index("--config") + 1] = str(ROOT / "hostconfig.toml")
    done = pegboard(*arguments, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_curl_lines_are_answered(tmp_path: Path) -> None:
    with serving(ROOT, "--config", "hostconfig.toml", env={"PEGBOARD_STATE_DIR": str(tmp_path)}) as address:
        script = README.blocks["sh http"].replace("http://127.0.0.1:8000", address)
        shown = run("sh", "-c", script, cwd=tmp_path)
    assert '"isError":false' in shown
    assert shown.endswith("ready\n")


def test_exit_codes_are_those_of_the_command() -> None:
    from pegboard import cli

    codes = {cli.OK, cli.FAILED, cli.USAGE, cli.CANNOT_START, cli.CANNOT_OPEN, cli.INTERRUPTED}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.M)} == codes


def test_commands_listed_are_those_of_the_command() -> None:
    table = README.partition("## Commands")[2].partition("| exit code")[0]
    shown = pegboard("--help", cwd=ROOT).stdout
    named = set(re.findall(r"^    (\w+) ", shown, re.M))
    assert named
    assert all(re.search(rf"\b{command}\b", table) for command in named)


def test_it_leads_to_every_page() -> None:
    pages = [page.relative_to(ROOT) for page in (ROOT / "docs").glob("*.md")]
    assert [str(page) for page in pages if f"]({page})" not in README] == []


def test_no_command_asks_an_index_for_our_names() -> None:
    pages = [README, *(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))]
    for page in pages:
        assert not re.search(r"(install|add|uvx|pipx run) (\S+ )*(pegboard|toolkit-\w+)(\s|$)", page)
