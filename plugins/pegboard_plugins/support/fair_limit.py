"""A limit of concurrent requests to other servers, shared fairly by the peers that cause them."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

_NETWORK = 64
"""The prefix length of an IPv6 network. One machine can use any address of its network."""


@lru_cache(1024)
def peer_network(peer: str) -> str:
    """Return the peer for limits: an IPv4 address, or the network of an IPv6 address."""
    try:
        address = ip_address(peer)
    except ValueError:
        return peer
    if not isinstance(address, IPv6Address):
        return peer
    mapped = address.ipv4_mapped
    return str(ip_network((int(address), _NETWORK), strict=False)) if mapped is None else str(mapped)


class FairLimit:
    """A limit of concurrent requests. Waiting peers take turns. The requests of one peer run in order.

    Args:
        places: the number of concurrent requests.
        per_peer: the number of concurrent requests of one peer.
    """

    def __init__(self, places: int, per_peer: int) -> None:
        self._free = places
        self._per_peer = per_peer
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, peer: str) -> AsyncIterator[None]:
        """Wait for a place, and free it at the end."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(peer, deque()).append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(peer, turn)
            else:
                self._leave(peer)  # it got a place at the same moment
            raise
        try:
            yield
        finally:
            self._leave(peer)

    def _admit(self) -> None:
        while self._free and (peer := self._next()) is not None:
            queue = self._waiting.pop(peer)
            turn = queue.popleft()
            if queue:
                self._waiting[peer] = queue  # behind all others
            if not turn.done():
                self._free -= 1
                self._busy[peer] += 1
                turn.set_result(None)

    def _next(self) -> str | None:
        return next((peer for peer in self._waiting if self._busy[peer] < self._per_peer), None)

    def _leave(self, peer: str) -> None:
        self._free += 1
        self._busy[peer] -= 1
        if not self._busy[peer]:
            del self._busy[peer]
        self._admit()

    def _forget(self, peer: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(peer)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[peer]
