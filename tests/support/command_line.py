"""The command in a folder of its own, with the toolkits that a test puts there and no others."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import importlib_metadata
import pytest

from tests.support import demo_kit
from tests.support.distributions import make_distribution
from tests.support.forks import Done, communicate, forks
from tests.support.peer import WAIT
from tests.support.wire import naming_config

BROKEN = "raise OSError('no such disk')\n"
WRONG_TOOL = '''
from pegboard import Toolkit
kit = Toolkit("odd")

@kit.tool
def good() -> str:
    """Work."""
    return "good"

@kit.tool
def bad(a) -> str:
    """Lack a type."""
    return a
'''
SHOP = '''
from pegboard import Toolkit
kit = Toolkit("shop")
@kit.tool
def find(words: str) -> str:
    """Find a cup."""
    return words
'''
PLUGIN = "from pegboard.plugin import Plugin\nclass ThePlugin(Plugin): pass\n"
"""Code of a toolkit that fails to import, of one with an invalid tool, of one with a valid tool, and of a plugin."""

INSTALLED = sorted({entry.name for entry in importlib_metadata.entry_points(group="pegboard.toolkits")})
"""The toolkits of the environment of the tests, which the command must not serve."""


class Command:
    """The command `pegboard` in a folder.

    Attributes:
        folder: where it runs, with its `hostconfig.toml`.
        site: on its module path; distributions go there.
    """

    def __init__(self, folder: Path, site: Path) -> None:
        self.folder = folder
        self.site = site
        self.configure()

    def configure(self, host: str = "", sections: str = "", *, off: Iterable[str] = ()) -> None:
        """Write `hostconfig.toml`: lines of `[host]`, further sections, and disabled toolkits."""
        disabled = json.dumps([*INSTALLED, *off])
        self.write(f"[host]\ndisabled_toolkits = {disabled}\n{host}\n{sections}\n")

    def write(self, text: str, name: str = "hostconfig.toml") -> Path:
        """Write a file in the folder."""
        file = self.folder / name
        file.write_text(text, "utf-8")
        return file

    def environment(self, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """Return the variables of the process: PATH, a home, and `more`; None removes a variable."""
        own: dict[str, str | None] = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            **naming_config(self.folder),
            "PYTHONPATH": str(self.site),
            "PYTHONIOENCODING": "utf-8",
            "DEMO_KEY": "12345",
            "GITHUB_TOKEN": "12345",
        }
        return {name: value for name, value in (own | dict(more or {})).items() if value is not None}

    def arguments(self, *arguments: str) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "pegboard", *arguments]

    def __call__(self, *arguments: str, env: Mapping[str, str | None] | None = None, **options: Any) -> Done:
        """Run the command to its end, in a fork of a process that has imported pegboard."""
        return forks().run(arguments, self.folder, self.environment(env), **options)

    def run(self, line: list[str], *, env: Mapping[str, str | None] | None = None, **options: Any) -> Done:
        """Run a command line to its end."""

        def run(stdin: int, stdout: int, stderr: int) -> int:
            done = subprocess.run(
                line,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=self.folder,
                env=self.environment(env),
                timeout=WAIT,
                check=False,
            )
            return done.returncode

        return communicate(run, **options)

    def install(self, name: str, text: str, *, group: str = "pegboard.toolkits", target: str = "kit") -> None:
        """Install a distribution of one module."""
        module = name.replace("-", "_")
        make_distribution(
            self.site, f"dist-{name}", "1.2.3", {group: {name: f"{module}:{target}"}}, {f"{module}.py": text}
        )


def rows(text: str) -> list[list[str]]:
    """Return the cells of a printed table."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def findings_of(
    command: Command, check: str, *options: str, env: Mapping[str, str | None] | None = None
) -> list[dict[str, Any]]:
    """Return what a check of `pegboard doctor` finds."""
    state: dict[str, str | None] = {"XDG_STATE_HOME": str(command.folder / "state")}
    done = command("doctor", "--json", *options, env={**state, **(env or {})})
    assert done.code == (0 if done.data["ok"] else 3)
    return [finding for finding in done.data["findings"] if finding["check"] == check]


def make_command(place: Path, *, demo: bool) -> Command:
    """Return the command in a fresh folder, with the toolkit `demo` or without a toolkit."""
    folder, site = place / "folder", place / "site"
    folder.mkdir()
    site.mkdir()
    if demo:
        groups, files = {"pegboard.toolkits": {"demo": "demo_kit:kit"}}, {"demo_kit.py": inspect.getsource(demo_kit)}
        make_distribution(site, "demo-kit", "4.5.6", groups, files)
    return Command(folder, site)


@pytest.fixture
def bare(tmp_path: Path) -> Command:
    """The command without a toolkit."""
    return make_command(tmp_path, demo=False)


@pytest.fixture
def pegboard(tmp_path: Path) -> Command:
    """The command with the toolkit `demo`."""
    return make_command(tmp_path, demo=True)
