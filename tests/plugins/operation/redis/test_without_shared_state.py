"""Hosts that share no state import nothing of it, over both transports."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

from tests.support.http import Served, http_config
from tests.support.http_mcp import call, opened, opening
from tests.support.pool import ASKING
from tests.support.wire import Wire

CODE = (
    "import atexit, sys; atexit.register(lambda: print('imported', *sorted(sys.modules), file=sys.stderr)); "
    "from pegboard.cli import main; sys.exit(main())"
)
SHARING = re.compile(r"\b(redis\S*|hiredis|\S*(?:sealed_state|operation\.redis|message_bus)\S*|cryptography\S*)")


async def test_a_server_with_sessions_in_memory(site: Path) -> None:
    command = (sys.executable, "-c", CODE, "serve")
    async with Served(site, http_config(host=ASKING), command=command) as served:
        session = await opened(served)
        assert (await session.post(call("asking_put", {"key": "a", "value": "b"}))).status == 200
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
    assert SHARING.findall(re.findall("(?m)^imported .*", served.stderr)[0]) == []


async def test_stores_in_redis_share_no_keys_among_workers(site: Path) -> None:
    sections = '[plugins.redis]\n[plugins.mcp]\nsession_store = "redis"\nevent_store = "redis"\n'
    config = http_config("port = 0\nworkers = 2", more=sections)
    served = Served(site, config, command=(sys.executable, "-m", "pegboard", "serve"))
    await served.assert_refuses(3, "the SessionStore 'redis'", "2 workers need common keys")


async def test_a_connection_over_standard_streams(site: Path) -> None:
    async with Wire((sys.executable, "-c", CODE, "stdio"), config=f"[host]\n{ASKING}", site=site) as wire:
        await wire.result("initialize", opening()["params"])
        await wire.result("tools/call", call("asking_put", {"key": "a", "value": "b"})["params"])
    assert SHARING.findall(re.findall("(?m)^imported .*", wire.stderr)[0]) == []
