"""Imports load only modules that they need."""

from __future__ import annotations

import subprocess
import sys

import importlib_metadata
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
PYDANTIC = {"pydantic", "pydantic_core", "typing_extensions", "typing_inspection", "annotated_types"}
AUTHORS = "Context, Toolkit, ToolAnnotations, ToolExecutionError, RetryableToolError, PromptMessage"
DEFINITIONS = """from pegboard import Toolkit
kit = Toolkit("x")
kit.tool(description="Work.")(lambda: 1)
kit.resource("x://y")(lambda: "")
kit.prompt(name="p")(lambda: "")"""


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a statement loads in a new process."""
    command = [sys.executable, "-c", COUNT.format(statement=statement)]
    return set(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines())


def of_pegboard(modules: set[str]) -> set[str]:
    """Return the packages of the host and the plugins among modules."""
    names = {".".join(name.split(".")[:2]) for name in modules if name.startswith(("pegboard.", "pegboard_plugins"))}
    return names - {"pegboard.exports"}


def third_parties(modules: set[str]) -> set[str]:
    tops = {name.partition(".")[0] for name in modules}
    return {top for top in tops if not top.startswith(("_", "pegboard"))} - sys.stdlib_module_names


@pytest.mark.parametrize(
    ("statement", "rooms", "others"),
    [
        ("import pegboard", "", set()),
        (DEFINITIONS, "authoring plugin types hookspecs toolkit", {"pluggy"}),
        (f"from pegboard import {AUTHORS}", "authoring plugin types hookspecs toolkit context errors", {"pluggy"}),
        ("from pegboard.plugin import Plugin, Middleware, Transport, hookimpl", "plugin types hookspecs", {"pluggy"}),
        ("from pegboard import ToolExecutionError, MCPError", "errors", set()),
        ("from pegboard import Context; from pegboard.types import Call, Request, Tool", "types context errors", set()),
    ],
)
def test_imports_of_authors_are_light(statement: str, rooms: str, others: set[str]) -> None:
    loaded = loaded_by(statement)
    assert of_pegboard(loaded) == {f"pegboard.{room}" for room in rooms.split()}
    assert third_parties(loaded) == others
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    "package",
    [
        pytest.param(package, marks=pytest.mark.needs(package))
        for package in ("pegboard_client", "pegboard_evals", "pegboard_messages", "pegboard_testing")
    ],
)
def test_packages_beside_the_host_load_nothing_before_their_use(package: str) -> None:
    loaded = loaded_by(f"import {package}")
    own = {name for name in loaded if name.startswith("pegboard")}
    assert own - {"pegboard", "pegboard.exports"} == {package}
    assert third_parties(loaded) | loaded & HEAVY == set()


@pytest.mark.needs("pegboard_testing")
def test_the_pytest_plugin_loads_nothing_before_its_use() -> None:
    loaded = loaded_by("import pytest; before |= set(sys.modules); import pegboard_testing.pytest_plugin")
    assert loaded == {"pegboard", "pegboard.exports", "pegboard_testing", "pegboard_testing.pytest_plugin"}


@pytest.mark.needs("pegboard_client")
def test_a_client_loads_http_when_it_connects() -> None:
    loaded = loaded_by("from pegboard_client import Client, Endpoint, Program; Client(Program('x'), version='1')")
    assert of_pegboard(loaded) <= {"pegboard.errors", "pegboard.types", "pegboard.wire"}
    assert loaded & {"aiohttp", "pydantic", "pluggy"} == set()


@pytest.mark.needs("lock")
def test_a_server_loads_no_json() -> None:
    loaded = loaded_by("""
from pegboard.cli.parsing.parser import parse
from pegboard.cli.serving import serve
from pegboard_plugins.operation.lock.canonical import digest_of

parse(["stdio"])
digest_of({"a": [1.5]})
""")
    assert "pegboard.cli.serving.serve" in loaded
    # pydantic imports importlib.metadata, which loads json since Python 3.14
    assert loaded & {"json"} == loaded_by("import importlib.metadata") & {"json"}


def test_settings_need_no_host() -> None:
    loaded = loaded_by("from pegboard import PluginConfig")
    assert of_pegboard(loaded) <= {"pegboard.config", "pegboard.errors", "pegboard.names"}
    assert loaded & {"asyncio", "logging", "importlib_metadata", "tomli", "pluggy", "pegboard.config.explain"} == set()


ERRORS = "errors_google errors_graphql errors_http errors_microsoft errors_slack"
LIGHT = """
apps auth_providers auth_token cache logging mcp rate_limit resource_server response_size secrets_dotenv secrets_env
secrets_files secrets_keyring static_tokens stdio timing worker
"""


def imports_of(plugins: str) -> str:
    """Return statements that import plugins."""
    entries = {entry.name: entry.module for entry in importlib_metadata.entry_points(group="pegboard.plugins")}
    return "\n".join(f"import {entries[plugin]}" for plugin in plugins.split())


@pytest.mark.needs("auth", "rate_limit", "worker")
def test_importing_plugins_is_light() -> None:
    loaded = loaded_by(imports_of(LIGHT))
    assert of_pegboard(loaded).isdisjoint({"pegboard.host", "pegboard.loading", "pegboard.catalogue", "pegboard.cli"})
    assert third_parties(loaded) <= {"pluggy", *PYDANTIC}


def test_error_adapters_load_no_library_of_a_service_before_an_exception() -> None:
    loaded = loaded_by(imports_of(ERRORS))
    assert third_parties(loaded) == {"pluggy"}
    assert loaded & HEAVY == set()


@pytest.mark.needs("auth", "worker")
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
    assert {
        f"pegboard_plugins.{door}" for door in ("auth.auth_token", "auth.resource_server", "protocols.worker")
    } < loaded
    assert third_parties(loaded) & {"jwt", "cryptography", "aiohttp"} == set()
