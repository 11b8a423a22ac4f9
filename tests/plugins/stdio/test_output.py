"""Responses: sent together, held back by a client that does not read, dropped once the conversation has ended."""

from __future__ import annotations

import asyncio
import os
import select
import socket
from threading import Thread
from typing import Any

import pytest

from pegboard_plugins.stdio import stdio_connection
from pegboard_plugins.stdio.message_reader import MAX_READ_BYTES
from pegboard_plugins.stdio.stdio_connection import HIGH_WATER_BYTES, StdioConnection
from tests.plugins.stdio.driving import Driven, converse, reported, start
from tests.support.peer import WAIT

PIPE_BYTES = 64 * 1024
STUCK_SECONDS = 2.0
"""After how long without any progress a client counts as stuck; too short makes the test easier, not wrong."""
PAGES = b'"%s"\n' % (b"x" * 4093) * 5_000
"""A pipe takes whole pages, so only whole lines get through."""
BOUND = 2 * PIPE_BYTES + HIGH_WATER_BYTES + 4 * MAX_READ_BYTES
"""Two pipes, and what the process holds between them."""


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
        await connection.drain()
        connection.send(b"x" * 4 * HIGH_WATER_BYTES)
        draining = asyncio.create_task(connection.drain())
        await asyncio.sleep(0)
        assert (connection.ready, draining.done()) == (False, False)
        received = 0
        while not draining.done():
            received += len(await asyncio.get_running_loop().sock_recv(ours, 1 << 20))
        assert (connection.ready, draining.done()) == (True, True)
        assert received >= 3 * HIGH_WATER_BYTES
        connection.send(b"y" * 4 * HIGH_WATER_BYTES)
        waiting = [asyncio.create_task(connection.drain()) for _ in range(2)]
        await asyncio.sleep(0)
        await connection.close()
        await asyncio.gather(*waiting)
        connection.send(b"too late")
        await connection.close()


def stuff(process: Driven, data: bytes) -> int:
    """Write as much as a client can get rid of that reads nothing."""
    os.set_blocking(process.stdin.fileno(), False)
    written = 0
    while written < len(data) and select.select([], [process.stdin], [], STUCK_SECONDS)[1]:
        written += os.write(process.stdin.fileno(), data[written : written + PIPE_BYTES])
    os.set_blocking(process.stdin.fileno(), True)
    return written


def test_a_client_that_does_not_read_is_not_read_from_and_loses_nothing() -> None:
    with start("echo") as process:
        written = stuff(process, PAGES)
        assert written <= BOUND
        assert process.read(written) == PAGES[:written]
        process.finish()


def test_the_end_is_noticed_though_the_client_does_not_read() -> None:
    with start("echo") as process:
        stuff(process, PAGES)
        process.stdin.close()
        err = process.stderr.read().decode()
        assert process.wait() == 0
        assert "in flight" in reported(err, "refused")


def test_a_client_that_closes_its_end_is_gone() -> None:
    with start("repeat") as process:
        process.stdin.write(b"10000\n")
        process.read(1)
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (0, b"")


def test_nothing_is_written_after_the_end_of_input() -> None:
    out, err = converse("late", b'"request"\n')
    assert (reported(err, "received"), out) == ('"request"', [])


def test_a_hundred_megabytes_pass_through_a_small_process() -> None:
    block = b'"%s"\n' % (b"x" * 125) * 1024
    blocks = 100_000_000 // len(block)
    with start("echo", "--memory") as process:
        writing = Thread(target=lambda: [process.stdin.write(block) for _ in range(blocks)])
        writing.start()
        for _ in range(blocks):
            assert process.read(len(block)) == block
        writing.join()
        err = process.finish()
    # kilobytes, against a process that got nothing
    assert reported(err, "memory") < reported(converse("echo", b"", "--memory")[1], "memory") + 8 * 1024


def test_the_pipe_stays_blocking_for_others_that_hold_it() -> None:
    reading, writing = os.pipe()
    with start("echo", stdout=writing) as process:
        process.stdin.write(b'"one"\n')
        assert os.read(reading, 100) == b'"one"\n'
        assert os.get_blocking(writing)
        os.close(writing)
        process.finish()
    assert os.read(reading, 100) == b""
    os.close(reading)
