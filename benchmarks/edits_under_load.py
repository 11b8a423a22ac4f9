"""Edits of a toolkit while 20 clients call it: `python -m benchmarks.edits_under_load`.

The run fails if a call fails, a session ends, an edit is not reported, or the memory of the server grows.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from pathlib import Path
from typing import Final

from pegboard_client import Client
from tests.support.http import Served

CLIENTS: Final = 20
EDITS: Final = 50
BROKEN: Final = 25
"""The number of the edit that does not compile."""
MAX_GROWTH_MIB: Final = 5.0
WARM_UP_SECONDS: Final = 5
SETTLE_SECONDS: Final = 3

_KIT: Final = """\
from pegboard import Context, Toolkit

kit = Toolkit("load")


@kit.tool
async def number(context: Context) -> str:
    "Return a number and the session."
    return f"{} {{context.session_id}}"
"""


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
    file, done = folder / "load_kit.py", asyncio.Event()
    file.write_text(_KIT.format(0), "utf-8")
    async with Served(folder, command=(sys.executable, "-m", "pegboard", "serve", file, "--reload")) as server:
        revisions = ["2025-11-25" if number % 2 else "2026-07-28" for number in range(CLIENTS)]
        clients = [asyncio.create_task(calls(server.url, revision, done)) for revision in revisions]
        await asyncio.sleep(WARM_UP_SECONDS)
        before = server.memory()
        for number in range(1, EDITS + 1):
            length = len(server.stderr)
            file.write_text("broken =\n" if number == BROKEN else _KIT.format(number), "utf-8")
            result = "kept: SyntaxError" if number == BROKEN else "reloaded"
            await server.wait_for_stderr(rf"(?s)^.{{{length}}}.*load_kit\.py: {result}")
        done.set()
        results = await asyncio.gather(*clients)
        await asyncio.sleep(SETTLE_SECONDS)
        growth = (server.memory() - before) / 2**20
        server.signal(signal.SIGTERM)
        code = await server.wait()
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
