"""Clients that do not read. The pipes are the test's own here: `Wire` reads whatever it can get."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.peer import WAIT, modern_meta
from tests.support.wire import PEGBOARD, client_environment


@pytest.fixture
def full(fixture_site: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A host that has more to say than the pipe holds, to a client that does not read it."""
    params = {"name": "fixture_large", "arguments": {"size": 3_000_000}, "_meta": modern_meta()}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    environment = client_environment(tmp_path, {"PYTHONPATH": str(fixture_site)})
    with subprocess.Popen(
        [PEGBOARD, "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.read(1) == b"{"  # the answer has begun
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.requirement("STDIO-07")
def test_the_end_of_input_is_the_end_though_nobody_takes_the_answer(full: subprocess.Popen[bytes]) -> None:
    assert full.stdin is not None
    full.stdin.close()
    assert full.wait(WAIT) == 1  # the answer is dropped


def test_sigterm_is_the_end_though_nobody_takes_the_answer(full: subprocess.Popen[bytes]) -> None:
    """Section 7 of the design: the grace is bounded."""
    full.send_signal(signal.SIGTERM)
    assert full.wait(WAIT) == 0


def test_a_client_that_asks_and_never_reads_is_not_served_without_end(full: subprocess.Popen[bytes]) -> None:
    """F-4 on a pipe: the host takes no more requests than it can hold answers to, and its memory stays bounded."""
    assert full.stdin is not None
    params = {"name": "fixture_large", "arguments": {"size": 100_000}, "_meta": modern_meta()}
    line = json.dumps({"jsonrpc": "2.0", "id": "n", "method": "tools/call", "params": params}).encode() + b"\n"
    for _ in range(10_000):  # 2 MB of requests, a gigabyte of answers
        writable = select.select([], [full.stdin], [], 1.0)[1]
        if not writable:
            break  # the host has stopped reading
        os.write(full.stdin.fileno(), line)
    else:
        pytest.fail("the host took every request, though nobody takes its answers")
    status = Path(f"/proc/{full.pid}/status").read_text(encoding="ascii")
    assert int(status.partition("VmRSS:")[2].split()[0]) < 150 * 1024


def call(number: int, tool: str, **arguments: object) -> bytes:
    """A call that wants progress, with its line break."""
    params = {"name": f"fixture_{tool}", "arguments": arguments, "_meta": {**modern_meta(), "progressToken": number}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


def test_progress_that_nobody_reads_is_dropped_and_answers_are_not(fixture_site: Path, tmp_path: Path) -> None:
    """Of 100 MB of progress no more waits than a client may leave unread; all that is asked is answered."""
    environment = client_environment(tmp_path, {"PYTHONPATH": str(fixture_site)})
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [PEGBOARD, "stdio"], stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            asked = [call(number, "large", size=20_000) for number in range(1, 50)]
            asked.append(call(50, "chatter", steps=50_000, text="x" * 2000))
            process.stdin.write(b"".join(asked))
            process.stdin.flush()
            assert b"chatter is over\n" in process.stderr  # and nothing was read so far
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            missing, told = set(range(1, 51)), []
            while missing:
                message = json.loads(process.stdout.readline())
                if "id" in message:
                    missing.remove(message["id"])
                else:
                    told.append(message["params"]["progress"])
            process.stdin.close()
            assert process.wait(WAIT) == 0
        finally:
            process.kill()
    assert int(status.partition("VmHWM:")[2].split()[0]) < 100 * 1024
    assert told == sorted(told)
    assert told[-1] == 49_999  # the oldest are dropped
    assert len(told) < 3000
