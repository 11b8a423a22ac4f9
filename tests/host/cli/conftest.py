"""The command in a folder of its own, with the toolkits that a test puts there and no others."""

from __future__ import annotations

import inspect
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import importlib_metadata
import pytest

from tests.host.cli import demo_kit
from tests.support.distributions import make_distribution
from tests.support.forks import forks
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

    def __call__(self, *arguments: str, env: Mapping[str, str | None] | None = None, **options: Any) -> Done:
        """Run the command to its end, in a fork of a process that has imported pegboard."""

        def run(*streams: int) -> int:
            return forks().run(arguments, streams, self.folder, self.environment(env))

        return _communicate(run, **options)

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

        return _communicate(run, **options)

    def install(self, name: str, text: str, *, group: str = "pegboard.toolkits", target: str = "kit") -> None:
        """Install a distribution of one module."""
        module = name.replace("-", "_")
        make_distribution(
            self.site, f"dist-{name}", "1.2.3", {group: {name: f"{module}:{target}"}}, {f"{module}.py": text}
        )


def _communicate(
    run: Callable[[int, int, int], int],
    *,
    encoding: str = "utf-8",
    typed: str = "",
    terminal: Collection[int] = (),
    stdout: int | None = None,
    merged: bool = False,
) -> Done:
    """Run a process to its end.

    Args:
        run: runs it with three standard streams.
        encoding: of standard output.
        typed: typed at the terminal, or else sent to standard input.
        terminal: the streams that lead to a terminal; its output is part of `err`.
        stdout: instead of a pipe.
        merged: standard error goes to standard output.
    """
    (source, feed), (out, shown), (err, told) = os.pipe(), os.pipe(), os.pipe()
    screen, tty = pty.openpty() if terminal else os.pipe()
    streams = [source, shown if stdout is None else stdout, shown if merged else told]
    os.write(screen if 0 in terminal else feed, typed.encode())
    os.close(feed)
    with ThreadPoolExecutor(3) as threads:
        reading = [threads.submit(_read_all, descriptor) for descriptor in (out, err, screen)]
        try:
            code = run(*(tty if number in terminal else stream for number, stream in enumerate(streams)))
        finally:
            for descriptor in (source, shown, told, tty):
                os.close(descriptor)
    printed, said, seen = (one.result() for one in reading)
    return Done(code, printed.decode(encoding), (said + seen.replace(b"\r", b"")).decode("utf-8", "replace"))


def _read_all(descriptor: int) -> bytes:
    read = b""
    try:
        while chunk := os.read(descriptor, 65536):
            read += chunk
    except OSError:  # the other end of a terminal is closed
        pass
    os.close(descriptor)
    return read


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
