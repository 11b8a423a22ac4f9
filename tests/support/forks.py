"""Commands in forks of a process that has imported pegboard: real processes, without the time of the imports."""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from select import select
from threading import Lock
from typing import Any, NamedTuple, NoReturn

if not hasattr(os, "fork"):
    import pytest

    pytest.skip("fork and descriptors that are passed need POSIX", allow_module_level=True)

SECONDS = 60
"""Time after which a command is ended."""
LEFT_OUT = ("pegboard.__main__", "pegboard_plugins.errors_")
"""Modules that commands and servers do not import at once."""


class Done(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


class Forks:
    """A process of an interpreter that forks for each command."""

    def __init__(self, python: Path) -> None:
        self._channel, other = socket.socketpair(socket.AF_UNIX)
        self._sending = Lock()
        with other:
            self._process = subprocess.Popen(
                [python, "-P", __file__, str(other.fileno())],
                env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8"},
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )

    def run(self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], **options: Any) -> Done:
        """Run `pegboard` with these arguments to its end, with the options of `communicate`."""
        return communicate(lambda *streams: self._run(arguments, cwd, env, streams), **options)

    def _run(self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], streams: Sequence[int]) -> int:
        pid, reading = self.start(arguments, cwd, env, streams)
        with open(reading, "rb") as status:
            if not select([status], (), (), SECONDS)[0]:
                os.kill(pid, 9)
            return int(status.read())

    def start(
        self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], streams: Sequence[int]
    ) -> tuple[int, int]:
        """Start `pegboard` with three standard streams. Return its process id, and a descriptor of its exit code."""
        reading, writing = os.pipe()
        try:
            request = json.dumps([list(arguments), str(cwd), dict(env)]).encode()
            with self._sending:
                socket.send_fds(self._channel, [len(request).to_bytes(4)], [*streams, writing])
                self._channel.sendall(request)
        finally:
            os.close(writing)
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(reading, 1)
        return int(line), reading


@cache
def forks(python: Path = Path(sys.executable)) -> Forks:
    """Return the process of an interpreter."""
    return Forks(python)


def communicate(
    run: Callable[[int, int, int], int],
    *,
    encoding: str = "utf-8",
    typed: str = "",
    terminal: Collection[int] = (),
    stdout: int | None = None,
    merged: bool = False,
) -> Done:
    """Run a process to its end.

    Args:
        run: runs it with three standard streams.
        encoding: of standard output.
        typed: typed at the terminal, or else sent to standard input.
        terminal: the streams that lead to a terminal; its output is part of `err`.
        stdout: instead of a pipe.
        merged: standard error goes to standard output.
    """
    import pty

    (source, feed), (out, shown), (err, errors) = os.pipe(), os.pipe(), os.pipe()
    screen, tty = pty.openpty() if terminal else os.pipe()
    streams = [source, shown if stdout is None else stdout, shown if merged else errors]
    os.write(screen if 0 in terminal else feed, typed.encode())
    os.close(feed)
    with ThreadPoolExecutor(3) as threads:
        reading = [threads.submit(_read_all, descriptor) for descriptor in (out, err, screen)]
        try:
            code = run(*(tty if number in terminal else stream for number, stream in enumerate(streams)))
        finally:
            for descriptor in (source, shown, errors, tty):
                os.close(descriptor)
    printed, diagnosed, seen = (task.result() for task in reading)
    return Done(code, printed.decode(encoding), (diagnosed + seen.replace(b"\r", b"")).decode("utf-8", "replace"))


def _read_all(descriptor: int) -> bytes:
    read = b""
    with suppress(OSError):  # the other end of a terminal is closed
        while chunk := os.read(descriptor, 65536):
            read += chunk
    os.close(descriptor)
    return read


# --- streams of asyncio


class ForkedProcess:
    """The part of `asyncio.subprocess.Process` that tests use."""

    stdin: asyncio.StreamWriter | None = None
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    returncode: int | None = None

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self._ending = asyncio.create_task(self._end(status))

    async def _end(self, status: int) -> None:
        self.returncode = int(await (await _reader(status, 2**16)).read())

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


async def _reader(descriptor: int, limit: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", buffering=0))
    return reader


async def _writer(descriptor: int) -> asyncio.StreamWriter:
    loop, protocol = asyncio.get_running_loop(), asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(descriptor, "wb", buffering=0))
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def start_fork(
    python: Path, arguments: Sequence[str], stdin: int, cwd: Path, env: Mapping[str, str], limit: int
) -> ForkedProcess:
    """Start `pegboard` of an interpreter as asyncio starts a process; `stdin` is a descriptor, PIPE or DEVNULL."""
    feed: int | None = None
    if stdin == asyncio.subprocess.PIPE:
        source, feed = os.pipe()
    else:
        source = os.open(os.devnull, os.O_RDONLY) if stdin == asyncio.subprocess.DEVNULL else os.dup(stdin)
    (out, shown), (err, errors) = os.pipe(), os.pipe()
    try:
        started = await asyncio.to_thread(forks(python).start, arguments, cwd, env, (source, shown, errors))
    finally:
        for descriptor in (source, shown, errors):
            os.close(descriptor)
    process = ForkedProcess(*started)
    process.stdout, process.stderr = await _reader(out, limit), await _reader(err, limit)
    process.stdin = None if feed is None else await _writer(feed)
    return process


# --- in the process that forks


def _serve(channel: socket.socket) -> int:
    while True:
        message, descriptors = _request(channel)
        if not message:
            return 0
        if not os.fork():
            channel.close()
            arguments, cwd, env = json.loads(message)
            _start(arguments, cwd, env, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                """Another process has ended."""


def _request(channel: socket.socket) -> tuple[bytes, list[int]]:
    """Return the next request, with the descriptors that came with its length."""
    size, descriptors, *_ = socket.recv_fds(channel, 4, 4)
    return channel.recv(int.from_bytes(size), socket.MSG_WAITALL) if size else b"", descriptors


def _start(arguments: list[str], cwd: str, env: dict[str, str], descriptors: list[int]) -> None:
    *streams, status = descriptors
    if child := os.fork():
        for descriptor in streams:
            os.close(descriptor)
        os.write(status, b"%d\n" % child)
        _, result = os.waitpid(child, 0)
        os.write(status, b"%d" % os.waitstatus_to_exitcode(result))
        os._exit(0)
    os.close(status)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    if "PYTHONPATH" in env:
        sys.path[:0] = env["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["pegboard", *arguments]
    from pegboard.cli import main

    _exit(main(arguments))


def _exit(code: int) -> NoReturn:
    """End the process without the teardown of its modules, which would copy most of the memory that forks share."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (AttributeError, ValueError, OSError):
        sys.exit(code)  # Python reports a stream that is closed or cannot be written
    os._exit(code)


def _preload() -> None:
    packages = filter(find_spec, ("pegboard", "pegboard_client", "pegboard_plugins"))  # a build may lack the client
    for package in map(import_module, packages):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(LEFT_OUT):
                with suppress(ImportError):  # a library that the environment lacks
                    import_module(module.name)
    gc.freeze()


if __name__ == "__main__":
    _preload()
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
