"""The samples, built as wheels and installed with pegboard in environments without the checkout."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.environments import built_wheels, executable, make_environment
from tests.support.forks import Done, forks
from tests.support.wire import Wire, client_environment, naming_config
from tools.install import ROOT

SAMPLES = ROOT / "tests" / "samples"
TWINS = ("twin_blue", "twin_red")
"""Two distributions that cannot be on together; they have an environment of their own."""

NO_IMPOSTOR = 'disabled_plugins = ["acme-stdio:stdio"]'
"""A line of `[host]` for tests that want no complaint at all."""
CANNOT_START = 3


@cache
def samples() -> Path:
    """Return the environment with pegboard and all samples but the twins."""
    folders = sorted(path.parent for path in SAMPLES.glob("*/pyproject.toml"))
    return _environment("samples", [folder for folder in folders if folder.name not in TWINS])


@cache
def twins() -> Path:
    """Return the environment with pegboard and the twins."""
    return _environment("twins", [SAMPLES / name for name in TWINS])


def _environment(name: str, folders: list[Path]) -> Path:
    names = [folder.name.replace("_", "-") for folder in folders]
    return make_environment(name, "pegboard", *names, wheels=built_wheels(*folders))


def pegboard(
    environment: Path, *arguments: str, config: str | None = None, env: Mapping[str, str] | None = None
) -> Done:
    """Run the installed command to its end, with nothing on its standard input, away from the checkout."""
    with tempfile.TemporaryDirectory(prefix="samples-") as folder:
        variables = _environment_of(Path(folder), config, env)
        return forks(executable(environment)).run(arguments, Path(folder), variables)


def json_of(environment: Path, *arguments: str, config: str | None = None) -> Any:
    """Return the output of a command with `--json`, which must succeed."""
    done = pegboard(environment, *arguments, "--json", config=config)
    assert done.code == 0, done.err
    return done.data


def imported_by(environment: Path, *arguments: str, config: str | None = None) -> set[str]:
    """Return the modules that a run of the command imports, in a new process."""
    with tempfile.TemporaryDirectory(prefix="samples-") as folder:
        variables = _environment_of(Path(folder), config, {"PYTHONVERBOSE": "1"})
        done = subprocess.run(
            [executable(environment, "pegboard"), *arguments],
            cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return imports(done.stderr)


def imports(verbose: str) -> set[str]:
    """Return the modules in the output of a verbose Python."""
    return set(re.findall(r"^import '?([\w.]+)'? #", verbose, re.MULTILINE))


def _environment_of(folder: Path, config: str | None, env: Mapping[str, str] | None) -> dict[str, str]:
    if config is not None:
        (folder / "hostconfig.toml").write_text(config, encoding="utf-8")
    return client_environment(folder, naming_config(folder) | dict(env or {}))


def shortened(stderr: str) -> list[str]:
    """Return the lines without times and without the folders of source files."""
    lines = [re.sub(r"^\d{4}-\S+Z ", "", line) for line in stderr.splitlines()]
    return [re.sub(r" \(/[^()]*/([^/()]+\.py:\d+)\)$", r" (\1)", line) for line in lines]


def complaints(stderr: str) -> list[str]:
    """Return the lines about problems, without the prefixes of the log and the command."""
    marks = ("ERROR pegboard: ", "WARNING pegboard: ", "pegboard: error: ", "pegboard: warning: ", "pegboard: ")
    lines = [line for line in shortened(stderr) if " pegboard: started with " not in line]
    return [line.removeprefix(next(mark for mark in (*marks, "") if line.startswith(mark))) for line in lines]


def stdio(environment: Path, config: str | None = None, *arguments: str, env: Mapping[str, str] | None = None) -> Wire:
    """Return a client of the installed `pegboard stdio`."""
    return Wire([executable(environment, "pegboard"), "stdio"], arguments, config=config, env=env)
