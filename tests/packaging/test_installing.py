"""Installing as a person does, with pip into an empty environment: from a checkout, and from wheels alone."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.support.environments import copy_checkout, executable, run

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
