"""Standard input may be a pipe, a socket, a terminal or a file, and must not be closed."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from tests.plugins.transports.stdio.driving import reported, start

pty = pytest.importorskip("pty")


def test_a_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, start("echo", stdin=theirs.fileno(), stdout=theirs.fileno()) as process:
        ours.sendall(b'"one"\n')
        assert ours.recv(100) == b'"one"\n'
        # the descriptor is shared with the process that started this process, and must stay as it was
        assert os.get_blocking(theirs.fileno())
        theirs.close()
        ours.shutdown(socket.SHUT_WR)
        assert ours.recv(100) == b""
        assert process.finish() == ""


def test_a_terminal() -> None:
    controller, terminal = pty.openpty()
    with start("echo", stdin=terminal) as process:
        assert b"waiting for an MCP client" in process.stderr.read(1000)
        os.write(controller, b'"typed"\n')
        assert process.read(8) == b'"typed"\n'
        os.write(controller, b"\x04")  # Ctrl-D
        assert process.finish() == ""
    os.close(terminal)
    os.close(controller)


def test_files_of_more_than_one_chunk_and_a_last_line_without_a_line_break(tmp_path: Path) -> None:
    lines = [json.dumps({"number": number, "text": "x" * (number % 500)}).encode() for number in range(2000)]
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"\n".join(lines))
    with source.open("rb") as stdin, target.open("wb") as stdout, start("echo", stdin=stdin, stdout=stdout) as process:
        assert process.finish() == ""
    assert target.read_bytes().splitlines() == lines


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
def test_a_closed_standard_stream_is_refused(closed: str, name: str) -> None:
    with start("echo", shell=closed) as process:
        assert f"standard {name} is closed" in reported(process.finish(), "refused")
