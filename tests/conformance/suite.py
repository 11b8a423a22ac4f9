"""The official conformance suite: npm installs it, and it runs against a URL."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.npm import node, package_folder

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
NODE = 22
"""The oldest major version of Node.js that the suite supports; npm installs it if the machine's is older."""
SCENARIO_SECONDS = 30
EXTENSIONS = {"skills": "sep-2640-", "tasks": "tasks-"}
"""The beginning of the names of the scenarios of each served extension."""

_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}


class Suite:
    """An installed suite, by the command that starts it."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self.scenarios = cache(self._scenarios)

    def _scenarios(self, revision: str) -> list[str]:
        """Return the names of the server scenarios of a revision, or of an extension."""
        chosen = [] if revision in EXTENSIONS else ["--spec-version", revision]
        listed = self._run("list", "--server", *chosen)
        names = re.findall(r"^  - (\S+)", listed, flags=re.MULTILINE)
        names = [name for name in names if name.startswith(EXTENSIONS.get(revision, ""))]
        assert names, f"the conformance suite lists no scenario for {revision}:\n{listed}"
        return names

    def run(self, url: str, revision: str, folder: Path, scenario: str | None = None) -> dict[str, list[Any]]:
        """Run all scenarios of a revision, or one, with results in a folder. Return the checks of each that ended.

        The suite knows the scenarios of an extension only by their names, and runs them with the newest revision.
        """
        for earlier in folder.glob("server-*"):
            shutil.rmtree(earlier)
        chosen = [["--suite", "all"] if scenario is None else ["--scenario", scenario]]
        options = ["--timeout", str(SCENARIO_SECONDS * 1000), "-o", str(folder)]
        if revision not in EXTENSIONS:
            options += ["--spec-version", revision]
        elif scenario is None:
            chosen = [["--scenario", name] for name in self.scenarios(revision)]
        said = "".join(self._run("server", "--url", url, *which, *options) for which in chosen)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.log").write_text(said, encoding="utf-8")
        found = {}
        for file in folder.glob("server-*/checks.json"):
            name = re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", file.parent.name.removeprefix("server-"))
            found[name] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def run_client(self, command: str, suite: str) -> dict[str, bool]:
        """Run the scenarios of a suite for clients, at its newest revision. Return the scenarios that passed or failed.

        Args:
            command: the command of the client. The suite adds the URL of a server.
            suite: "auth", "draft", "extensions" or "backcompat".
        """
        said = self._run("client", "--command", command, "--suite", suite)
        return {name: mark == "✓" for mark, name in re.findall(r"^([✓✗]) (\S+):", said, flags=re.MULTILINE)}

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr


def installed_suite() -> Suite:
    """Return the suite. The first caller installs it; others wait."""
    return Suite([_node(), str(package_folder(PACKAGE, VERSION) / "node_modules" / PACKAGE / "dist" / "index.js")])


def _node() -> str:
    """Return the interpreter; if the machine's is too old, one that npm installs."""
    own = node()
    found = re.match(r"v(\d+)\.", subprocess.run([own, "--version"], capture_output=True, text=True, check=True).stdout)
    if found is not None and int(found[1]) >= NODE:
        return own
    machine = platform.machine().lower()
    name = f"node-{platform.system().lower()}-{_ARCHITECTURES.get(machine, machine)}"
    return str(package_folder(name, str(NODE)) / "node_modules" / name / "bin" / "node")
