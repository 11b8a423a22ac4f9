"""Kills each peer as `kill -9` does, while clients call it, and reports what the clients saw."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from pegboard.client import Client
from pegboard import MCPError
from tools.peers.lineup import PeerServer

AT_ONCE = 8
KILLS = 3
RESTART_SECONDS = 0.5
RECOVERY_SECONDS = 60


class Killed(NamedTuple):
    """What clients saw while a peer was killed.

    Attributes:
        name: the peer.
        outcomes: how many calls ended in which way.
        recovery_seconds: the longest time from the death to the next successful call.
        others_ms: the median time of a call of other peers, before and while the peer was killed.
    """

    name: str
    outcomes: Counter[str]
    recovery_seconds: float
    others_ms: tuple[float, float]


async def outcome(client: Client, tool: str) -> str:
    """Call a tool once. Return how the call ended."""
    try:
        result = await client.call(tool, {"a": 1, "b": 2}, timeout=90)
    except MCPError as error:
        return f"{type(error).__name__}: {str(error)[:60]}"
    if not result.get("isError"):
        return "ok"
    return str(result["content"][0]["text"]).split(":")[0][:60]


async def kill_during(
    client: Client, peer: PeerServer, tool: str, others: list[str], calls: int, restart: Callable[[], Any]
) -> Killed:
    """Call a peer, kill its process several times meanwhile, and call other peers too.

    Args:
        client: a client of the mounting host.
        peer: the peer to kill.
        tool: its tool.
        others: tools of other peers.
        calls: how many calls to make.
        restart: starts the server over HTTP again.
    """
    before = [await _timed(client, others[number % len(others)]) for number in range(200)]
    outcomes: Counter[str] = Counter()
    done, recoveries, during = 0, [], []
    dead_since: float | None = None
    finished = asyncio.Event()

    async def caller() -> None:
        nonlocal done, dead_since
        while done < calls:
            done += 1
            ended = await outcome(client, tool)
            outcomes[ended] += 1
            if ended == "ok" and dead_since is not None:
                recoveries.append(monotonic() - dead_since)
                dead_since = None
            await asyncio.sleep(0 if ended == "ok" else 0.05)

    async def other() -> None:
        while not finished.is_set():
            during.append(await _timed(client, others[len(during) % len(others)]))

    async def killer() -> None:
        nonlocal dead_since
        for kill in range(KILLS):
            while done < calls * (2 * kill + 1) // (2 * KILLS):
                await asyncio.sleep(0.002)
            for pid in processes_of(peer):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            dead_since = monotonic()
            if peer.port:
                await asyncio.sleep(RESTART_SECONDS)
                await restart()
            while dead_since is not None and not finished.is_set():
                await asyncio.sleep(0.01)

    tasks = [asyncio.ensure_future(one()) for one in (other, killer)]
    await asyncio.gather(*(caller() for _ in range(AT_ONCE)))
    deadline = monotonic() + RECOVERY_SECONDS
    while dead_since is not None and monotonic() < deadline:
        if await outcome(client, tool) == "ok" and dead_since is not None:
            recoveries.append(monotonic() - dead_since)
            dead_since = None
        await asyncio.sleep(0.1)
    finished.set()
    await asyncio.gather(*tasks)
    slow = max(recoveries) if dead_since is None else float("inf")
    return Killed(peer.name, outcomes, slow, (statistics.median(before) * 1000, statistics.median(during) * 1000))


async def _timed(client: Client, tool: str) -> float:
    begun = monotonic()
    ended = await outcome(client, tool)
    assert ended == "ok", f"{tool}: {ended}"
    return monotonic() - begun


def processes_of(peer: PeerServer) -> list[int]:
    """Return the processes that serve a peer, without those that guard them."""
    arguments = [part.encode() for part in peer.command()[1:]]
    name = f"PEER_NAME={peer.name}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parts = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            if parts[-len(arguments) :] == arguments and name in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
