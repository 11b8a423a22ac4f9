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

VERSION = 1
"""The version of all messages, their first byte. A process ignores messages of a later version."""
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
        self._warned: set[str] = set()

    def carry_by(self, carrier: Bus, sealer: StateSealer | None) -> None:
        """Send and receive through another bus, with sealed messages.

        A transport that is started again repeats this.
        """
        if carrier is not self._carrier:
            self._carrier, self._sealer = carrier, sealer
            for topic in self._handlers:
                carrier.listen(topic, partial(self._receive, topic))

    @property
    def number(self) -> int:
        return 0 if self._carrier is None else self._carrier.number

    @property
    def problem(self) -> str:
        return "" if self._carrier is None else self._carrier.problem

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        if self._carrier is None or to == self.number:
            return await super().send(topic, body, to)
        whole = bytes([VERSION]) + body
        return await self._carrier.send(topic, whole if self._sealer is None else self._sealer.seal(whole, topic), to)

    def listen(self, topic: str, handler: Handler) -> Callable[[], None]:
        if self._carrier is not None and topic not in self._handlers:
            self._carrier.listen(topic, partial(self._receive, topic))
        return super().listen(topic, handler)

    def _receive(self, topic: str, body: bytes, sender: int) -> None:
        message = body if topic == MISSED else self._opened(topic, body, sender)
        if message is None:
            return
        try:
            self.deliver(topic, message, sender)
        except Exception:
            logger.exception("a message of topic %r failed", topic)

    def _opened(self, topic: str, body: bytes, sender: int) -> bytes | None:
        """Return a message. Return None for a message of another version or of other keys, and log this once."""
        try:
            whole = body if self._sealer is None else self._sealer.open(body, topic)
        except ValueError:
            problem = "it is not sealed with [host] state_keys"
        else:
            if whole[0] <= VERSION:
                return whole[1:]
            problem = "it has a later version"
        if problem not in self._warned:
            self._warned.add(problem)
            logger.warning("ignored a message of process %d: %s", sender, problem)
        return None


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
        """Begin to relay changes, on the running event loop."""
        self._loop = asyncio.get_running_loop()

    def tell(self, change: Change) -> None:
        """Relay a change of a resource, from any thread. Changes of lists concern only this process."""
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
