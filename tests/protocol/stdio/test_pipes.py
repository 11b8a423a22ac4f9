"""Pipes that are the test's own: clients that do not read."""

from __future__ import annotations

import json
import os
import platform
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.peer import WAIT, modern_meta
from tests.support.wire import PEGBOARD, client_environment

Process = subprocess.Popen[bytes]


def call(number: int, tool: str, **arguments: object) -> bytes:
    """A call that wants progress, with its line break."""
    params = {"name": f"fixture_{tool}", "arguments": arguments, "_meta": {**modern_meta(), "progressToken": number}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


@pytest.fixture
def unread(sites: dict[str, Path], tmp_path: Path, command: tuple[str, ...]) -> Callable[..., Any]:
    """Start a process and write lines to it."""

    @contextmanager
    def started(*lines: bytes) -> Iterator[Process]:
        env, pipe = client_environment(tmp_path, {"PYTHONPATH": str(sites["fixture"])}), subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path, env=env) as process:
            try:
                assert process.stdin
                process.stdin.write(b"".join(lines))
                process.stdin.flush()
                yield process
            finally:
                process.kill()

    return started


def memory(process: Process, key: str = "VmRSS") -> int:
    """Return MiB of memory."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(status.partition(f"{key}:")[2].split()[0]) // 1024


KIT = """
from pegboard import Toolkit

kit = Toolkit("kit")


@kit.tool(inline=True)
def rows(count: int) -> list[dict[str, int]]:
    "Give rows."
    return [{"id": number} for number in range(count)]
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator of glibc returns memory to the kernel")
def test_a_large_result_is_written_to_memory_of_the_result_before(tmp_path: Path) -> None:
    def page_faults() -> int:
        return int(Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[7])

    def ask(times: int) -> None:
        assert process.stdin
        assert process.stdout
        for _ in range(times):
            process.stdin.write(request + b"\n")
            process.stdin.flush()
            assert len(process.stdout.readline()) > 300_000

    params = {"name": "kit_rows", "arguments": {"count": 12_000}, "_meta": modern_meta()}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    (tmp_path / "kit.py").write_text(KIT, encoding="utf-8")
    command, pipe = (PEGBOARD, "stdio", "kit.py"), subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=tmp_path, env=client_environment(tmp_path)) as process:
        ask(10)
        before = page_faults()
        ask(10)
        assert page_faults() - before < 10 * 40  # a response has more than 80 pages
        process.kill()


@pytest.mark.requirement("STDIO-07")
@pytest.mark.parametrize(("by", "code"), [("end of input", 1), ("SIGTERM", 0)])
def test_the_process_ends_though_the_client_takes_no_response(unread: Callable[..., Any], by: str, code: int) -> None:
    with unread(call(1, "large", size=3_000_000)) as process:
        assert process.stdout.read(1) == b"{"  # the response has begun
        if by == "SIGTERM":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        assert process.wait(WAIT) == code


@pytest.mark.requirement("SEC-03")
def test_a_client_that_sends_and_never_reads_is_not_served_without_end(unread: Callable[..., Any]) -> None:
    """The host takes no more requests than it can hold responses to, and its memory stays bounded."""
    with unread(call(1, "large", size=3_000_000)) as process:
        assert process.stdout.read(1) == b"{"
        line = call(2, "large", size=100_000)
        room = select.poll()
        room.register(process.stdin, select.POLLOUT)
        for _ in range(10_000):  # 2 MB of requests, a gigabyte of responses
            if not room.poll(1000):
                break  # the host has stopped reading
            os.write(process.stdin.fileno(), line)
        else:
            pytest.fail("the host took every request, though its responses are not read")
        assert memory(process) < 150


@pytest.mark.requirement("UTIL-14")
def test_unread_progress_is_dropped_and_responses_are_not(unread: Callable[..., Any]) -> None:
    """Of 100 MB of progress no more waits than a client may leave unread; every call gets its response."""
    calls = [call(number, "large", size=20_000) for number in range(1, 50)]
    with unread(*calls, call(50, "chatter", steps=50_000, text="x" * 2000)) as process:
        assert b"chatter is over\n" in process.stderr  # nothing was read so far
        missing, progresses = set(range(1, 51)), []
        while missing:
            message = json.loads(process.stdout.readline())
            if "id" in message:
                missing.remove(message["id"])
            else:
                progresses.append(message["params"]["progress"])
        assert memory(process, "VmHWM") < 100
        process.stdin.close()
        assert process.wait(WAIT) == 0
    assert progresses == sorted(progresses)
    assert progresses[-1] == 49_999  # the oldest are dropped
    assert len(progresses) < 3000
