"""Each project of `pegboard new` is built, installed from its wheel, tested, type-checked and served."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pegboard.scaffolds.kinds import PLUGINS
from tests.docs.pages import pegboard
from tests.support.environments import built_wheels, executable, make_environment, run
from tests.support.npm import node, package_folder
from tests.support.serving import serving

PROJECTS = {
    "toolkit": ("toolkit", "rainy-days"),
    "server": ("server", "dry-days"),
    **{kind: ("plugin", f"my-{kind}", "--kind", kind) for kind in PLUGINS},
}
PYRIGHT = "1.1.414"

_place = TemporaryDirectory(prefix="pegboard-new-")


@cache
def folders() -> dict[str, Path]:
    """Write all projects and return their folders."""
    made = {name: pegboard("new", *line, "--json", cwd=Path(_place.name)) for name, line in PROJECTS.items()}
    assert [done.err for done in made.values() if done.code] == []
    return {name: Path(done.data["folder"]) for name, done in made.items()}


def environment() -> Path:
    """Return an environment with the wheels of all projects."""
    distributions = [folder.name for folder in folders().values()]
    return make_environment(
        "scaffolds", "pegboard", "pytest", "mypy", *distributions, wheels=built_wheels(*folders().values())
    )


def started(name: str, *arguments: str | Path) -> Any:
    """Run `pegboard` of the environment in the folder of a project, and return the JSON that it prints."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folders()[name])}
    command = [executable(environment(), "pegboard"), *arguments, "--json"]
    return json.loads(run(*command, cwd=folders()[name], env=env))


def responses(command: Sequence[str | Path], *methods: str) -> list[Any]:
    """Return the results of requests to a server over stdio that a client starts in the root directory."""
    said = "".join(f'{{"jsonrpc": "2.0", "id": {number}, "method": "{one}"}}\n' for number, one in enumerate(methods))
    done = subprocess.run(command, cwd="/", env={}, input=said, capture_output=True, text=True, check=True)
    return [json.loads(line)["result"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", PROJECTS)
def test_its_tests_pass_with_its_wheel(name: str) -> None:
    command: list[str | Path] = [
        executable(environment()),
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "-W",
        "error",
    ]
    assert " passed" in run(*command, cwd=folders()[name], env={"PATH": os.environ["PATH"]})


def test_they_pass_plain_mypy_and_pyright(tmp_path: Path) -> None:
    sources = [folder / part for folder in folders().values() for part in ("src", "tests")]
    run(executable(environment()), "-m", "mypy", "--strict", "--cache-dir", tmp_path, *sources, cwd=tmp_path)
    place = Path(_place.name)
    (place / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    script = package_folder("pyright", PYRIGHT) / "node_modules" / "pyright" / "index.js"
    told = run(node(), script, "--pythonpath", executable(environment()), "--outputjson", cwd=place)
    assert json.loads(told)["summary"]["filesAnalyzed"] == len(sources)


@pytest.mark.parametrize("kind", PLUGINS)
def test_a_plugin_runs_when_the_configuration_names_it(kind: str) -> None:
    settings = ("--config", folders()[kind] / "hostconfig.example.toml")
    for arguments, state in (((), "off"), (settings, "on")):
        (row,) = [row for row in started(kind, "plugins", *arguments) if row["distribution"] == folders()[kind].name]
        assert (row["state"], row["problems"]) == (state, [])
    assert responses([executable(environment(), "pegboard"), "stdio", *settings], "ping") == [{}]


def test_a_toolkit_is_served_once_it_is_installed() -> None:
    assert started("toolkit", "call", "rainy_days_greet", "name=Ada") == {"result": "Hello, Ada!"}


def test_a_server_serves_over_http() -> None:
    folder, env = folders()["server"], {"PEGBOARD__PLUGINS__HTTP__PORT": "0", "HOME": _place.name}
    with serving([executable(environment(), folder.name), "http"], folder, env) as server:
        assert server.url.endswith("/mcp")


@pytest.mark.parametrize("name", ["toolkit", "server"])
def test_a_command_serves_over_stdio_and_the_registry_can_describe_it(name: str) -> None:
    folder = folders()[name]
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    described = json.loads((folder / "server.json").read_text())
    (package,) = described["packages"]
    assert (package["identifier"], list(project["scripts"])) == (folder.name, [folder.name])
    assert described["version"] == package["version"] == project["version"]
    assert len(described["description"]) <= 100
    assert f"mcp-name: {described['name']} " in (folder / "README.md").read_text()
    assert responses([executable(environment(), folder.name)], "ping") == [{}]
