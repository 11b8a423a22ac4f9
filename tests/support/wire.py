"""Processes of the host, and a raw client over their standard streams: `async with Wire(...) as wire`.

A process is the installed command unless a test names another. Like the servers that clients start, it has few
environment variables and an own working directory, which holds only its configuration.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self, cast

from tests.support.forks import Done, start_fork
from tests.support.peer import LIMIT, WAIT, Peer

PEGBOARD = Path(sysconfig.get_path("scripts")) / "pegboard"
"""The command installed in the environment that runs the tests."""
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "COVERAGE_PROCESS_START", "COVERAGE_FILE")

OF_INTERPRETER = re.compile("PYTHON(?!PATH$|HASHSEED$|DONTWRITEBYTECODE$)|COVERAGE_PROCESS_START$")
"""Variables that count when an interpreter starts: a fork would ignore them."""


def client_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the few variables that clients pass to a server, a home directory, and the test's own variables."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return kept | {"HOME": str(home)} | dict(extra or {})


def naming_config(folder: Path) -> dict[str, str]:
    """Return the variable that names the `hostconfig.toml` of a folder, if it exists: a named file needs no trust."""
    return {"PEGBOARD_CONFIG": "hostconfig.toml"} if (folder / "hostconfig.toml").exists() else {}


def is_alive(pid: int) -> bool:
    """Return True if a process runs (Linux)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Process:
    """A process whose standard error is collected.

    Args:
        command: the command.
        config: the content of a `hostconfig.toml` in the working directory.
        env: further variables.
        site: a folder of distributions (`make_distribution`) for the process to find.
        cwd: the working directory; the new home directory when None.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        config: str | None,
        env: Mapping[str, str] | None,
        site: Path | None,
        cwd: Path | None,
    ) -> None:
        self._command = [str(part) for part in command]
        self._config = config
        self._env = ({"PYTHONPATH": str(site)} if site else {}) | dict(env or {})
        self._folder = tempfile.TemporaryDirectory(prefix="pegboard-")
        self.home = Path(self._folder.name)
        self.cwd = cwd or self.home
        self._stderr = bytearray()
        self._heard = asyncio.Condition()

    async def start(self, stdin: int) -> None:
        if self._config is not None:
            (self.cwd / "hostconfig.toml").write_text(self._config, encoding="utf-8")
        env = client_environment(self.home, naming_config(self.cwd) | self._env)
        command = Path(self._command[0])
        python = Path(sys.executable) if command == PEGBOARD else command.with_name("python")
        needs_start = sys.platform != "linux" or any(map(OF_INTERPRETER.match, (*self._env, *env)))
        if command.name == "pegboard" and python.exists() and not needs_start:
            fork = await start_fork(python, self._command[1:], stdin, self.cwd, env, LIMIT)
            self.process = cast(asyncio.subprocess.Process, fork)
        else:
            pipe = asyncio.subprocess.PIPE
            self.process = await asyncio.create_subprocess_exec(
                *self._command, stdin=stdin, stdout=pipe, stderr=pipe, cwd=self.cwd, env=env, limit=LIMIT
            )
        self._collecting = asyncio.create_task(self._collect())

    @property
    def stderr(self) -> str:
        """The standard error so far; all of it after the end."""
        return self._stderr.decode("utf-8", "replace")

    async def wait_for_stderr(self, pattern: str) -> re.Match[str]:
        """Wait until standard error matches."""
        async with asyncio.timeout(WAIT), self._heard:
            while (match := re.search(pattern, self.stderr)) is None:
                if self._collecting.done() or self.process.returncode is not None:
                    raise EOFError(f"it ended with {self.process.returncode}: {self.stderr}")
                await self._heard.wait()
            return match

    def memory(self, kind: str = "VmRSS") -> int:
        """Return the bytes of memory that it holds; at most held so far for "VmHWM" (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{kind}:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]  # it is always there

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def wait(self) -> int:
        """Wait until the process has ended, and return its exit code."""
        async with asyncio.timeout(WAIT):
            await self._collecting
            return await self.process.wait()

    async def stop(self) -> None:
        """Kill the process if it runs."""
        try:
            if self.process.returncode is None:
                self.process.kill()
            await self.wait()
        finally:
            self._folder.cleanup()

    async def finish(self) -> Done:
        """Run without input, and return the exit code and the output."""
        await self.start(asyncio.subprocess.DEVNULL)
        try:
            assert self.process.stdout is not None
            output = await self.process.stdout.read()
            return Done(await self.wait(), output.decode(), self.stderr)
        finally:
            await self.stop()

    async def _collect(self) -> None:
        assert self.process.stderr is not None
        while chunk := await self.process.stderr.read(65536):
            self._stderr += chunk
            async with self._heard:
                self._heard.notify_all()
        await self.process.wait()
        async with self._heard:
            self._heard.notify_all()


class Wire(Process, Peer):
    """A process of `pegboard stdio`, or of another command with arguments, and the client's end of its streams."""

    def __init__(
        self,
        command: Sequence[str | Path] | None = None,
        arguments: Sequence[str] = (),
        *,
        config: str | None = None,
        env: Mapping[str, str] | None = None,
        site: Path | None = None,
        cwd: Path | None = None,
    ) -> None:
        Process.__init__(self, [*(command or (PEGBOARD, "stdio")), *arguments], config, env, site, cwd)
        Peer.__init__(self)

    async def __aenter__(self) -> Self:
        await self.start(asyncio.subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        self.attach(self.process.stdout, self.process.stdin)
        return self

    async def wait(self) -> int:
        async with asyncio.timeout(WAIT):
            await self._reading
        return await super().wait()

    async def close(self) -> None:
        """End the process as clients do: close its input and wait. Kill it if it does not end."""
        try:
            self.process.stdin.close()  # type: ignore[union-attr]  # made with a pipe
            self.exit_code = await self.wait()
        except BaseException:
            if self.process.returncode is None:
                self.process.kill()
            await self.process.wait()
            raise
        finally:
            self._folder.cleanup()

    def epitaph(self) -> str:
        return f"Exit code {self.process.returncode}. Its standard error ends with:\n{self.stderr[-2000:]}"
