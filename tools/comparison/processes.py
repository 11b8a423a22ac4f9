"""Processes that run during a comparison."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

START_SECONDS = 120
_STOP_SECONDS = 15


@asynccontextmanager
async def running(
    command: Sequence[str], log: Path, env: Mapping[str, str], folder: Path | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a process until the end of the block, in a folder or in that of this process."""
    with log.open("w") as file:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env={**os.environ, **env},
            cwd=folder,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()


async def listening(port: int, log: Path) -> None:
    """Wait until a server listens.

    Raises:
        SystemExit: it does not start.
    """
    for _ in range(START_SECONDS * 20):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise SystemExit(f"no server listens on port {port}: read {log}")


def processes_of(command: Sequence[str], variable: str) -> list[int]:
    """Return the processes that run a command with a variable of their environment, without those that guard them.

    Args:
        command: the command.
        variable: the variable, such as "PEER_NAME=git".
    """
    arguments = [part.encode() for part in command]
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parts = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            variables = (folder / "environ").read_bytes().split(b"\0")
            if parts[-len(arguments) :] == arguments and variable.encode() in variables:
                processes.append(int(folder.name))
    return processes
