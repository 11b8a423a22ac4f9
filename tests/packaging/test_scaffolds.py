"""Each project of `pegboard new` is built, installed from its wheel, tested, type-checked and served."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pegboard_plugins.authoring.new.kinds import PLUGINS
from tests.docs.pages import Page, pegboard
from tests.support.environments import built_wheels, executable, make_environment, run
from tests.support.npm import node, package_folder
from tests.support.server_json import check_server_json
from tests.support.serving import serving

PROJECTS = {
    "toolkit": ("toolkit", "rainy-days"),
    "server": ("server", "dry-days"),
    **{kind: ("plugin", f"my-{kind}", "--kind", kind) for kind in PLUGINS},
}
PYRIGHT = "1.1.414"

_place = TemporaryDirectory(prefix="pegboard-new-")


@cache
def made() -> dict[str, Any]:
    """Write all projects. Return the outputs of `pegboard new --json`."""
    done = {name: pegboard("new", *line, "--json", cwd=Path(_place.name)) for name, line in PROJECTS.items()}
    assert [result.err for result in done.values() if result.code] == []
    return {name: result.data for name, result in done.items()}


def folders() -> dict[str, Path]:
    """Return the folder of each project."""
    return {name: Path(data["folder"]) for name, data in made().items()}


@cache
def environment() -> Path:
    """Return an environment with the wheels of all projects."""
    distributions = [folder.name for folder in folders().values()]
    return make_environment(
        "scaffolds", "pegboard", "pytest", "mypy", *distributions, wheels=built_wheels(*folders().values())
    )


def printed(name: str, line: str) -> str:
    """Return the output of a command in the folder of a project, with the commands of the environment."""
    env = {"PATH": f"{environment() / 'bin'}:/usr/bin:/bin", "HOME": _place.name}
    return run("sh", "-c", line, cwd=folders()[name], env=env)


def is_served(name: str, *command: str | Path) -> bool:
    """Return True if a command of the environment responds to a client that starts it in the root directory."""
    line = [executable(environment(), name), *command]
    ping, pong = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}', '{"jsonrpc":"2.0","id":1,"result":{}}'
    done = subprocess.run(line, cwd="/", env={}, input=ping + "\n", stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.rstrip("\n") in (pong, f"wrong request: Unknown tool: {ping}")  # as the own protocol answers


@pytest.mark.parametrize("name", PROJECTS)
def test_its_tests_pass_with_its_wheel(name: str) -> None:
    assert " passed" in printed(name, "python -m pytest -q -p no:cacheprovider -W error")


def test_they_and_examples_of_middleware_pass_plain_mypy_and_pyright(tmp_path: Path) -> None:
    sources = [folder / part for folder in folders().values() for part in ("src", "tests")]
    middleware = Page("docs/middleware.md")
    run(executable(environment()), "-m", "mypy", "--strict", "--cache-dir", tmp_path, *sources, cwd=tmp_path)
    place = middleware.write(Path(_place.name))
    (place / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    script = package_folder("pyright", PYRIGHT) / "node_modules" / "pyright" / "index.js"
    report = run(node(), script, "--pythonpath", executable(environment()), "--outputjson", cwd=place)
    assert json.loads(report)["summary"]["filesAnalyzed"] == len(sources) + len(middleware.files)


@pytest.mark.parametrize("kind", PLUGINS)
def test_a_plugin_runs_when_the_configuration_names_it(kind: str) -> None:
    shown = printed(kind, made()[kind]["next"][-1])
    if kind == "command":
        assert shown == "Hello, Ada.\n"
    else:
        assert (": on; named by [" in shown, "problem" in shown) == (True, False)
    settings = ("--config", folders()[kind] / "hostconfig.example.toml")
    assert is_served("pegboard", "stdio", *settings)


def test_toolkits_run_once_they_are_installed_and_plugins_do_not() -> None:
    states = {row["distribution"]: row["state"] for row in json.loads(printed("toolkit", "pegboard plugins --json"))}
    assert {name: states.get(folder.name) for name, folder in folders().items()} == {
        "toolkit": "on",
        "server": None,
        **dict.fromkeys(PLUGINS, "off"),
    }


@pytest.mark.parametrize("name", ["toolkit", "server", "route"])
def test_the_commands_of_its_readme_work(name: str) -> None:
    shown = re.findall(r"^pegboard .*", (folders()[name] / "README.md").read_text(), re.M)
    assert shown
    assert all(printed(name, line) for line in shown)


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
    check_server_json(described)
    assert f"mcp-name: {described['name']} " in (folder / "README.md").read_text()
    assert is_served(folder.name)
