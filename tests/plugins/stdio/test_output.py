"""Responses: sent together, held back by a client that does not read, dropped once the conversation has ended."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

import pytest

from pegboard_plugins.stdio import stdio_connection
from pegboard_plugins.stdio.stdio_connection import HIGH_WATER_BYTES, StdioConnection
from tests.support.peer import WAIT


async def test_responses_of_one_turn_go_out_in_one_write_and_a_single_one_at_once() -> None:
    # a socket that keeps the bounds of writes
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        connection = StdioConnection(theirs.fileno())
        ours.setblocking(False)
        connection.expect(3)
        for number in (1, 2, 3):
            connection.send(b"%d" % number)
        await asyncio.sleep(0)
        assert ours.recv(1000) == b"1\n2\n3\n"
        connection.expect(1)
        connection.send(b"at once")
        assert ours.recv(1000) == b"at once\n"
        await connection.close()


@pytest.mark.parametrize("make", [os.pipe, lambda: tuple(one.detach() for one in socket.socketpair())])
async def test_a_message_is_delivered_when_the_client_has_read_it(make: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(stdio_connection, "DELIVERY_SECONDS", WAIT)
    reader, writer = make()
    connection = StdioConnection(writer)
    connection.send(b"first")
    waiting = asyncio.create_task(connection.delivered())
    assert await asyncio.wait((waiting,), timeout=0.01) == (set(), {waiting})
    assert os.read(reader, 100) == b"first\n"
    await asyncio.wait_for(waiting, WAIT)
    monkeypatch.setattr(stdio_connection, "DELIVERY_SECONDS", 0.01)
    connection.send(b"never read")
    await asyncio.wait_for(connection.delivered(), WAIT)
    await connection.close()
    os.close(reader)
    os.close(writer)


async def test_drain_waits_for_the_client_and_close_drops_the_rest() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        connection = StdioConnection(theirs.fileno())
        connection.send(b"x" * 4 * HIGH_WATER_BYTES)
        draining = asyncio.create_task(connection.drain())
        await asyncio.sleep(0)
        assert (connection.ready, draining.done()) == (False, False)
        received = 0
        while not draining.done():
            received += len(await asyncio.get_running_loop().sock_recv(ours, 1 << 20))
        assert connection.ready
        assert received >= 3 * HIGH_WATER_BYTES
        connection.send(b"y" * 4 * HIGH_WATER_BYTES)
        waiting = [asyncio.create_task(connection.drain()) for _ in range(2)]
        await asyncio.sleep(0)
        await connection.close()
        await asyncio.gather(*waiting)
        connection.send(b"too late")
        await connection.close()
