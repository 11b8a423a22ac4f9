"""Kills each peer as `kill -9` does, while clients call it, and reports what the clients saw."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

from pegboard import MCPError
from pegboard_client import Client
from tools.comparison.processes import processes_of
from tools.peers.lineup import PeerServer

AT_ONCE = 8
KILLS = 3
RECOVERY_SECONDS = 60


class Killed(NamedTuple):
    """The calls of clients while a peer was killed.

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


class _Load:
    """Calls of one peer, eight at once, and calls of the others meanwhile."""

    def __init__(self, client: Client, tool: str, others: list[str], calls: int) -> None:
        self.outcomes: Counter[str] = Counter()
        self.others_ms: list[float] = []
        self.recoveries: list[float] = []
        self.dead_since: float | None = None
        self.begun = 0
        self._client = client
        self._tool = tool
        self._others = others
        self._calls = calls
        self._finished = asyncio.Event()

    async def run(self, killer: Awaitable[None] | None = None) -> None:
        """Make all calls. Wait until the peer answers again."""
        beside = [asyncio.ensure_future(work) for work in (self._call_others(), killer) if work is not None]
        await asyncio.gather(*(self._call() for _ in range(AT_ONCE)))
        async with asyncio.timeout(RECOVERY_SECONDS):
            while not self._is_well():
                await self._call_once()
        self._finished.set()
        await asyncio.gather(*beside)

    async def killing(self, peer: PeerServer, restart: Callable[[], Awaitable[None]]) -> None:
        """Kill the process of the peer a few times."""
        for kill in range(KILLS):
            while self.begun < self._calls * (2 * kill + 1) // (2 * KILLS):
                await asyncio.sleep(0.002)
            for pid in processes_of_peer(peer):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.dead_since = monotonic()
            if peer.port:
                await restart()
                self.dead_since = monotonic()  # only the host's part counts
            while not (self._is_well() or self._finished.is_set()):
                await asyncio.sleep(0.01)

    def _is_well(self) -> bool:
        return self.dead_since is None

    async def _call(self) -> None:
        while self.begun < self._calls:
            self.begun += 1
            self.outcomes[await self._call_once()] += 1

    async def _call_once(self) -> str:
        begun = monotonic()
        ended = await outcome(self._client, self._tool)
        if ended != "ok":
            await asyncio.sleep(0.05)
        elif self.dead_since is not None and begun > self.dead_since:
            self.recoveries.append(monotonic() - self.dead_since)
            self.dead_since = None
        return ended

    async def _call_others(self) -> None:
        while not self._finished.is_set():
            begun, tool = monotonic(), self._others[len(self.others_ms) % len(self._others)]
            ended = await outcome(self._client, tool)
            assert ended == "ok", f"{tool}: {ended}"
            self.others_ms.append((monotonic() - begun) * 1000)


async def kill_during(
    client: Client, peer: PeerServer, tool: str, others: list[str], calls: int, restart: Callable[[], Awaitable[None]]
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
    calm, load = _Load(client, tool, others, calls), _Load(client, tool, others, calls)
    await calm.run()
    await load.run(load.killing(peer, restart))
    times = (statistics.median(calm.others_ms), statistics.median(load.others_ms))
    return Killed(peer.name, load.outcomes, max(load.recoveries), times)


def processes_of_peer(peer: PeerServer) -> list[int]:
    """Return the processes that serve a peer, without those that guard them."""
    return processes_of(peer.command()[1:], f"PEER_NAME={peer.env['PEER_NAME']}")
