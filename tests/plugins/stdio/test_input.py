"""Standard input may be anything: a pipe, a socket, a terminal, a file, a device, or closed."""

from __future__ import annotations

import json
import os
import pty
import socket
import tty
from pathlib import Path

import pytest

from tests.plugins.stdio.driver import LIMIT
from tests.plugins.stdio.driving import converse, reported, start


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b'{"a":1}\r\n\n   \n{"b":2}\n{"last":3}', [b'{"a":1}', b'{"b":2}', b'{"last":3}']),
        *[(b'{"a":1}\n' + rest, [b'{"a":1}']) for rest in (b'{"cut', b'"cut', b"\xff", b"[" * 100)],
    ],
)
def test_a_pipe_with_all_sorts_of_lines(data: bytes, lines: list[bytes]) -> None:
    assert converse("echo", data) == (lines, "")


@pytest.mark.requirement("STDIO-12")
def test_a_message_comes_in_any_number_of_pieces() -> None:
    with start("echo") as process:
        for message in (b'"' + b"x" * (LIMIT - 10) + b'"\n', b'"short"\n'):
            for begin in range(0, len(message), 50_001):
                process.stdin.write(message[begin : begin + 50_001])
            assert process.read(len(message)) == message
        assert process.finish() == ""


def test_a_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, start("echo", stdin=theirs.fileno(), stdout=theirs.fileno()) as process:
        ours.sendall(b'"one"\n')
        assert ours.recv(100) == b'"one"\n'
        # the descriptor is shared with the process that started this one, and must stay as it was
        assert os.get_blocking(theirs.fileno())
        theirs.close()
        ours.shutdown(socket.SHUT_WR)
        assert ours.recv(100) == b""
        assert process.finish() == ""


def test_a_socket_that_is_reset_is_the_end() -> None:
    ours, theirs = socket.socketpair()
    with theirs, start("count", stdin=theirs.fileno()) as process:
        ours.send(b'"one"\n"two"\n')
        ours.close()
        assert reported(process.finish(), "count") == 2


def test_a_terminal_as_input() -> None:
    controller, terminal = pty.openpty()
    with start("echo", stdin=terminal) as process:
        assert b"waiting for an MCP client" in process.stderr.read(1000)
        os.write(controller, b'"typed"\n')
        assert process.read(8) == b'"typed"\n'
        os.write(controller, b"\x04")  # Ctrl-D
        assert process.finish() == ""
    os.close(terminal)
    os.close(controller)


def test_a_terminal_as_output() -> None:
    controller, terminal = pty.openpty()
    tty.setraw(terminal)
    message = b'"' + b"x" * 50_000 + b'"\n'
    with start("echo", stdout=terminal) as process:
        process.stdin.write(message)
        received = b""
        while len(received) < len(message):
            received += os.read(controller, 65536)
        assert received == message
        assert process.finish() == ""
    os.close(terminal)
    os.close(controller)


@pytest.mark.parametrize("last", [b"", b"\n"])
def test_a_file_with_more_than_one_chunk(tmp_path: Path, last: bytes) -> None:
    lines = [json.dumps({"number": number, "text": "x" * (number % 500)}).encode() for number in range(2000)]
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"\n".join(lines) + last)
    with source.open("rb") as stdin, target.open("wb") as stdout, start("echo", stdin=stdin, stdout=stdout) as process:
        assert process.finish() == ""
    assert target.read_bytes().splitlines() == lines


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
def test_a_closed_standard_stream_is_refused(closed: str, name: str) -> None:
    with start("echo", shell=closed) as process:
        assert f"standard {name} is closed" in reported(process.finish(), "refused")
