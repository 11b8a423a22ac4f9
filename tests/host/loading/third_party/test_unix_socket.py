"""A third-party transport: clients over a Unix socket."""

from __future__ import annotations

from pathlib import Path
from signal import SIGTERM

import pytest

from tests.host.loading.third_party.installed import NO_IMPOSTOR, samples
from tests.support.environments import executable
from tests.support.http import Served
from tests.support.peer import SocketPeer

CONFIG = f"""
[host]
autoload = false
{NO_IMPOSTOR}
transports = ["acme_unix"]
[plugins.acme_unix]
socket = "unix"
[toolkits.greeter]
"""


@pytest.mark.requirement("STDIO-08", "STDIO-09")
async def test_a_client_of_each_era_is_served(tmp_path: Path) -> None:
    async with Served(tmp_path, CONFIG, command=[executable(samples(), "pegboard"), "serve"]) as served:
        async with SocketPeer(served.home / "unix") as legacy:
            await legacy.initialize()
            result = await legacy.call("greeter_hello", name="Ada")
        async with SocketPeer(served.home / "unix") as modern:
            modern.modern = True
            listed = await modern.result("tools/list")
        served.signal(SIGTERM)
        assert await served.wait() == 0
    assert result["content"][0]["text"] == "Hello Ada"
    assert [tool["name"] for tool in listed["tools"]] == ["greeter_guests", "greeter_hello"]
