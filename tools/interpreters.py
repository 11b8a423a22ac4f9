"""Runs all tests on each Python of this machine; `make interpreters` calls it.

It looks on the path, in `/usr/bin`, and among the versions of pyenv. Each patch release has an environment of its own,
such as `.venv-3.11.2`. `--only oldest` runs the tests on the oldest Python, unless that is the Python that runs this
program, which `make test` uses.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.install import PYTHON_MINIMUM, ROOT

EXPECTED = ((3, 11), (3, 12), (3, 13), (3, 14))
"""The minor releases that are named if they are missing."""
FACTS = """
import sys
version = sys.version_info
if sys.prefix == sys.base_prefix and version.releaselevel == "final" and sys.implementation.name == "cpython":
    print(*version[:3], sys.executable)
"""

Version = tuple[int, ...]


def folders() -> list[Path]:
    """Return the folders that may have interpreters."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return [*map(Path, os.get_exec_path()), Path("/usr/bin"), *sorted(pyenv.glob("versions/3.*/bin"))]


def find_interpreters(folders: Iterable[Path]) -> dict[Version, Path]:
    """Return an interpreter of each patch release in folders, the oldest first. Virtual environments do not count."""
    interpreters: dict[Version, Path] = {}
    files = {file for folder in folders for pattern in ("python3", "python3.1[0-9]") for file in folder.glob(pattern)}
    for file in sorted(files):
        try:
            done = subprocess.run([file, "-c", FACTS], capture_output=True, text=True, check=False)
        except OSError:
            continue
        *version, executable = done.stdout.split(maxsplit=3) or [""]
        release = tuple(map(int, version))
        if not done.returncode and release >= PYTHON_MINIMUM:
            interpreters.setdefault(release, Path(executable.strip()))
    return dict(sorted(interpreters.items()))


def passes(python: Path, version: Version, uv: str, arguments: Sequence[str]) -> bool:
    """Install the environment of an interpreter and run all tests in it."""
    folder = f".venv-{shown(version)}"
    install: list[str | Path] = [python, "-m", "tools.install", "--uv", uv]
    environment = os.environ | {"PEGBOARD_VENV": folder}
    if subprocess.run(install, cwd=ROOT, env=environment, check=False).returncode:
        return False
    tests: list[str | Path] = [ROOT / folder / "bin" / "python", "-m", "pytest", *arguments]
    return not subprocess.run(tests, cwd=ROOT, check=False).returncode


def shown(version: Version) -> str:
    """Return a version as text."""
    return ".".join(map(str, version))


def say(text: str) -> None:
    """Print a line, before what commands print next."""
    print(f"make interpreters: {text}", flush=True)


def main() -> None:
    """Run the tests. Exit with 1 if one of the interpreters failed."""
    parser = argparse.ArgumentParser(description="Run all tests on each Python of this machine.")
    parser.add_argument("--only", choices=["", "oldest"], default="", help="run the tests on the oldest one")
    parser.add_argument("--uv", default="auto", metavar="PATH", help="the uv to use; empty for pip")
    parser.add_argument("arguments", nargs="*", help="arguments of pytest")
    options = parser.parse_args()
    interpreters = find_interpreters(folders())
    for missing in sorted({*EXPECTED} - {version[:2] for version in interpreters}):
        say(f"no Python {shown(missing)} is installed")
    if options.only:
        interpreters = {
            version: interpreters[version] for version in [*interpreters][:1] if version != sys.version_info[:3]
        }
        if not interpreters:
            say(f"Python {shown(sys.version_info[:3])} is the oldest one; `make test` runs the tests on it")
    failed = []
    for version, python in interpreters.items():
        say(f"Python {shown(version)}, {python}")
        if not passes(python, version, options.uv, options.arguments):
            failed.append(shown(version))
    if failed:
        raise SystemExit(f"make interpreters: the tests failed on Python {', '.join(failed)}")


if __name__ == "__main__":
    main()
