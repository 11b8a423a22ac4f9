"""Edits of a toolkit while 20 clients call it: `python -m benchmarks.edits_under_load`.

The run fails if a call fails, a session ends, an edit is not reported, or the memory of the server grows.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from pegboard_client import Client

CLIENTS: Final = 20
EDITS: Final = 50
BROKEN: Final = 25
"""The number of the edit that does not compile."""
MAX_GROWTH_MIB: Final = 5.0
WARM_UP_SECONDS: Final = 5
SETTLE_SECONDS: Final = 3
MAX_WAIT_SECONDS: Final = 60

_KIT: Final = """\
from pegboard import Context, Toolkit

kit = Toolkit("load")


@kit.tool
async def number(context: Context) -> str:
    "Return a number and the session."
    return f"{} {{context.session_id}}"
"""


class Server:
    """A process of `pegboard serve --reload`, and the lines on its standard error."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "load_kit.py"
        self._folder = folder
        self._lines: asyncio.Queue[str] = asyncio.Queue()

    async def start(self) -> str:
        """Start the process. Return its URL."""
        command = (sys.executable, "-m", "pegboard", "serve", str(self.file), "--port", "0", "--reload")
        env = {**os.environ, "HOME": str(self._folder), "PEGBOARD_STATE_DIR": str(self._folder / "state")}
        nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=nothing, stderr=pipe, env=env, cwd=self._folder
        )
        self._reading = asyncio.create_task(self._read())
        return (await self.said(r" at (http://\S+)"))[1]

    async def said(self, pattern: str) -> re.Match[str]:
        """Wait for a line."""
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while True:
                if match := re.search(pattern, await self._lines.get()):
                    return match

    def memory_mib(self) -> float:
        """Return the resident memory (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        (kib,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
        return int(kib) / 1024

    async def _read(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self._lines.put_nowait(line.decode())


async def calls(url: str, revision: str, done: asyncio.Event) -> tuple[int, set[str], list[str]]:
    """Call the tool without pause. Return the number of calls, the sessions, and the failures."""
    count, sessions, failures = 0, set[str](), list[str]()
    async with Client(url, revision=revision) as client:
        while not done.is_set():
            try:
                result = await client.request("tools/call", {"name": "load_number", "arguments": {}})
            except Exception as error:  # noqa: BLE001 - each failure counts
                failures.append(repr(error))
                continue
            count += 1
            text = result["content"][0]["text"]
            if result.get("isError"):
                failures.append(text)
            sessions.add(text.partition(" ")[2])
    return count, sessions, failures


async def measure(folder: Path) -> list[str]:
    """Edit the toolkit under load, and print the figures. Return the problems."""
    server, done = Server(folder), asyncio.Event()
    server.file.write_text(_KIT.format(0), "utf-8")
    url = await server.start()
    revisions = ["2025-11-25" if number % 2 else "2026-07-28" for number in range(CLIENTS)]
    clients = [asyncio.create_task(calls(url, revision, done)) for revision in revisions]
    await asyncio.sleep(WARM_UP_SECONDS)
    before = server.memory_mib()
    for number in range(1, EDITS + 1):
        server.file.write_text("broken =\n" if number == BROKEN else _KIT.format(number), "utf-8")
        await server.said(r"load_kit\.py: " + ("kept: SyntaxError" if number == BROKEN else "reloaded"))
    done.set()
    results = await asyncio.gather(*clients)
    await asyncio.sleep(SETTLE_SECONDS)
    growth = server.memory_mib() - before
    server.process.terminate()
    code = await server.process.wait()
    failures = [failure for _, _, messages in results for failure in messages]
    count = sum(calls for calls, _, _ in results)
    with_session = [
        sessions for revision, (_, sessions, _) in zip(revisions, results, strict=True) if revision < "2026"
    ]
    ended = sum(len(sessions) != 1 or sessions == {"None"} for sessions in with_session)
    print(
        f"{EDITS} edits, {count} calls, {len(failures)} failed, {ended} sessions ended, {growth:+.1f} MiB, exit {code}"
    )
    problems = failures[:3]
    problems += [f"{ended} sessions ended"] if ended else []
    problems += [f"the server keeps {growth:.1f} MiB"] if growth > MAX_GROWTH_MIB else []
    return problems + ([f"the server ended with {code}"] if code else [])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        problems = asyncio.run(measure(Path(folder)))
    sys.exit("\n".join(problems) or None)
