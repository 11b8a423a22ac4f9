"""The real command in a folder of its own, with the toolkits that a test puts there and no others."""

from __future__ import annotations

import inspect
import json
import os
import pty
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import importlib_metadata
import pytest

from tests.host.cli import demo_kit
from tests.support.distributions import make_distribution
from tests.support.peer import WAIT
from tests.support.wire import naming_config

INSTALLED = sorted({entry.name for entry in importlib_metadata.entry_points(group="pegboard.toolkits")})
"""The toolkits of the environment of the tests, which the command must not serve."""


class Done(NamedTuple):
    """The exit code and the output of a command."""

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
        """Write `hostconfig.toml`: lines of `[host]`, further sections, and disabled toolkits."""
        disabled = json.dumps([*INSTALLED, *off])
        self.write(f"[host]\ndisabled_toolkits = {disabled}\n{host}\n{sections}\n")

    def write(self, text: str, name: str = "hostconfig.toml") -> Path:
        """Write a file in the folder."""
        file = self.folder / name
        file.write_text(text, "utf-8")
        return file

    def environment(self, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """Return the variables of the process: PATH, a home, and `more`; None removes one."""
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

    def __call__(self, *arguments: str, **options: Any) -> Done:
        """Run the command to its end."""
        return self.run(self.arguments(*arguments), **options)

    def run(
        self,
        line: list[str],
        *,
        env: Mapping[str, str | None] | None = None,
        encoding: str = "utf-8",
        typed: str = "",
        terminal: Collection[int] = (),
        **streams: Any,
    ) -> Done:
        """Run a command line to its end.

        Args:
            line: the command line.
            env: more variables; None removes one.
            encoding: of standard output.
            typed: typed at the terminal, or else sent to standard input.
            terminal: the descriptors that lead to a terminal; its output is returned as `err`.
            streams: `stdout` or `stderr` of `subprocess.run`, instead of pipes.
        """
        ours, theirs = pty.openpty() if terminal else (-1, -1)
        names = ("stdin", "stdout", "stderr")
        for descriptor in terminal:
            streams[names[descriptor]] = theirs
        if 0 not in terminal:
            streams["input"] = typed.encode()
        elif typed:
            os.write(ours, typed.encode())
        with ThreadPoolExecutor(1) as threads:
            shown = threads.submit(_read_all, ours) if terminal else None
            try:
                options: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
                environment = self.environment(env)
                done: subprocess.CompletedProcess[bytes] = subprocess.run(
                    line, cwd=self.folder, env=environment, timeout=WAIT, check=False, **options
                )
            finally:
                if terminal:
                    os.close(theirs)
            err = shown.result().replace(b"\r", b"") if shown is not None else done.stderr or b""
        return Done(done.returncode, (done.stdout or b"").decode(encoding), err.decode("utf-8", "replace"))

    def install(self, name: str, text: str, *, group: str = "pegboard.toolkits", target: str = "kit") -> None:
        """Install a distribution of one module."""
        module = name.replace("-", "_")
        make_distribution(
            self.site, f"dist-{name}", "1.2.3", {group: {name: f"{module}:{target}"}}, {f"{module}.py": text}
        )


def _read_all(terminal: int) -> bytes:
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return shown


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
