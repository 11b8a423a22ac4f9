"""Python code and distributions in the working directory are not part of the command's module path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.module_path import leave_out_working_directory
from tests.cli.conftest import Command
from tests.support.distributions import make_distribution

KIT = "import pegboard\nkit = pegboard.Toolkit('local')\n@kit.tool\ndef here() -> str:\n    'Answer.'\n    return 'x'\n"
SCRIPT = [str(Path(sys.executable).parent / "pegboard")]
MODULE = [sys.executable, "-m", "pegboard"]
SAFE = [sys.executable, "-P", "-m", "pegboard"]


def listed(command: list[str], folder: Path, module_path: str = "") -> str:
    """List the tools where a toolkit lies in the working directory."""
    make_distribution(
        folder, "local-kit", "1", {"pegboard.toolkits": {"local": "local_kit:kit"}}, {"local_kit.py": KIT}
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "PYTHONPATH": module_path}
    line = [*command, "list", "--config", "hostconfig.toml"]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "executed" in done.stderr) == (0, False), done.stderr
    return done.stdout


@pytest.mark.parametrize("command", [SCRIPT, MODULE, SAFE], ids=["script", "module", "safe path"])
def test_the_working_directory_is_not_searched(command: list[str], bare: Command) -> None:
    for name in ("argparse", "json", "pluggy", "pydantic", "tomli", "typing"):
        (bare.folder / f"{name}.py").write_text("raise SystemExit('executed')")
    assert "local_here" not in listed(command, bare.folder)


@pytest.mark.parametrize("command", [SCRIPT, MODULE, SAFE], ids=["script", "module", "safe path"])
@pytest.mark.parametrize("entries", [":/nowhere", ".", "../folder"])
def test_relative_entries_of_the_module_path_do_not_count(command: list[str], entries: str, bare: Command) -> None:
    assert "local_here" not in listed(command, bare.folder, entries)


@pytest.mark.parametrize("command", [SCRIPT, MODULE], ids=["script", "module"])
def test_a_folder_that_is_named_absolutely_counts(command: list[str], bare: Command) -> None:
    assert "local_here" in listed(command, bare.folder, str(bare.folder))


@pytest.mark.parametrize("entries", ["", ":", "."])
def test_editable_installations_of_the_working_directory_count(
    entries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "_project.pth").write_text(f"import sys\n{tmp_path}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", entries)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(packages)])
    leave_out_working_directory()
    assert str(tmp_path) in sys.path
