"""A third-party transport: clients over a Unix socket, and a transport that fails and is restarted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from signal import SIGTERM

import pytest

from tests.host.loading.third_party.installed import NO_IMPOSTOR, complaints, pegboard, samples
from tests.support.environments import executable
from tests.support.http import Served
from tests.support.peer import WAIT, SocketPeer

CANNOT_OPEN = 5
HOST = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"
UNIX = '[plugins.acme_unix]\nsocket = "unix"\n[toolkits.greeter]\n'
ALONE = f'{HOST}transports = ["acme_unix"]\n{UNIX}'
WITH_MORTAL = f'{HOST}transports = ["acme_mortal", "acme_unix"]\n{UNIX}[plugins.acme_mortal]\nsocket = "mortal"\n'


def serve(config: str, site: Path) -> Served:
    """Return the installed `pegboard serve`. The name of its folder is short, as the path of a Unix socket must be."""
    return Served(site, config, command=[executable(samples(), "pegboard"), "serve"])


@pytest.mark.requirement("STDIO-08", "STDIO-09")
async def test_a_client_of_each_era_is_served(tmp_path: Path) -> None:
    async with serve(ALONE, tmp_path) as served:
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


async def test_a_transport_that_fails_is_restarted_while_another_serves(tmp_path: Path) -> None:
    async with serve(f"{WITH_MORTAL}leave = true\n", tmp_path) as served:
        await served.wait_for_stderr(" at unix\n")
        await served.wait_for_stderr(" at mortal\n")
        async with SocketPeer(served.home / "unix") as peer:
            await peer.initialize()
            for death, delay in ((1, "0.5"), (2, "1.0")):
                await touch(served.home / "mortal")
                await served.wait_for_stderr(f"transport acme_mortal died; it is started again in {delay} s")
                result = await peer.call("greeter_hello", name=f"Ada {death}")
                assert result["content"][0]["text"] == f"Hello Ada {death}"
                await served.wait_for_stderr(f"(?s)( at mortal\n.*){{{death + 1}}}")
        served.signal(SIGTERM)
        assert await served.wait() == 0
    assert served.stderr.count("SystemExit: 7") == 2


async def touch(path: Path) -> None:
    """Connect, and wait until the other end has closed."""
    reader, writer = await asyncio.open_unix_connection(path)
    async with asyncio.timeout(WAIT):
        assert await reader.read() == b""
    writer.close()


def test_a_socket_that_cannot_be_opened_has_its_own_exit_code() -> None:
    done = pegboard(samples(), "serve", config=ALONE.replace('"unix"', '"not/there/unix"'))
    assert done.code == CANNOT_OPEN
    assert complaints(done.err) == ["cannot listen on not/there/unix: No such file or directory"]
