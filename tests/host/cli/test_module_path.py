"""Python code and distributions in the working directory are not on the command's module path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pegboard.module_path import leave_out_working_directory
from tests.support.command_line import Command
from tests.support.wire import PEGBOARD

KIT = "import pegboard\nkit = pegboard.Toolkit('local')\n@kit.tool\ndef here() -> str:\n    'Answer.'\n    return 'x'\n"


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(
    "start", [[str(PEGBOARD)], [sys.executable, "-m", "pegboard"], [sys.executable, "-P", "-m", "pegboard"]]
)
def test_the_working_directory_is_searched_only_by_its_absolute_name(start: list[str], bare: Command) -> None:
    inside = Command(bare.folder, bare.folder)
    inside.install("local", KIT)

    def listed(entries: str) -> bool:
        done = inside.run([*start, "list"], env={"PYTHONPATH": entries})
        assert (done.code, "executed" in done.err) == (0, False), done.err
        return "local_here" in done.out

    if "-P" not in start:
        assert listed(str(inside.folder))
    assert [entries for entries in (":/nowhere", ".") if listed(entries)] == []
    for name in ("argparse", "json", "pluggy", "pydantic", "tomli", "typing"):
        inside.write("raise SystemExit('executed')", f"{name}.py")
    assert not listed("")


@pytest.mark.parametrize("entries", ["", ":", "."])
def test_an_editable_installation_of_the_working_directory_counts(
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
