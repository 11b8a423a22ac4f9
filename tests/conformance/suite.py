"""The official conformance suite: npm installs it, and it runs against a URL."""

from __future__ import annotations

import fcntl
import json
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tools.install import ROOT

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
NODE = 22
"""The oldest major version of Node.js that the suite supports; npm installs it if the machine's is older."""
PLACE = ROOT / ".cache" / "conformance"
SCENARIO_SECONDS = 30

_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}


class CannotRun(Exception):
    """The suite or the server does not run on this machine. The message says how to fix it."""


class Suite:
    """An installed suite, by the command that starts it."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self.scenarios = cache(self._scenarios)

    def _scenarios(self, revision: str) -> list[str]:
        """Return the names of the server scenarios of a revision."""
        listed = self._run("list", "--server", "--spec-version", revision)
        names = re.findall(r"^  - (\S+)", listed, flags=re.MULTILINE)
        if not names:
            raise CannotRun(f"the conformance suite lists no scenario for {revision}:\n{listed}")
        return names

    def run(self, url: str, revision: str, folder: Path, scenario: str | None = None) -> dict[str, list[Any]]:
        """Run all scenarios of a revision, or one, with results in a folder. Return the checks of each that ended."""
        for earlier in folder.glob("server-*"):
            shutil.rmtree(earlier)
        chosen = ["--suite", "all"] if scenario is None else ["--scenario", scenario]
        options = ["--spec-version", revision, "--timeout", str(SCENARIO_SECONDS * 1000), "-o", str(folder)]
        said = self._run("server", "--url", url, *chosen, *options)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.log").write_text(said, encoding="utf-8")
        found = {}
        for file in folder.glob("server-*/checks.json"):
            name = re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", file.parent.name.removeprefix("server-"))
            found[name] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._command, *arguments], cwd=PLACE, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr


def installed_suite(place: Path = PLACE) -> Suite:
    """Return the suite. The first caller installs it; others wait."""
    npm = shutil.which("npm")
    if npm is None:
        raise CannotRun("npm is not on the path: the conformance suite is an npm package; install Node.js with npm")
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Suite([_node(npm, place), str(_entry(npm, place))])


def _entry(npm: str, place: Path) -> Path:
    modules = place / "node_modules"
    try:  # npm writes this file at the end of an installation
        installed = json.loads((modules / ".package-lock.json").read_text(encoding="utf-8"))["packages"]
        version = installed[f"node_modules/{PACKAGE}"]["version"]
    except (OSError, ValueError, KeyError):
        version = None
    if version != VERSION:
        _install(npm, place, f"{PACKAGE}@{VERSION}")
    return modules / PACKAGE / "dist" / "index.js"


def _node(npm: str, place: Path) -> str:
    own = shutil.which("node")
    if own is not None and _is_new_enough(own):
        return own
    machine = platform.machine().lower()
    name = f"node-{platform.system().lower()}-{_ARCHITECTURES.get(machine, machine)}"
    binary = place / "node_modules" / name / "bin" / "node"
    if not _is_new_enough(str(binary)):
        _install(npm, place, f"{name}@{NODE}")
    return str(binary)


def _is_new_enough(node: str) -> bool:
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return False
    found = re.match(r"v(\d+)\.", answer)
    return found is not None and int(found[1]) >= NODE


def _install(npm: str, place: Path, package: str) -> None:
    manifest = place / "package.json"
    if not manifest.exists():
        manifest.write_text('{"private": true}\n', encoding="utf-8")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    done = subprocess.run(
        [npm, "install", "--prefix", str(place), *options, package], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CannotRun(f"npm cannot install {package}:\n{done.stdout}{done.stderr}")
