"""Installs the distributions of `dist/` from a local index as users do, on each Python of this machine.

`make installs` builds them first. On each minor release of Python, in empty environments:

1. pip installs pegboard, and the README is followed; then pip installs the toolkits;
2. the tutorial is followed from its first command on;
3. `uv tool install` builds all distributions from their sdists, and the README is followed;
4. `uvx` runs a command.

Warnings about deprecations are errors on the newest Python. The steps of pages are those of
`tests/support/walkthrough.py`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.environments import copy_checkout, executable, run
from tests.support.walkthrough import Walk, blocks
from tools.install import ROOT, distributions, find_uv
from tools.interpreters import EXPECTED, find_interpreters, folders, shown
from tools.local_index import name_of, serving

STRICT = {
    "PYTHONWARNINGS": "error::DeprecationWarning,error::PendingDeprecationWarning,"
    "ignore::DeprecationWarning:pip._internal.metadata.importlib._dists"
}
"""The environment of commands on the newest Python. A warning of pip, which Python installs, is ignored."""


class Installer:
    """The ways to install from an index with one interpreter.

    Args:
        python: the interpreter.
        uv: the uv to use.
        index: the URL of the index.
        names: the distributions of the index; the first one is pegboard.
        variables: further variables of the environment of installed commands.
    """

    def __init__(self, python: Path, uv: str, index: str, names: list[str], variables: Mapping[str, str]) -> None:
        self._python, self._uv, self._index = python, uv, index
        self._host, *self._toolkits = names
        self._variables = variables

    def follow(self, page: str, folder: Path, install: str) -> None:
        """Follow a page in a folder that has an environment. `install` is the block that made the environment."""
        with Walk(folder, install, {"PIP_INDEX_URL": self._index, **self._variables}) as walk:
            walk.run((ROOT / page).read_text("utf-8"))

    def follow_readme(self, folder: Path) -> None:
        """Follow the README in a folder whose environment was made from the index, not by its install block."""
        self.follow("README.md", folder, _install_block("README.md"))

    def check_pip(self, place: Path) -> None:
        """Install with pip into an empty environment, and follow the README. Then add the toolkits."""
        folder = place / "words"
        run(self._python, "-m", "venv", folder / ".venv")
        pip: list[str | Path] = [
            executable(folder / ".venv"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--index-url",
            self._index,
        ]
        run(*pip, self._host, cwd=place)
        self.follow_readme(folder)
        run(*pip, *self._toolkits, cwd=place)
        self._check_toolkits(place, executable(folder / ".venv", "pegboard"))

    def check_tutorial(self, place: Path) -> None:
        """Follow the tutorial, with the commands that make its environment."""
        copy_checkout(place / "pegboard")
        commands = place / "bin"
        commands.mkdir()
        (commands / "python3").symlink_to(self._python)
        install = _install_block("docs/tutorial.md")
        path = f"{commands}{os.pathsep}{os.environ['PATH']}"
        run("sh", "-e", "-c", install, cwd=place, env=os.environ | {"PATH": path, "PIP_INDEX_URL": self._index})
        self.follow("docs/tutorial.md", place / "reading-list", install)

    def check_uv_tool(self, place: Path) -> None:
        """Install with `uv tool` from sdists, and follow the README. Then add the toolkits."""
        folder = place / "words"
        bin_folder = folder / ".venv" / "bin"
        env = os.environ | {"UV_TOOL_DIR": str(place / "tools"), "UV_TOOL_BIN_DIR": str(bin_folder)}
        sdists = [word for name in (self._host, *self._toolkits) for word in ("--no-binary-package", name)]
        command = [self._uv, "tool", "install", *self._uv_options(), *sdists, self._host]
        run(*command, cwd=place, env=env)
        self.follow_readme(folder)
        run(*command, *self._with_toolkits(), cwd=place, env=env)
        self._check_toolkits(place, bin_folder / "pegboard")

    def check_uvx(self, place: Path) -> None:
        """Run a command with `uvx`."""
        command = [self._uv, "tool", "run", *self._uv_options(), *self._with_toolkits(), self._host]
        self._check_toolkits(place, *command)

    def _uv_options(self) -> list[str | Path]:
        return ["--quiet", "--python", self._python, "--no-config", "--default-index", self._index]

    def _with_toolkits(self) -> list[str]:
        return [word for name in self._toolkits for word in ("--with", name)]

    def _check_toolkits(self, place: Path, *pegboard: str | Path) -> None:
        """Check that a command serves tools of all toolkits in an empty folder."""
        folder = place / "empty"
        folder.mkdir()
        cache = run(self._uv, "cache", "dir").strip()
        env = os.environ | {"HOME": str(place), "UV_CACHE_DIR": cache, **self._variables}
        listed = run(*pegboard, "list", cwd=folder, env=env)
        missing = [name for name in self._toolkits if f"\n{name.removeprefix('toolkit-')}_" not in f"\n{listed}"]
        assert not missing, f"no tools of {missing}:\n{listed}"


def _install_block(page: str) -> str:
    """Return the commands of a page that make its environment."""
    text = (ROOT / page).read_text("utf-8")
    return next(block.text for block in blocks(text) if "install" in block.options)


def check(python: Path, uv: str, index: str, names: list[str], variables: Mapping[str, str]) -> None:
    """Try all ways with an interpreter. Raise AssertionError at the first that fails."""
    installer = Installer(python, uv, index, names, variables)
    for way in (installer.check_pip, installer.check_tutorial, installer.check_uv_tool, installer.check_uvx):
        say(f"{python}: {way.__name__.removeprefix('check_').replace('_', ' ')}")
        with TemporaryDirectory(prefix="pegboard-installs-") as place:
            way(Path(place).resolve())


def say(text: str) -> None:
    """Print a line, before what commands print next."""
    print(f"make installs: {text}", flush=True)


def main() -> None:
    """Try all ways on the newest patch release of each minor release. Exit with 1 at the first that fails."""
    parser = argparse.ArgumentParser(description="Install from a local index on each Python of this machine.")
    parser.add_argument("--only", default="", metavar="VERSION", help="a minor release, such as 3.13")
    parser.add_argument("--uv", default="auto", metavar="PATH", help="the uv to use")
    options = parser.parse_args()
    uv = find_uv(options.uv)
    if uv is None:
        raise SystemExit("make installs: there is no uv: install it, or name it: make installs UV=/path/to/uv")
    newest = {version[:2]: python for version, python in find_interpreters(folders()).items()}
    for missing in sorted({*EXPECTED} - {*newest}):
        say(f"no Python {shown(missing)} is installed")
    chosen = {version: python for version, python in newest.items() if options.only in ("", shown(version))}
    if not chosen:
        raise SystemExit(f"make installs: no Python {options.only} is installed: install it, or name another")
    dist = ROOT / "dist"
    names = [name_of(wheel.name) for wheel in sorted(dist.glob("*.whl"))]
    assert len(names) == len(distributions()), "run `make installs`, which builds all distributions"
    with serving(dist) as index:
        for version, python in chosen.items():
            try:
                check(python, uv, index, names, STRICT if version == max(newest) else {})
            except AssertionError as error:
                raise SystemExit(f"make installs: Python {shown(version)}: {error}") from None


if __name__ == "__main__":
    main()
