"""A host inside somebody else's program: it changes nothing of the process, and several live side by side."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.plugin import ConfigError, HostConfig, MiddlewareFunction, Plugin, hookimpl
from pegboard.types import Call, Listing
from tests.host.hosting import make_host, value


def kit_of(name: str, answer: str) -> Toolkit:
    kit = Toolkit(name)

    @kit.tool
    def say() -> str:
        """Say it."""
        return answer

    return kit


async def test_a_program_brings_its_own_toolkits_and_plugins() -> None:
    seen: list[str] = []

    class Watching(Plugin):
        @hookimpl
        def register_middleware(self) -> list[MiddlewareFunction]:
            async def handle(call: Call, call_next: Any) -> Any:
                seen.append(call.method)
                return await call_next(call)

            return [handle]

    config = {"host": {"name": "embedded", "autoload": False}}
    async with Host(config, plugins={"watching": Watching}, toolkits={"mine": kit_of("x", "hello")}) as host:
        assert host.identity.name == "embedded"
        assert await value(host, "mine_say") == "hello"
        listing = await host.dispatch(Call("tools/list"))
        assert isinstance(listing, Listing)
        assert [tool.name for tool in listing.items] == ["mine_say"]
    assert seen == ["tools/call", "tools/list"]


async def test_several_hosts_in_one_program_know_nothing_of_each_other() -> None:
    first = make_host(kit_of("kit", "first"), name="first", page_size=1)
    second = make_host(kit_of("kit", "second"), kit_of("more", "m"), name="second", disabled_tools=["more_*"])
    async with first, second:
        assert await value(first, "kit_say") == "first"
        assert await value(second, "kit_say") == "second"
        assert (first.identity.name, second.identity.name) == ("first", "second")
        assert list(second.assembly.tools) == ["kit_say"]
        await second.stop()
        assert await value(first, "kit_say") == "first"


def test_hosts_in_several_threads_with_a_loop_each() -> None:
    async def run(number: int) -> str:
        async with make_host(kit_of("kit", str(number))) as host:
            return str(await value(host, "kit_say"))

    async def gather() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(asyncio.run, run(number)) for number in range(4)))

    assert asyncio.run(gather()) == ["0", "1", "2", "3"]


def test_a_host_can_be_made_before_there_is_a_loop() -> None:
    host = make_host(kit_of("kit", "later"))

    async def use() -> Any:
        async with host:
            return await value(host, "kit_say")

    assert asyncio.run(use()) == "later"


@pytest.mark.parametrize(
    "config",
    [None, {}, {"host": {"name": "x"}}, HostConfig.of({"host": {"name": "x"}})],
    ids=["none", "empty", "mapping", "config"],
)
def test_a_configuration_comes_in_every_shape(config: Any) -> None:
    assert Host(config).identity.name in ("pegboard", "x")


def test_a_wrong_configuration_is_refused_with_everything_that_is_wrong() -> None:
    with pytest.raises(ConfigError) as caught:
        Host({"host": {"nmae": "x", "page_size": 0}})
    assert "name" in str(caught.value)
    assert "page_size" in str(caught.value)


def test_no_file_and_no_variable_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostconfig.toml").write_text('[host]\nname = "from the file"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD__HOST__NAME", "from the environment")
    monkeypatch.setenv("MCP_SERVER_NAME", "from the environment")
    assert Host().identity.name == "pegboard"


def process_state() -> dict[str, Any]:
    return {
        "signals": {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)},
        "descriptors": [os.fstat(number).st_ino for number in (0, 1, 2)],
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.excepthook, sys.displayhook),
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()),
        "logging": (logging.getLogger().level, tuple(logging.getLogger().handlers)),
        "warnings": tuple(warnings.filters),
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "path": tuple(sys.path),
    }


async def test_the_process_stays_as_it_was() -> None:
    loop = asyncio.get_running_loop()
    before = process_state() | {"handler": loop.get_exception_handler(), "debug": loop.get_debug()}
    async with Host({"host": {"autoload": False}}, toolkits={"kit": kit_of("kit", "x")}) as host:
        await value(host, "kit_say")
        during = process_state() | {"handler": loop.get_exception_handler(), "debug": loop.get_debug()}
    after = process_state() | {"handler": loop.get_exception_handler(), "debug": loop.get_debug()}
    assert during == before
    assert after == before


def test_a_stopped_host_is_garbage() -> None:
    import weakref

    async def run() -> weakref.ref[Host]:
        host = make_host(kit_of("kit", "x"))
        async with host:
            await value(host, "kit_say")
        return weakref.ref(host)

    kept = asyncio.run(run())
    gc.collect()
    assert kept() is None


def test_nothing_is_printed() -> None:
    code = """
import asyncio
from pegboard import Host, Toolkit

async def main():
    async with Host({"host": {"autoload": False}}, toolkits={"x": Toolkit("x")}):
        pass

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == ""
    assert done.stderr.splitlines() in (
        [],
        ["no tools are served: install a toolkit, or see `pegboard plugins` for what is off"],
    )
