"""Installing as a person does, with pip into an empty environment: from a checkout, and from wheels alone."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.support.environments import built_wheels, copy_checkout, executable, run, third_party_wheels

OURS = ("pegboard", "toolkit-files")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A virtual environment as the standard library makes it."""
    run(sys.executable, "-m", "venv", tmp_path / "env")
    return tmp_path / "env"


def pip_install(environment: Path, *arguments: str | Path, cwd: Path) -> str:
    """Install with the environment's own pip; all that it says about where it looks."""
    return run(executable(environment), "-m", "pip", "install", "-vv", *arguments, cwd=cwd)


def assert_serves_the_files(environment: Path, folder: Path) -> None:
    """The command that was installed, and `python -m pegboard`, list the toolkit's tools, away from the checkout."""
    folder.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PEGBOARD"))}
    for command in ([executable(environment, "pegboard")], [executable(environment), "-m", "pegboard"]):
        listed = json.loads(run(*command, "list", "--json", cwd=folder, env=clean))
        assert "files_read" in json.dumps(listed)


def assert_in_site_packages(environment: Path, folder: Path) -> None:
    """What was imported lies in the environment, byte code beside it, and not in any checkout."""
    program = (
        "import pegboard as a, pegboard_plugins as b, toolkit_files as c; print(a.__file__, b.__file__, c.__file__)"
    )
    for file in map(Path, run(executable(environment), "-c", program, cwd=folder).split()):
        assert file.is_relative_to(environment)
        assert list((file.parent / "__pycache__").glob("__init__.*.pyc"))


def test_pip_installs_the_checkout_and_its_toolkit(empty: Path, tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    said = pip_install(empty, ".", "./toolkits/files", cwd=checkout)
    searched = re.findall(r"search for versions of ([\w.-]+)", said)
    assert "pydantic" in searched
    assert [name for name in searched if name in OURS] == []
    assert_in_site_packages(empty, tmp_path)
    assert_serves_the_files(empty, tmp_path / "elsewhere")


def test_pip_installs_the_wheels_without_an_index(empty: Path, tmp_path: Path) -> None:
    found: list[str | Path] = ["--find-links", built_wheels(), "--find-links", third_party_wheels()]
    pip_install(empty, "--no-index", *found, "toolkit-files", cwd=tmp_path)
    assert_in_site_packages(empty, tmp_path)
    assert_serves_the_files(empty, tmp_path / "elsewhere")
