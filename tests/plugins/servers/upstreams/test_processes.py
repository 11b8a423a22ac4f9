"""Processes around mounted servers: hosts that are killed, and hosts that mount each other."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pegboard.plugin import ProtocolError
from pegboard_client import Client
from pegboard_plugins.servers.upstreams.hops import MAX_HOSTS, VIA
from tests.host.hosting import WAIT, until
from tests.plugins.servers.upstreams.mounts import mounting, peer, scripted, served_peer, toml, tools
from tests.plugins.servers.upstreams.test_connections import alive
from tests.support.http import Served, http_config
from tests.support.oidc import free_port
from tests.support.wire import PEGBOARD


def read_pids(path: Path) -> list[int]:
    return [int(pid) for pid in path.read_text().split()]


async def test_no_process_is_left_after_the_host_was_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    stubborn = f'trap "" TERM HUP INT; echo $$ >> {pids}; sleep 600 & echo $! >> {pids}; wait; sleep 600'
    sections = toml("stubborn", {"command": "/bin/sh", "args": ["-c", stubborn]})
    sections += toml("one", scripted(tmp_path, tools("x")))
    async with Served(tmp_path, http_config(more=sections)) as served:
        own = Path(f"/proc/{served.pid}/task/{served.pid}/children")
        await until(
            lambda: pids.exists() and (len(read_pids(pids)), len(read_pids(own))) == (2, 4)
        )  # with their guards
        children = [*read_pids(pids), *read_pids(own)]
        assert all(map(alive, children))
        os.kill(served.pid, signal.SIGKILL)
        await until(lambda: not any(map(alive, children)))


async def test_no_process_is_left_after_the_host_has_stopped(tmp_path: Path) -> None:
    async with mounting({"one": peer()}) as client:
        pid = int((await client.call("one_pid")).text)
        assert alive(pid)
    assert not alive(pid)


async def test_a_host_that_mounts_itself_is_found(tmp_path: Path) -> None:
    port = free_port()
    async with served_peer(tmp_path, port, toml("me", {"url": f"http://127.0.0.1:{port}/mcp"})) as served:
        await served.wait_for_stderr("me is not mounted: it is this host, or mounts this host; remove the section")


async def test_a_program_that_mounts_itself_is_found(tmp_path: Path) -> None:
    folder = str(tmp_path)
    config = toml("me", {"command": str(PEGBOARD), "args": ["stdio", "--config", f"{folder}/hostconfig.toml"]})
    async with Served(tmp_path, http_config(host='log_level = "info"', more=config), cwd=tmp_path) as served:
        await served.wait_for_stderr(
            "me, standard error: .*me is not mounted: the program is a host that mounts itself"
        )


async def test_hosts_that_mount_each_other_do_not_list_their_own_items(tmp_path: Path) -> None:
    ports = {"a": free_port(), "b": free_port()}
    urls = {name: f"http://127.0.0.1:{port}/mcp" for name, port in ports.items()}
    async with AsyncExitStack() as stack:
        for name, other in (("a", "b"), ("b", "a")):
            await stack.enter_async_context(served_peer(tmp_path, ports[name], toml(other, {"url": urls[other]})))
        await seen(urls["b"], "a_add")
        async with Client(urls["a"]) as client:
            await seen(urls["a"], "b_grow")
            assert (await client.call("b_grow", {"name": "grown"}))["content"][0]["text"] == "grown"
            names = await seen(urls["a"], "b_grown")  # read after b has listed the tools of a
            assert not {name for name in names if name.startswith("b_a_")}


async def seen(url: str, name: str) -> set[str]:
    """Return the names of a server's tools once one of them has this name."""
    changes: asyncio.Queue[str] = asyncio.Queue()
    async with (
        asyncio.timeout(WAIT),
        Client(url, on_notification=lambda method, _: changes.put_nowait(method)) as client,
    ):
        await client.listen()
        while name not in (names := {str(tool["name"]) for tool in await client.tools()}):
            await changes.get()
        return names


async def test_a_request_passes_a_limited_number_of_hosts(tmp_path: Path) -> None:
    async with mounting({"one": scripted(tmp_path, tools("env"))}) as client:
        params = {"name": "one_env", "arguments": {}}
        near, far = ({"_meta": {**client.meta, VIA: ["other"] * hosts}} for hosts in (MAX_HOSTS - 1, MAX_HOSTS))
        await client.request("tools/call", {**params, **near})
        with pytest.raises(ProtocolError, match="which is the limit"):
            await client.request("tools/call", {**params, **far})
