"""A run of the installed command imports only modules that it uses."""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator
from functools import cache

import pytest
import pytest_asyncio

from pegboard.loading.discovery import defaults
from tests.host.loading.third_party.installed import NO_IMPOSTOR, TIMEOUT, imported_by, samples, stdio
from tests.support.environments import executable
from tools.install import ROOT

CONFIG = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n[toolkits.greeter]\n"

FOUNDATION = """
import argparse, asyncio, concurrent.futures.thread, logging, secrets, signal
import importlib_metadata, pluggy, pydantic.type_adapter, tomli
from pydantic import BaseModel, Field, field_validator
class Model(BaseModel):
    size: int = Field(1, ge=1)
Model()
list(importlib_metadata.entry_points())
argparse.ArgumentParser().add_argument("x")
"""
"""What the command is built on, and whatever that loads with this version of Python."""

OURS = ("pegboard", "toolkit_greeter")
FURTHER = {"gc", "ctypes", "_ctypes", "encodings", "pydantic"}
"""Packages of which the command loads something beyond its foundation: little, and cheap."""
WORDS = {"pegboard.config.explain", "pegboard.config.show", "pegboard.config.secret_values"}
"""What puts wrong settings into words, and shows right ones."""
ABSENT = {
    "aiohttp", "aiohttp.web", "click", "difflib", "dotenv", "html", "http", "jwt", "multiprocessing", "unittest", "xml",
}  # fmt: skip


@cache
def foundation() -> frozenset[str]:
    done = subprocess.run(
        [executable(samples()), "-v", "-c", FOUNDATION], capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    return frozenset(re.findall(r"^import '?([\w.]+)'? #", done.stderr, re.MULTILINE))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[set[str]]:
    """The modules of a whole conversation over stdio, from the first message to a call and the end."""
    async with stdio(samples(), CONFIG, env={"PYTHONVERBOSE": "1"}) as wire:
        await wire.initialize()
        await wire.result("tools/list")
        await wire.call("greeter_hello", name="Ada")
    assert wire.exit_code == 0
    yield set(re.findall(r"^import '?([\w.]+)'? #", wire.stderr, re.MULTILINE))


@pytest.fixture(scope="module")
def listed() -> set[str]:
    """The modules of `pegboard list`."""
    return imported_by(samples(), "list", config=CONFIG)


def foreign(modules: set[str]) -> set[str]:
    """The packages of others that were loaded beyond the foundation."""
    beyond = modules - foundation()
    return {name.partition(".")[0] for name in beyond if not name.startswith(OURS)}


def commands(modules: set[str]) -> set[str]:
    """The modules of the command line that hold the code of commands."""
    every = {path.stem for path in (ROOT / "host/pegboard/cli").glob("*.py")}
    shared = {"__init__", "host_setup", "log_handler", "output", "tool_lookup", "parser", "standard_streams"}
    return {name for name in every - shared if f"pegboard.cli.{name}" in modules}


def plugins(modules: set[str]) -> set[str]:
    return {name.split(".")[1] for name in modules if name.startswith("pegboard_plugins.")}


def test_serving_over_stdio_loads_only_used_modules(served: set[str]) -> None:
    assert foreign(served) <= FURTHER
    # the configuration has a setting that widens access, which the start reports
    assert served & (ABSENT | WORDS) == {"pegboard.config.secret_values"}
    assert commands(served) == {"access_settings", "log_setup", "new_toolkits", "process", "serve", "toml_values"}
    loaded = {
        "pegboard.loading.loader",
        "pegboard.catalogue.assembly",
        "pegboard.calls.execute",
        "pegboard.runtime.supervisor",
    }
    assert loaded <= served


def test_listing_loads_only_used_modules(listed: set[str]) -> None:
    assert foreign(listed) <= FURTHER
    assert listed & (ABSENT | WORDS | {"ctypes"}) == set()
    assert commands(listed) == {"listing", "log_setup", "secret_report"}


def test_a_disabled_plugin_is_not_imported(served: set[str], listed: set[str]) -> None:
    assert plugins(served) == {*defaults()["plugins"], *defaults()["host"]["secret_stores"], "stdio"}
    assert "stdio" not in plugins(listed)
    strangers = {name for name in served | listed if name.startswith(("acme_", "broken_", "toolkit_"))}
    assert strangers == {"toolkit_greeter"}


@pytest.mark.parametrize("module", ["pegboard_plugins.stdio.stdio_redirect", "pegboard_plugins.http.server"])
def test_modules_of_a_transport_are_loaded_when_it_runs(module: str, listed: set[str]) -> None:
    assert module not in listed


def test_the_version_is_printed_without_a_host() -> None:
    loaded = imported_by(samples(), "--version")
    assert not {name for name in loaded if name.startswith(("pydantic", "asyncio", "pegboard.host", "pegboard.config"))}
