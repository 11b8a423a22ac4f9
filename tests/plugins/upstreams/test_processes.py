"""Processes around mounted servers: hosts that are killed, and hosts that mount each other."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from pegboard.types import Call, Listing
from pegboard_plugins.upstreams.hops import MAX_HOSTS, VIA
from tests.host.hosting import until
from tests.plugins.upstreams.mounts import HERE, mounting, names, peer, scripted, tools
from tests.plugins.upstreams.test_connections import alive
from tests.support.http import Served, http_config
from tests.support.wire import PEGBOARD


def toml(name: str, section: dict[str, Any]) -> str:
    """Return a section for a configuration file."""
    return f"[plugins.upstreams.servers.{name}]\n" + "".join(f"{key} = {json.dumps(one)}\n" for key, one in section.items())


async def test_no_process_is_left_after_the_host_was_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    stubborn = f'trap "" TERM HUP INT; echo $$ >> {pids}; sleep 600 & echo $! >> {pids}; wait; sleep 600'
    sections = toml("stubborn", {"command": "/bin/sh", "args": ["-c", stubborn]})
    sections += toml("one", scripted(tmp_path, tools("x")))
    async with Served(tmp_path, http_config(more=sections)) as served:
        await until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        children = [int(pid) for pid in pids.read_text().split()]
        children += [int(pid) for pid in Path(f"/proc/{served.pid}/task/{served.pid}/children").read_text().split()]
        assert all(map(alive, children))
        os.kill(served.pid, signal.SIGKILL)
        await until(lambda: not any(map(alive, children)))


async def test_no_process_is_left_after_the_host_has_stopped(tmp_path: Path) -> None:
    async with mounting({"one": peer()}) as client:
        pid = int((await client.call("one_pid")).text)
        assert alive(pid)
    assert not alive(pid)


async def test_a_host_that_mounts_itself_is_found() -> None:
    async with Served(HERE, None, command=(PEGBOARD, "serve", "--file", HERE / "peer_kit.py"), ready=False) as served:
        pass
