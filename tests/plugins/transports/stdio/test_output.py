"""Responses: sent together, held back by a client that does not read, dropped once the conversation has ended."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from typing import Any

import pytest

from pegboard_plugins.transports.stdio import descriptor_writer, stdio_connection
from pegboard_plugins.transports.stdio.running_tools import RunningTools
from pegboard_plugins.transports.stdio.stdio_connection import StdioConnection
from tests.support.peer import WAIT


async def test_responses_of_one_turn_go_out_in_one_write_and_a_single_one_at_once() -> None:
    # a socket that keeps the bounds of writes
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        connection = StdioConnection(theirs.fileno(), RunningTools())
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


@pytest.mark.parametrize("make", [os.pipe, lambda: tuple(end.detach() for end in socket.socketpair())])
async def test_a_message_is_delivered_when_the_client_has_read_it(make: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(stdio_connection, "DELIVERY_SECONDS", WAIT)
    reader, writer = make()
    connection = StdioConnection(writer, RunningTools())
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


async def test_a_closed_pipe_of_windows_ends_the_connection_without_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_descriptor: int, _data: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(descriptor_writer, "CAN_POLL", False)
    reader, writer = os.pipe()
    connection = StdioConnection(writer, RunningTools())
    ended = asyncio.Event()
    connection.on_room = ended.set
    with monkeypatch.context() as closed:
        closed.setattr(os, "write", refuse)
        connection.send(b"lost")
        await asyncio.wait_for(ended.wait(), WAIT)
    assert (connection.ended, caplog.records) == (True, [])
    os.close(reader)
    os.close(writer)
