"""A server in a child process: one message per line on standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial

from pegboard.errors import TransportError
from pegboard.messages.texts import escape_invisible
from pegboard_client.addresses import NORMAL_LIMITS, Program

logger = logging.getLogger("pegboard.client")

INHERITED_VARIABLES: tuple[str, ...] = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER")
"""The variables of the client's environment that a server gets. Other variables may contain secrets."""
if os.name == "nt":  # programs do not start without some of these
    INHERITED_VARIABLES += (
        "APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "SYSTEMDRIVE", "SYSTEMROOT",
        "TEMP", "TMP", "USERNAME", "USERPROFILE",
    )  # fmt: skip
MAX_EXIT_SECONDS = 2.0
"""How long a process may take to exit after the end of its input, and again after SIGTERM."""
MAX_STDERR_LINE_BYTES = 64 * 1024
MAX_LAST_WORDS_CHARACTERS = 200
"""The maximum length of the last line of standard error in the error of a process that has ended."""
MAX_LAST_WORDS_SECONDS = 0.5
"""The time limit for the rest of the output of a process that has ended."""


class ChildProcess:
    """A message stream to a process.

    Args:
        command: the command.
        process: the process.
        group: its process group.
        message_bytes: the limit of a message.
    """

    def __init__(
        self,
        command: Program,
        process: asyncio.subprocess.Process,
        group: ProcessGroup,
        message_bytes: int,
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._label = command.label
        self._process = process
        self._group = group
        self._message_bytes = message_bytes
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._take_line = command.stderr or partial(logger.info, "%s: %s", command.label)
        self._last_words = ""
        self._exiting = asyncio.create_task(process.wait())
        self._draining = asyncio.create_task(_drain(process.stderr, self._take_stderr))

    def send(self, message: bytes) -> None:
        """Queue one line."""
        if not self._stdin.is_closing():
            self._stdin.write(message + b"\n")

    async def drain(self) -> None:
        """Wait until the pipe has room."""
        with suppress(ConnectionError):
            await self._stdin.drain()

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the lines of the process.

        Raises:
            TransportError: a line is too long, or the process has ended.
        """
        while True:
            try:
                line = await self._stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                break
            except asyncio.LimitOverrunError:
                raise TransportError(f"{self._label} sent a message of more than {self._message_bytes} bytes") from None
            if line := line.strip():
                yield line
        if not await self._exits():
            raise TransportError(f"{self._label} closed its output")
        await asyncio.wait((self._draining,), timeout=MAX_LAST_WORDS_SECONDS)  # a child may keep standard error open
        last_words = f": {self._last_words}" if self._last_words else ""
        raise TransportError(f"{self._label} ended with code {self._exiting.result()}{last_words}")

    def _take_stderr(self, line: str) -> None:
        if line.strip():
            self._last_words = escape_invisible(line.strip()[:MAX_LAST_WORDS_CHARACTERS])
        self._take_line(line)

    async def close(self) -> None:
        """End the process: close its input, wait, send SIGTERM to its group, wait, send SIGKILL."""
        self._stdin.close()
        # a process that waits for room in its output cannot exit
        discarding = asyncio.get_running_loop().create_task(_drain(self._stdout, lambda line: None))
        try:
            if not await self._exits():
                self._group.terminate()
                await self._exits()
        finally:
            self._group.kill()  # also kills children of the process
        await self._exits()
        closing = asyncio.get_running_loop().create_task(self._input_closes())
        await asyncio.wait((discarding, self._draining, closing), timeout=MAX_EXIT_SECONDS)
        for task in (discarding, self._draining, closing, self._exiting):
            task.cancel()

    async def _input_closes(self) -> None:
        """Wait for the end of the input. Otherwise, asyncio logs a broken pipe as an error before Python 3.11.3."""
        with suppress(ConnectionError):
            await self._stdin.wait_closed()

    async def _exits(self) -> bool:
        """Wait for the exit of the process. Return False if it takes too long."""
        # before Python 3.12, `asyncio.wait_for` loses a cancellation that arrives together with the exit
        await asyncio.wait((self._exiting,), timeout=MAX_EXIT_SECONDS)
        return self._exiting.done()


class _Streams(SubprocessStreamProtocol):
    """The streams of a process. They end soon after it, although its children may keep its pipes open."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._own = transport

    def process_exited(self) -> None:
        super().process_exited()
        asyncio.get_running_loop().call_later(MAX_LAST_WORDS_SECONDS, self._own.close)


async def start_process(command: Program, message_bytes: int = NORMAL_LIMITS.message_bytes) -> ChildProcess:
    """Start a server.

    Args:
        command: the program.
        message_bytes: the maximum size of a message.

    Raises:
        TransportError: the program cannot be started.
    """
    loop = asyncio.get_running_loop()
    inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    try:
        transport, streams = await loop.subprocess_exec(
            lambda: _Streams(message_bytes, loop),
            command.command,
            *command.args,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=command.cwd,
            env={**inherited, **command.env},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise TransportError(f"cannot start {command.label}: {error}; check the command and its path") from None
    process = Process(transport, streams, loop)
    try:
        group = ProcessGroup(process)
    except OSError as error:
        kill_group(process)
        await process.wait()
        raise TransportError(f"cannot start the guard of {command.label}: {error}") from None
    return ChildProcess(command, process, group, message_bytes)


async def _drain(stderr: asyncio.StreamReader, take: Callable[[str], None]) -> None:
    """Pass each line of standard error on. A long line arrives in parts."""
    rest = b""
    while chunk := await stderr.read(MAX_STDERR_LINE_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) >= MAX_STDERR_LINE_BYTES:
            lines, rest = [*lines, rest], b""
        for line in lines:
            _pass_line(line, take)
    if rest:
        _pass_line(rest, take)


def _pass_line(line: bytes, take: Callable[[str], None]) -> None:
    try:
        take(line.decode("utf-8", "replace").rstrip("\r"))
    except Exception:
        logger.exception("the handler of standard error failed")


# --- The process group of a server in a child process: its signals, and its end together with the client.

GROUPS = hasattr(os, "killpg")
"""True if the system has process groups. Windows has none like those of POSIX."""

_GUARD = 'read -r _ || { sleep 1; kill -s KILL -- "-$1"; }'
"""A shell script that kills a process group one second after the client died, even if SIGKILL ended the client."""


class ProcessGroup:
    """The process group of a child process, which leads the group.

    A shell guards the group. It waits for the end of the client, and then kills the server and the server's children,
    even if the client was killed. On systems without process groups, only the process itself is ended.

    Args:
        process: the leader, started with `start_new_session`.

    Raises:
        OSError: the guard cannot be started.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._guard = _guard_of(process.pid) if GROUPS else None

    def terminate(self) -> None:
        """Send SIGTERM to the group."""
        _signal_group(self._process, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the group, and end its guard."""
        kill_group(self._process)
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard = None


def kill_group(process: Process) -> None:
    """Kill a process and its group."""
    _signal_group(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal_group(process: Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if GROUPS:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _guard_of(group: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the command is a constant and a number
        ("/bin/sh", "-c", _GUARD, "sh", str(group)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
    )
