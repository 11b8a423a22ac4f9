"""Removes parts of pegboard from a copy of the checkout, and runs the other tests: `make without PARTS="auth lock"`.

A part is a package beside the host, such as `pegboard_client`, or a group or a feature of `pegboard_plugins`, such as
`auth` or `lock`. Its folder, its tests and its lines of entry points are removed. Tests that need a removed part are
left out: they import it, or they have the mark `needs`, or they are about all parts. So are toolkits that import it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.absent import needs_absent
from tools.install import ROOT

COPY = ROOT / ".cache" / "without"
VARIABLE = "PEGBOARD_WITHOUT"
"""The variable that tells the tests which parts are removed, separated by spaces."""
OF_THE_WHOLE = (
    *("tests/docs", "tests/benchmarks", "tests/packaging", "tests/requirements"),
    *("tests/structure/test_budget.py", "tests/structure/test_questions.py"),
)
"""The tests that are about all parts: of the pages, the measurements, the distribution and its size."""


def copy_checkout(target: Path) -> None:
    """Copy the files of the checkout that git knows. Keep the environments of an earlier copy."""
    for path in target.iterdir() if target.exists() else ():
        if path.name not in (".cache", ".venv", ".venv-tools"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def folders_of(part: str, root: Path) -> Iterator[Path]:
    """Yield the folders of a part: its code and its tests.

    Raises:
        SystemExit: there is no such part.
    """
    plugins = root / "plugins"
    features = plugins / "pegboard_plugins"
    if (plugins / part).is_dir():
        yield from (plugins / part, root / "tests" / part)
        return
    found = [*features.glob(part), *features.glob(f"*/{part}")]
    if not found:
        sys.exit(f"make without: there is no part {part!r} in plugins/")
    for folder in found:
        yield from (folder, root / "tests" / "plugins" / folder.relative_to(features))


def incomplete_tests(root: Path) -> Iterator[Path]:
    """Yield the tests of toolkits, or of the examples, that import a removed part."""
    for folder in (*(root / "toolkits").iterdir(), root / "docs" / "examples"):
        if any(needs_absent(path, root) for path in folder.rglob("*.py")):
            yield folder / "tests"


def without_entry_points(text: str, root: Path) -> str:
    """Return `pyproject.toml` without the entry points whose modules do not exist."""

    def is_kept(line: str) -> bool:
        found = re.match(r'\w+ = "(pegboard_[\w.]+)(:\w+)?"', line)
        path = root / "plugins" / Path(*found[1].split(".")) if found else None
        return path is None or path.is_dir() or path.with_suffix(".py").is_file()

    kept = "".join(line for line in text.splitlines(keepends=True) if is_kept(line))
    return re.sub(r"\[project\.entry-points\.[^\n]*\]\n\n", "", kept)  # groups that are empty now


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.without", description=__doc__)
    parser.add_argument("parts", nargs="+", metavar="PART")
    parser.add_argument("--tests", nargs="*", default=[], metavar="PATH", help="only these tests")
    options = parser.parse_args(argv)
    copy_checkout(COPY)
    for part in options.parts:
        for folder in [*folders_of(part, COPY)]:
            shutil.rmtree(folder, ignore_errors=True)
    project = COPY / "pyproject.toml"
    project.write_text(without_entry_points(project.read_text("utf-8"), COPY), "utf-8")
    environment = os.environ | {VARIABLE: " ".join(options.parts)}
    for folder in incomplete_tests(COPY):  # --ignore has no effect on `testpaths`
        shutil.rmtree(folder)
    pytest = [".venv/bin/python", "-m", "pytest", "-q", "-n", "auto", *(f"--ignore={path}" for path in OF_THE_WHOLE)]
    for command in (["make", "install"], [*pytest, *options.tests]):
        done = subprocess.run(command, cwd=COPY, env=environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
