"""Imports load only modules that they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

COUNT = """
import sys
before = set(sys.modules)
{statement}
sys.stdout.write("\\n".join(sorted(set(sys.modules) - before)))
"""
HEAVY = {
    "pydantic", "pydantic_core", "typing_extensions", "importlib_metadata", "importlib.metadata", "asyncio", "json",
    "logging", "pathlib", "concurrent", "dataclasses", "argparse", "email", "subprocess", "socket", "threading",
}  # fmt: skip
AUTHORS = "Context, Toolkit, ToolAnnotations, ToolExecutionError, RetryableToolError, PromptMessage"


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a statement loads in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT.format(statement=statement)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stdout.splitlines())


def of_pegboard(modules: set[str]) -> set[str]:
    """Return the packages of the host and the plugins among modules."""
    found = {".".join(name.split(".")[:2]) for name in modules if name.startswith(("pegboard.", "pegboard_plugins"))}
    return found - {"pegboard.exports"}


def third_parties(modules: set[str]) -> set[str]:
    tops = {name.partition(".")[0] for name in modules}
    return {top for top in tops if not top.startswith("_")} - sys.stdlib_module_names - {"pegboard"}


TOOLKIT = "authoring plugin types hookspecs toolkit"


@pytest.mark.parametrize(
    ("names", "rooms", "others"),
    [
        ("pegboard import Toolkit", TOOLKIT, {"pluggy"}),
        (f"pegboard import {AUTHORS}", f"{TOOLKIT} context errors", {"pluggy"}),
        ("pegboard.plugin import Plugin, Middleware, Transport, hookimpl", "plugin types hookspecs", {"pluggy"}),
        ("pegboard.plugin import hookimpl", "hookspecs plugin", {"pluggy"}),
        ("pegboard import ToolExecutionError, MCPError", "errors", set()),
        ("pegboard.types import Call, Request, Tool", "types", set()),
        ("pegboard import Context", "types context errors", set()),
    ],
)
def test_imports_of_authors_are_light(names: str, rooms: str, others: set[str]) -> None:
    loaded = loaded_by(f"from {names}")
    assert of_pegboard(loaded) == {f"pegboard.{room}" for room in rooms.split()}
    assert third_parties(loaded) == others
    assert loaded & HEAVY == set()


def test_defining_tools_loads_nothing_more() -> None:
    more = """
from pegboard import Toolkit
kit = Toolkit("x")
kit.tool(description="Work.")(lambda: 1)
kit.resource("x://y")(lambda: "")
kit.prompt(name="p")(lambda: "")
"""
    assert of_pegboard(loaded_by(more)) == of_pegboard(loaded_by("from pegboard import Toolkit"))


@pytest.mark.parametrize(("package", "rooms"), [("pegboard", set()), ("pegboard.testing", {"pegboard.testing"})])
def test_a_package_loads_nothing_before_its_use(package: str, rooms: set[str]) -> None:
    loaded = loaded_by(f"import {package}")
    assert of_pegboard(loaded) == rooms
    assert third_parties(loaded) == set()
    assert loaded & HEAVY == set()


def test_the_pytest_plugin_loads_nothing_before_its_use() -> None:
    loaded = loaded_by("import pytest; before |= set(sys.modules); import pegboard.testing.pytest_plugin")
    assert {name for name in loaded if not name.startswith("pegboard")} == set()
    assert {name for name in loaded if name.startswith("pegboard.")} == {
        "pegboard.exports", "pegboard.testing", "pegboard.testing.pytest_plugin",
    }  # fmt: skip


def test_settings_need_pydantic_and_no_host() -> None:
    loaded = loaded_by("from pegboard import PluginConfig")
    assert of_pegboard(loaded) <= {"pegboard.config", "pegboard.errors", "pegboard.names"}
    assert loaded & {"asyncio", "logging", "importlib_metadata", "tomli", "pluggy", "pegboard.config.explain"} == set()


def test_lists_of_names_build_no_validator() -> None:
    code = "from pegboard.config import HostConfig"
    plain = loaded_by(code + "; HostConfig.of({'host': {'transports': ['stdio'], 'secret_stores': ['a', 'b']}})")
    assert "pydantic.plugin._loader" not in plain
    assert "pydantic.plugin._loader" in loaded_by(code + "; HostConfig.of({'host': {'name': 'mine'}})")


ERRORS = ["errors_google", "errors_graphql", "errors_http", "errors_microsoft", "errors_slack"]
LIGHT = [
    "apps", "auth_providers", "auth_token", "logging", "mcp", "rate_limit", "resource_server", "response_size",
    "secrets_dotenv", "secrets_env", "secrets_files", "secrets_keyring", "static_tokens", "stdio", "timing",
    "worker",
]  # fmt: skip


@pytest.mark.parametrize("plugin", [*LIGHT, *ERRORS])
def test_importing_a_plugin_is_light(plugin: str) -> None:
    loaded = loaded_by(f"import pegboard_plugins.{plugin}")
    assert of_pegboard(loaded).isdisjoint({"pegboard.host", "pegboard.loading", "pegboard.catalogue", "pegboard.cli"})
    assert third_parties(loaded) - {"pegboard_plugins"} <= {
        "pluggy", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection", "annotated_types",
    }  # fmt: skip
    if plugin in ERRORS:  # no library of a service before an exception
        assert third_parties(loaded) == {"pegboard_plugins", "pluggy"}
        assert loaded & HEAVY == set()


def test_libraries_for_tokens_are_loaded_with_the_first_token() -> None:
    loaded = loaded_by("""
import asyncio
from pegboard import Host

SECRET = "0123456789abcdef" * 2
DOORS = {
    "auth_token": {"token": SECRET},
    "resource_server": {"resource": "https://a.example/mcp", "authorization_servers": [{"issuer": "https://b.example"}]},
    "worker": {"secret": SECRET},
}

async def main():
    async with Host({"plugins": DOORS}):
        pass

asyncio.run(main())
""")
    assert {f"pegboard_plugins.{door}" for door in ("auth_token", "resource_server", "worker")} < loaded
    assert third_parties(loaded) & {"jwt", "cryptography", "aiohttp"} == set()
