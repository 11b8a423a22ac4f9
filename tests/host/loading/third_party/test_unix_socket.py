"""A third-party transport: clients over a Unix socket, and a transport that fails and is restarted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from signal import SIGTERM

import pytest

from tests.host.loading.third_party.installed import NO_IMPOSTOR, Service, complaints, pegboard, samples
from tests.support.peer import WAIT

CANNOT_OPEN = 5
HOST = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"
UNIX = '[plugins.acme_unix]\nsocket = "unix"\n[toolkits.greeter]\n'
ALONE = f'{HOST}transports = ["acme_unix"]\n{UNIX}'
WITH_MORTAL = f'{HOST}transports = ["acme_mortal", "acme_unix"]\n{UNIX}[plugins.acme_mortal]\nsocket = "mortal"\n'
UP = " at unix\n"


@pytest.mark.requirement("STDIO-08", "STDIO-09")
async def test_a_client_of_each_era_is_served() -> None:
    async with Service(samples(), ALONE) as service:
        await service.says(UP)
        async with service.client("unix") as legacy:
            await legacy.initialize()
            result = await legacy.call("greeter_hello", name="Ada")
        async with service.client("unix") as modern:
            modern.modern = True
            listed = await modern.result("tools/list")
        assert await service.end(SIGTERM) == 0
    assert result["content"][0]["text"] == "Hello Ada"
    assert [tool["name"] for tool in listed["tools"]] == ["greeter_guests", "greeter_hello"]


async def test_a_transport_that_fails_is_restarted_while_another_serves() -> None:
    async with Service(samples(), f"{WITH_MORTAL}leave = true\n") as service:
        await service.says(UP)
        await service.says(" at mortal\n")
        async with service.client("unix") as peer:
            await peer.initialize()
            for death in (1, 2):
                await touch(service.folder / "mortal")
                await service.says("transport acme_mortal died; it is started again in", times=death)
                result = await peer.call("greeter_hello", name=f"Ada {death}")
                assert result["content"][0]["text"] == f"Hello Ada {death}"
                await service.says(" at mortal\n", times=death + 1)
        assert await service.end(SIGTERM) == 0
    assert service.stderr.count("SystemExit: 7") == 2
    assert "died; it is started again in 0.5 s" in service.stderr
    assert "died; it is started again in 1.0 s" in service.stderr


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
