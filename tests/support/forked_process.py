"""Servers in forks of a process that has imported pegboard (`forks.py`), with the streams of asyncio."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.forks import forks


class ForkedProcess:
    """The part of `asyncio.subprocess.Process` that tests use."""

    stdin: asyncio.StreamWriter | None = None
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    returncode: int | None = None

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self._transports: list[asyncio.BaseTransport] = []
        self._transport = self
        self._ending = asyncio.create_task(self._end(status))

    def get_pipe_transport(self, descriptor: int) -> asyncio.BaseTransport:
        return self._transports[descriptor - 1]

    async def _end(self, status: int) -> None:
        self.returncode = int(await (await _reader(status, 2**16))[0].read())

    async def connect(self, stdin: int | None, stdout: int, stderr: int, limit: int) -> None:
        """Open the streams of descriptors."""
        self.stdout, first = await _reader(stdout, limit)
        self.stderr, second = await _reader(stderr, limit)
        self._transports = [first, second]
        if stdin is not None:
            loop = asyncio.get_running_loop()
            file = os.fdopen(stdin, "wb", buffering=0)
            transport, protocol = await loop.connect_write_pipe(
                lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), file
            )
            self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)

    async def wait(self) -> int:
        await asyncio.shield(self._ending)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


async def _reader(descriptor: int, limit: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    reader = asyncio.StreamReader(limit)
    file = os.fdopen(descriptor, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )
    return reader, transport


async def start_fork(
    python: Path, arguments: Sequence[str], stdin: int, cwd: Path, env: Mapping[str, str], limit: int
) -> ForkedProcess:
    """Start `pegboard` of an interpreter as asyncio starts a process; `stdin` is a descriptor, PIPE or DEVNULL."""
    given: int | None = None
    if stdin == asyncio.subprocess.PIPE:
        own, given = os.pipe()
    else:
        own = os.open(os.devnull, os.O_RDONLY) if stdin == asyncio.subprocess.DEVNULL else os.dup(stdin)
    (stdout, shown), (stderr, told) = os.pipe(), os.pipe()
    try:
        started = await asyncio.to_thread(forks(python).start, arguments, cwd, env, (own, shown, told))
    finally:
        for descriptor in (own, shown, told):
            os.close(descriptor)
    process = ForkedProcess(*started)
    await process.connect(given, stdout, stderr, limit)
    return process
