"""A run of the installed command imports only modules that it uses."""

from __future__ import annotations

import subprocess

import pytest

from pegboard.loading.discovery import defaults
from tests.host.loading.third_party.installed import NO_IMPOSTOR, imported_by, imports, samples, stdio
from tests.support.environments import executable

CONFIG = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n[toolkits.greeter]\n"
FOUNDATION = """
import argparse, asyncio, concurrent.futures.thread, hashlib, logging, secrets, signal, tempfile
import importlib_metadata, pluggy, pydantic.type_adapter, tomli
from pydantic import BaseModel, Field, field_validator
class Model(BaseModel):
    size: int = Field(1, ge=1)
Model()
list(importlib_metadata.entry_points())
importlib_metadata.version("pydantic")
argparse.ArgumentParser().add_argument("x")
"""
"""The libraries of the command, and the modules that they load with this version of Python."""
OURS = ("pegboard", "toolkit_greeter")
FURTHER = {"gc", "ctypes", "_ctypes", "encodings", "pydantic", "shlex", "urllib"}
"""Packages of which the command loads a few cheap modules beyond its foundation."""
ABSENT = {
    "aiohttp", "aiohttp.web", "click", "difflib", "dotenv", "html", "http", "jwt", "multiprocessing", "unittest", "xml",
    "pegboard.config.explain",
    "pegboard_plugins.transports.http.server",
}  # fmt: skip


def foreign(modules: set[str]) -> set[str]:
    """Return the packages of others that were loaded beyond the foundation."""
    done = subprocess.run(
        [executable(samples()), "-v", "-c", FOUNDATION], capture_output=True, text=True, timeout=60, check=True
    )
    beyond = modules - imports(done.stderr)
    return {name.partition(".")[0] for name in beyond if not name.startswith(OURS)}


def commands(modules: set[str]) -> set[str]:
    """Return the modules of the command line that only some commands need."""
    shared = {
        "cli", "commands", "parsing", "inspection", "serving", "editing", "host_setup", "log_handler",
        "parser", "argument_reading", "command_config", "command_runs", "declared_commands",
        "standard_streams", "tool_lookup",
    }  # fmt: skip
    return {name.rpartition(".")[2] for name in modules if name.startswith("pegboard.cli")} - shared


def plugins(modules: set[str]) -> set[str]:
    names = [name.split(".") for name in modules if name.startswith("pegboard_plugins.")]
    return {name[2] for name in names if len(name) > 2 and name[1] != "support"}


async def test_serving_over_stdio_loads_only_used_modules() -> None:
    async with stdio(samples(), CONFIG, env={"PYTHONVERBOSE": "1"}) as wire:
        await wire.initialize()
        await wire.result("tools/list")
        await wire.call("greeter_hello", name="Ada")
    assert wire.exit_code == 0
    served = imports(wire.stderr)
    assert foreign(served) <= FURTHER
    assert served & ABSENT == set()
    assert commands(served) == {"access_settings", "log_setup", "new_toolkits", "process", "serve"}
    assert {"pegboard.loading.loader", "pegboard.calls.execute", "pegboard.runtime.supervisor"} <= served
    assert plugins(served) == {*defaults()["plugins"], *defaults()["host"]["secret_stores"], "stdio"}
    strangers = {name for name in served if name.startswith(("acme_", "broken_", "toolkit_"))}
    assert strangers == {"toolkit_greeter"}


@pytest.mark.needs("tool_commands")
def test_listing_and_calling_load_only_used_modules() -> None:
    listed = imported_by(samples(), "list", config=CONFIG)
    assert foreign(listed) <= FURTHER
    assert commands(listed) == {"log_setup"}
    called = imported_by(samples(), "call", "greeter_hello", "name=Ada", config=CONFIG)
    of_calls = "pegboard_plugins.authoring.tool_commands.call_command"
    assert (of_calls in listed, of_calls in called) == (False, True)
    for loaded in (listed, called):
        assert loaded & ABSENT == set()
        assert "stdio" not in plugins(loaded)
