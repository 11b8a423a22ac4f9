"""The real command in a folder of its own, with the toolkits that a test puts there and no others."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import importlib_metadata
import pytest

from tests.cli import demo_kit
from tests.support.distributions import make_distribution
from tests.support.wire import naming_config

WAIT = 60
"""Seconds that a command may take before the test fails."""
INSTALLED = sorted({entry.name for entry in importlib_metadata.entry_points(group="pegboard.toolkits")})
"""The toolkits of the tests' own environment, which are none of the tests' business."""


class Done(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


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
        """Write `hostconfig.toml`: lines of `[host]`, further sections, and toolkits that stay off."""
        disabled = json.dumps([*INSTALLED, *off])
        text = f"[host]\ndisabled_toolkits = {disabled}\n{host}\n{sections}\n"
        (self.folder / "hostconfig.toml").write_text(text, "utf-8")

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The variables of the process: a way to Python, a home, and nothing of pegboard's."""
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        own = {
            "HOME": str(self.folder),
            **naming_config(self.folder),
            "PYTHONPATH": str(self.site),
            "PYTHONIOENCODING": "utf-8",
            "DEMO_KEY": "12345",
            "GITHUB_TOKEN": "12345",
        }
        return kept | own | dict(more or {})

    def arguments(self, *arguments: str) -> list[str]:
        """What starts the command."""
        return [sys.executable, "-m", "pegboard", *arguments]

    def __call__(self, *arguments: str, env: Mapping[str, str] | None = None, encoding: str = "utf-8") -> Done:
        """Run it to its end."""
        done = subprocess.run(
            self.arguments(*arguments),
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAIT,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(encoding), done.stderr.decode("utf-8", "replace"))

    def install(self, name: str, text: str, *, group: str = "pegboard.toolkits", target: str = "kit") -> None:
        """Install a distribution of one module."""
        module = name.replace("-", "_")
        make_distribution(
            self.site, f"dist-{name}", "1.2.3", {group: {name: f"{module}:{target}"}}, {f"{module}.py": text}
        )


@pytest.fixture
def bare(tmp_path: Path) -> Command:
    """The command with no toolkit at all."""
    folder, site = tmp_path / "folder", tmp_path / "site"
    folder.mkdir()
    site.mkdir()
    return Command(folder, site)


@pytest.fixture
def pegboard(bare: Command) -> Command:
    """The command with the toolkit `demo`."""
    make_distribution(
        bare.site,
        "demo-kit",
        "4.5.6",
        {"pegboard.toolkits": {"demo": "demo_kit:kit"}},
        {"demo_kit.py": inspect.getsource(demo_kit)},
    )
    return bare
