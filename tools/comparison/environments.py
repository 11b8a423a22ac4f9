"""The environments in which other servers run: each is installed once, and again if its requirements change."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tools.install import find_uv

NPM = ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
_STAMP = "installed"


class InstallFailed(SystemExit):
    """A step of an installation failed. The message names the fix."""


def python_environment(
    place: Path, requirements: Sequence[str | Path], overrides: Path | None = None, alone: Sequence[Path] = ()
) -> Path:
    """Install Python distributions, and return the interpreter of their environment.

    Args:
        place: the folder of the environment.
        requirements: the arguments of `uv pip install`.
        overrides: a requirements file whose versions replace those that distributions require.
        alone: folders of distributions that are installed without their dependencies.

    Raises:
        InstallFailed: a step failed.
    """
    python = place / "bin" / "python"
    more = ("--override", overrides) if overrides else ()
    make = (_uv(), "venv", "--quiet", "--clear", "--python", sys.executable, place)
    install = (_uv(), "pip", "install", "--quiet", "--python", python)
    installs = [(*install, *more, *requirements)]
    if alone:
        installs.append((*install, "--no-deps", *alone))
    versions = [overrides.read_text("utf-8")] if overrides else []
    _once(place, "\n".join(map(str, [*requirements, *alone, *versions])), make, *installs)
    return python


def npm_environment(place: Path, requirements: Sequence[str]) -> Path:
    """Install npm packages, and return the folder of their commands.

    Args:
        place: the folder of the packages.
        requirements: the arguments of `npm install`.

    Raises:
        InstallFailed: a step failed.
    """
    _once(place, "\n".join(requirements), (*NPM, "--prefix", place, *requirements))
    return place / "node_modules" / ".bin"


def _once(place: Path, wanted: str, *commands: Sequence[str | Path]) -> None:
    stamp = place / _STAMP
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InstallFailed(
                f"this failed: {' '.join(map(str, command))}\n{done.stderr.strip()[-300:]}\n"
                "If the package index lacks a version that a distribution requires, name another one: --overrides FILE"
            )
    stamp.write_text(wanted, "utf-8")


@cache
def _uv() -> str:
    uv = find_uv("auto")
    if uv is None:
        raise InstallFailed("the comparison requires uv, and pip cannot fetch it: install uv")
    return uv
