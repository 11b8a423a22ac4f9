"""The bus of a host: plugins have it from the start, and the bus of `[host] state` carries its messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pegboard.plugin.bus import MISSED, Bus, Handler
from pegboard.types.catalogue import Change
from pegboard.wire.codec import decode, encode

if TYPE_CHECKING:
    from pegboard.runtime.sealed_state import StateSealer

CHANGED = "host/changed"
"""The topic of changes of resources."""
GATHER_SECONDS = 0.05
"""How long a change of a resource waits for further changes before the other processes are told."""
RETRY_SECONDS = 1.0
"""How long changes wait that could not be told."""

logger = logging.getLogger("pegboard")


class HostBus(Bus):
    """The `PluginContext.bus` of one host."""

    def __init__(self) -> None:
        super().__init__()
        self._carrier: Bus | None = None
        self._sealer: StateSealer | None = None
        self._is_warned = False

    def carry_by(self, carrier: Bus, sealer: StateSealer | None) -> None:
        """Send and receive by another bus, with sealed messages. A transport that is started again repeats this."""
        if carrier is not self._carrier:
            self._carrier, self._sealer = carrier, sealer
            for topic in self._handlers:
                carrier.listen(topic, partial(self._receive, topic))

    @property
    def number(self) -> int:
        """The number of this process."""
        return 0 if self._carrier is None else self._carrier.number

    @property
    def problem(self) -> str:
        """The reason why messages cannot be sent now."""
        return "" if self._carrier is None else self._carrier.problem

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        """Send a message."""
        if self._carrier is None or to == self.number:
            return await super().send(topic, body, to)
        return await self._carrier.send(topic, body if self._sealer is None else self._sealer.seal(body, topic), to)

    def listen(self, topic: str, handler: Handler) -> Callable[[], None]:
        """Call a function for each message of a topic."""
        if self._carrier is not None and topic not in self._handlers:
            self._carrier.listen(topic, partial(self._receive, topic))
        return super().listen(topic, handler)

    def _receive(self, topic: str, body: bytes, sender: int) -> None:
        try:
            opened = body if self._sealer is None or topic == MISSED else self._sealer.open(body, topic)
        except ValueError:
            if not self._is_warned:
                logger.warning("ignored a message of process %d: it is not sealed with [host] state_keys", sender)
            self._is_warned = True
            return
        try:
            self.deliver(topic, opened, sender)
        except Exception:
            logger.exception("a message of topic %r failed", topic)


class ChangeRelay:
    """Tells the other processes that resources have changed, and tells this process of their changes.

    Args:
        bus: the bus.
        emit: announces a change to the listeners in this process.
    """

    def __init__(self, bus: Bus, emit: Callable[[Change], None]) -> None:
        self._bus = bus
        self._emit = emit
        self._waiting: dict[str, None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending: asyncio.Task[None] | None = None
        bus.listen(CHANGED, self._receive)

    def open(self) -> None:
        """Tell changes from now on, on the running event loop."""
        self._loop = asyncio.get_running_loop()

    def tell(self, change: Change) -> None:
        """Tell a change of a resource, from any thread. Changes of lists are those of this process alone."""
        if change.kind == "resource" and change.uri is not None and self._loop is not None and self._bus.number:
            self._loop.call_soon_threadsafe(self._gather, change.uri)

    def _gather(self, uri: str) -> None:
        self._waiting[uri] = None
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        seconds = GATHER_SECONDS
        try:
            while self._waiting:
                await asyncio.sleep(seconds)
                uris, self._waiting = self._waiting, {}
                try:
                    await self._bus.send(CHANGED, encode(list(uris)))
                except ConnectionError:
                    self._waiting = uris | self._waiting
                    seconds = RETRY_SECONDS
        finally:
            self._sending = None

    def _receive(self, body: bytes, sender: int) -> None:
        for uri in decode(body):
            self._emit(Change("resource", uri))
