"""Mounted servers that wait for a test before they respond, and hosts in processes that mount them."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pegboard_client import Client, Program
from tests.plugins.servers.upstreams.mounts import scripted, toml
from tests.support.forks import Done
from tests.support.pool import CONFIG
from tests.support.wire import PEGBOARD, Process


class Gated:
    """The server `one`, which waits at a gate before it responds. The gate is open at first.

    Args:
        folder: a folder for its files.
        script: what it answers, see `scripted.py`.
        section: more settings of the section.
    """

    def __init__(self, folder: Path, script: dict[str, Any], **section: Any) -> None:
        self.folder = folder
        self.state = Path(os.environ["PEGBOARD_STATE_DIR"])
        self.gate = folder / "gate"
        self.gate.write_text("")
        self.config_lines = "first_list_seconds = 30\n"
        self.section = scripted(folder, script, **section)
        self._file = Path(self.section["args"][-1])
        self.answer(script)

    def answer(self, script: Mapping[str, Any]) -> None:
        """Answer in another way after the next start."""
        self._file.write_text(json.dumps({**script, "gate": str(self.gate)}))

    def close(self) -> None:
        """Let the server wait at its next start."""
        self.gate.unlink()
        os.mkfifo(self.gate)

    async def open(self) -> None:
        """Wait until the server waits, and let it continue, at once also after later starts."""
        await asyncio.to_thread(self.gate.write_text, "")

    @property
    def config(self) -> str:
        return f"{CONFIG}\n[plugins.upstreams]\n{self.config_lines}{toml('one', self.section)}"

    @property
    def env(self) -> dict[str, str]:
        """The variables of hosts that share a state directory."""
        return {"PEGBOARD_STATE_DIR": str(self.state)}

    @property
    def memory(self) -> Path:
        """The only file of remembered definitions."""
        (file,) = self.state.glob("upstream-one-*.json")
        return file

    @asynccontextmanager
    async def hosted(self, *arguments: str, **options: Any) -> AsyncIterator[Client]:
        """Return a client of `pegboard stdio` in a process that mounts the server."""
        config = self.folder / "hostconfig.toml"
        config.write_text(self.config)
        program = Program(str(PEGBOARD), ("stdio", "--config", str(config), *arguments), env=self.env)
        async with Client(program, **options) as client:
            yield client

    @asynccontextmanager
    async def command(self, *arguments: str) -> AsyncIterator[Process]:
        process = Process([PEGBOARD, *arguments], self.config, self.env, None, self.folder)
        await process.start(asyncio.subprocess.DEVNULL)
        try:
            yield process
        finally:
            await process.stop()

    async def run(self, *arguments: str) -> Done:
        """Run a command that mounts the server to its end."""
        return await Process([PEGBOARD, *arguments], self.config, self.env, None, self.folder).finish()
