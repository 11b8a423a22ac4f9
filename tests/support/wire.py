"""A raw client over the standard streams of a real process: `async with Wire(...) as wire`.

The process is the installed command `pegboard stdio`, unless a test names another. Like the servers that clients start,
it has few environment variables and an own working directory, which holds only its configuration.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.support.peer import LIMIT, WAIT, Peer

PEGBOARD = Path(sysconfig.get_path("scripts")) / "pegboard"
"""The command installed in the environment that runs the tests."""
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "COVERAGE_PROCESS_START", "COVERAGE_FILE")


def client_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the few variables that clients pass to a server, a home directory, and the test's own variables."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return kept | {"HOME": str(home)} | dict(extra or {})


def naming_config(folder: Path) -> dict[str, str]:
    """Return the variable that names the `hostconfig.toml` of a folder, if it exists: a named file needs no trust."""
    return {"PEGBOARD_CONFIG": "hostconfig.toml"} if (folder / "hostconfig.toml").exists() else {}


class Wire(Peer):
    """A process of the host and the client's end of its streams.

    Args:
        command: the command to start; `pegboard stdio` when None.
        arguments: added to the command.
        config: the content of a `hostconfig.toml` in the working directory.
        env: further variables.
        site: a folder of distributions (`make_distribution`) for the process to find.
        cwd: the working directory; a new one when None.
    """

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
        super().__init__()
        self._command = [str(part) for part in command or (PEGBOARD, "stdio")] + list(arguments)
        self._config = config
        self._env = dict(env or {}) | ({"PYTHONPATH": str(site)} if site else {})
        self._folder = tempfile.TemporaryDirectory(prefix="wire-")
        self.cwd = cwd or Path(self._folder.name)
        self._process: asyncio.subprocess.Process | None = None
        self._stderr = bytearray()
        self._complaining: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._config is not None:
            (self.cwd / "hostconfig.toml").write_text(self._config, encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.cwd,
            env=client_environment(Path(self._folder.name), naming_config(self.cwd) | self._env),
            limit=LIMIT,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._complaining = asyncio.create_task(self._collect(process.stderr))
        self.attach(process.stdout, process.stdin)
        return self

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    @property
    def stderr(self) -> str:
        """The standard error of the process so far; all of it once it is closed."""
        return self._stderr.decode("utf-8", "replace")

    async def wait(self) -> int:
        async with asyncio.timeout(WAIT):
            assert self._complaining is not None
            assert self._reading is not None
            await asyncio.gather(self._complaining, self._reading)
            return await self.process.wait()

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

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def epitaph(self) -> str:
        return f"Exit code {self.process.returncode}. Its standard error ends with:\n{self.stderr[-2000:]}"

    async def _collect(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(65536):
            self._stderr += chunk
