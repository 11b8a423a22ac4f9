"""The event loop: uvloop's for `pegboard serve` where it is installed, asyncio's own for everybody else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pegboard import Host, Toolkit, ToolResult
from pegboard.types import Call
from tests.support.distributions import make_distribution
from tests.support.environments import built_wheels, executable, make_environment
from tests.support.http import Served, http_config, without_uvloop
from tests.support.http_mcp import ask, call
from tests.support.pool import CONFIG
from tests.support.wire import PEGBOARD, Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

KIT = """\
import asyncio
from pegboard import Toolkit

kit = Toolkit("loops")


@kit.tool
async def name() -> str:
    '''Name the module of the running event loop.'''
    return type(asyncio.get_running_loop()).__module__
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a toolkit whose tool names the event loop."""
    make_distribution(
        tmp_path, "toolkit-loops", "1", {"pegboard.toolkits": {"loops": "loops_kit:kit"}}, {"loops_kit.py": KIT}
    )
    return tmp_path


async def loop_of(served: Served) -> str:
    text: str = (await ask(served, call("loops_name"))).result["content"][0]["text"]
    return text.partition(".")[0]


async def test_serving_runs_on_uvloop(site: Path) -> None:
    async with Served(site) as served:
        assert await loop_of(served) == "uvloop"


async def test_serving_runs_on_asyncio_s_own_without_it(site: Path) -> None:
    async with Served(without_uvloop(site)) as served:
        assert await loop_of(served) == "asyncio"


@pytest.mark.parametrize(("requirement", "loop"), [("pegboard", "asyncio"), ("pegboard[fast]", "uvloop")])
async def test_the_extra_brings_it(site: Path, requirement: str, loop: str) -> None:
    environment = make_environment(f"loop-{loop}", requirement, wheels=built_wheels())
    async with Served(site, command=[executable(environment, "pegboard"), "serve"]) as served:
        assert await loop_of(served) == loop


@pytest.mark.parametrize("command", ["stdio", "serve"])
async def test_standard_streams_stay_on_asyncio_s_own(site: Path, command: str) -> None:
    """By themselves, and beside HTTP."""
    config = CONFIG if command == "stdio" else http_config().replace('["http"]', '["stdio", "http"]')
    async with Wire((PEGBOARD, command), config=config, site=site) as wire:
        await wire.initialize()
        assert (await wire.call("loops_name"))["content"][0]["text"].startswith("asyncio.")


async def test_a_host_in_a_program_runs_on_the_program_s_loop() -> None:
    kit = Toolkit("loops")

    @kit.tool
    async def name() -> str:
        """Name the module of the running event loop."""
        return type(asyncio.get_running_loop()).__module__

    async with Host({"host": {"autoload": False}}, toolkits={"loops": kit}) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "loops_name"}))
    assert isinstance(outcome, ToolResult)
    assert outcome.value == type(asyncio.get_running_loop()).__module__
