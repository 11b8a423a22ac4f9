"""Loads the mounting host for minutes, with new clients and killed peers, and reports what it holds."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from pegboard_client import Client
from tools.peers.killing import outcome, processes_of_peer
from tools.peers.lineup import PeerServer

AT_ONCE = 6
CALLS_OF_A_CLIENT = 50
KILL_SECONDS = 3.0
PAUSE_SECONDS = 3.0


class Held(NamedTuple):
    """The resources of the idle host.

    Attributes:
        minute: the minute of the run.
        calls: the calls so far, by how they ended.
        rss_mib: the resident memory.
        descriptors: the open files.
        threads: the threads.
        children: the child processes.
    """

    minute: float
    calls: dict[str, int]
    rss_mib: float
    descriptors: int
    threads: int
    children: int


def held(pid: int, minute: float, calls: Counter[str]) -> Held:
    """Read the account of a process from the kernel."""
    process = Path(f"/proc/{pid}")
    lines = dict(line.split(":", 1) for line in (process / "status").read_text("ascii").splitlines() if ":" in line)
    children = sum(len((task / "children").read_text().split()) for task in (process / "task").iterdir())
    rss, threads = int(lines["VmRSS"].split()[0]) / 1024, int(lines["Threads"])
    kinds = {"ok": calls["ok"], "errors": calls.total() - calls["ok"]}
    return Held(round(minute, 1), kinds, round(rss, 1), len(os.listdir(process / "fd")), threads, children)


async def endure(
    url: str,
    pid: int,
    tools: dict[PeerServer, str],
    minutes: float,
    sample_seconds: float,
    restart: Callable[[PeerServer], Awaitable[None]],
) -> None:
    """Call the tools of all peers and kill the peers in turn. Print what the host holds while it is idle."""
    begun, calls, chance = monotonic(), Counter[str](), random.Random(1)  # noqa: S311 - a run can be repeated
    while (minute := (monotonic() - begun) / 60) < minutes:
        end = monotonic() + sample_seconds

        async def travel(end: float = end) -> None:
            while monotonic() < end:
                async with Client(url, timeout=60) as client:
                    await client.listen()
                    for _ in range(CALLS_OF_A_CLIENT):
                        calls[await outcome(client, chance.choice(list(tools.values())))] += 1

        async def kill(end: float = end) -> None:
            while monotonic() < end:
                await asyncio.sleep(KILL_SECONDS)
                peer = chance.choice([candidate for candidate in tools if candidate.transport != "object"])
                for process in processes_of_peer(peer):
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                if peer.port:
                    await restart(peer)

        await asyncio.gather(kill(), *(travel() for _ in range(AT_ONCE)))
        await asyncio.sleep(PAUSE_SECONDS)
        print(*held(pid, minute, calls), flush=True)
