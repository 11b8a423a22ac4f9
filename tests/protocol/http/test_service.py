"""A server that a service manager starts: sockets that it passes, and messages that it receives."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.http import Line, Served, http_config
from tests.support.peer import LIMIT, WAIT
from tests.support.wire import PEGBOARD

MANAGER = """
import os, socket, sys
for number, place in enumerate(sys.argv[3:]):
    passed = socket.socket(socket.AF_UNIX if "/" in place else socket.AF_INET, getattr(socket, sys.argv[2]))
    passed.bind(place if "/" in place else (place, 0))
    if sys.argv[2] == "SOCK_STREAM":
        passed.listen()
    os.dup2(passed.detach(), 3 + number)
    os.set_inheritable(3 + number, True)
os.environ.update(LISTEN_FDS=str(len(sys.argv) - 3), LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[1], [sys.argv[1], "serve"])
"""
"""Opens sockets at these places, and becomes the server."""


def managed(site: Path, *places: str, kind: str = "SOCK_STREAM") -> Served:
    command = (sys.executable, "-c", MANAGER, str(PEGBOARD), kind, *places)
    return Served(site, http_config("port = 1"), command=command)  # the configured port is not used


async def test_sockets_of_the_manager_are_served_and_stay(fixture_site: Path, tmp_path: Path) -> None:
    path = tmp_path / "passed.sock"
    async with managed(fixture_site, "127.0.0.1", str(path)) as served:
        assert (await served.request("GET", "/readyz")).status == 200
        async with Line(*await asyncio.open_unix_connection(path, limit=LIMIT)) as line:
            assert (await line.request("GET", "/readyz")).status == 200
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
    assert path.is_socket()


async def test_a_passed_socket_that_other_machines_reach_needs_an_authenticator(fixture_site: Path) -> None:
    await managed(fixture_site, "0.0.0.0").assert_refuses(3, "authenticator")


async def test_a_passed_descriptor_that_does_not_listen_is_refused(fixture_site: Path) -> None:
    served = managed(fixture_site, "127.0.0.1", kind="SOCK_DGRAM")
    await served.assert_refuses(5, "descriptor 3 of LISTEN_FDS does not listen")


async def test_an_invalid_number_of_sockets_is_refused(fixture_site: Path) -> None:
    command = ("/bin/sh", "-c", f'LISTEN_PID=$$ LISTEN_FDS=many exec "{PEGBOARD}" serve')
    served = Served(fixture_site, command=command)
    await served.assert_refuses(5, 'LISTEN_FDS must be a number of sockets, not "many"')


@pytest.fixture
def notified(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket of a service manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"{tmp_path}/notify")
        heard.setblocking(False)
        yield heard


async def test_the_manager_hears_that_the_server_is_ready_alive_and_stopping(
    fixture_site: Path, notified: socket.socket
) -> None:
    async def hear() -> bytes:
        async with asyncio.timeout(WAIT):
            return await asyncio.get_running_loop().sock_recv(notified, 4096)

    env = {"NOTIFY_SOCKET": notified.getsockname(), "WATCHDOG_USEC": "20000"}
    async with Served(fixture_site, env=env) as served:
        ready = (await hear()).decode().splitlines()
        assert ready[0] == "READY=1"
        assert ready[1].startswith("STATUS=serves ")
        assert ready[1].endswith(f" at {served.url}")
        assert [await hear(), await hear()] == [b"WATCHDOG=1"] * 2
        served.signal(signal.SIGTERM)
        while (message := await hear()) == b"WATCHDOG=1":
            """The timer went on until the signal."""
        assert message == b"STOPPING=1"
        assert await served.wait() == 0
