"""Installing as a person does, with pip into an empty environment: from a checkout, and from wheels alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environments import built_wheels, copy_checkout, executable, make_environment, run

pytestmark = pytest.mark.timeout(300)


def assert_serves_the_files(environment: Path, folder: Path) -> None:
    """Assert that the installed command and `python -m pegboard` list the toolkit's tools, away from the checkout."""
    folder.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PEGBOARD"))}
    for command in ([executable(environment, "pegboard")], [executable(environment), "-m", "pegboard"]):
        assert "files_read" in run(*command, "list", "--json", cwd=folder, env=clean)
    program = "import pegboard, toolkit_files; print(pegboard.__file__, toolkit_files.__file__)"
    for file in map(Path, run(executable(environment), "-c", program, cwd=folder).split()):
        assert file.is_relative_to(environment)


def test_pip_installs_the_checkout_and_its_toolkit(tmp_path: Path) -> None:
    checkout, environment = copy_checkout(tmp_path / "checkout"), tmp_path / "env"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        executable(environment),
        "install",
        "--no-compile",
        "-vv",
    ]
    output = run(*pip, ".", "./toolkits/files", cwd=checkout)
    searched = re.findall(r"search for versions of ([\w.-]+)", output)
    assert "pydantic" in searched
    assert [name for name in searched if name in ("pegboard", "toolkit-files")] == []
    assert_serves_the_files(environment, tmp_path / "elsewhere")


OF_THE_USER = {"aiohttp", "importlib-metadata", "pluggy", "pydantic", "pyjwt", "python-dotenv", "tomli"}
FURTHER = {"cryptography", "docstring-parser", "jsonschema-rs", "tomlkit"}


def test_a_toolkit_alone_brings_the_commands_of_a_user(tmp_path: Path) -> None:
    environment = make_environment("user", "toolkit-github", wheels=built_wheels())
    program = "from importlib.metadata import requires; print(*[r for r in requires('pegboard') if 'extra' not in r])"
    required = run(executable(environment), "-c", program).split()
    assert {re.split(r"[^\w-]", requirement)[0] for requirement in required} == OF_THE_USER | FURTHER
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GITHUB_TOKEN": "12345"}
    pegboard = executable(environment, "pegboard")
    (tmp_path / ".cursor").mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    for line in ("", "list", "show github_get_file", "why github", "configure cursor --root .", "doctor"):
        run(pegboard, *line.split(), cwd=folder, env=own)
    assert str(pegboard) in (tmp_path / ".cursor" / "mcp.json").read_text("utf-8")
    refused = subprocess.run(
        [pegboard, "call", "github_get_file"], cwd=folder, env=own, capture_output=True, check=False
    )
    assert (refused.returncode, b"repo is required" in refused.stderr) == (1, True)
    with subprocess.Popen([pegboard, "serve", "--port", "0"], cwd=folder, env=own, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        assert any(b"http://127.0.0.1:" in line for line in server.stderr)
        server.terminate()
    assert server.returncode == 0
