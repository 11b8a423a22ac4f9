"""Messages between the processes that share the sessions of one endpoint. Unknown members are ignored."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeAlias

from pegboard.plugin import Bus, decode, encode
from pegboard_plugins.protocols.mcp.http.error_responses import REACHING

Receive: TypeAlias = Callable[[dict[str, Any], int], None]
"""Handle a message and the number of its sender."""

logger = logging.getLogger("pegboard.mcp")


class SessionMessages:
    """Sends messages about sessions, and passes messages of other processes to handlers.

    Args:
        bus: the bus of the plugin.
        profile: the profile of the endpoint; "" for none.
        handlers: a function for each kind of message.

    Attributes:
        handlers: these functions.
    """

    def __init__(self, bus: Bus, profile: str, handlers: dict[str, Receive]) -> None:
        self._bus = bus
        self._topic = f"mcp/sessions/{profile}"
        self.handlers = handlers
        self._is_warned = False
        bus.listen(self._topic, self._receive)

    @property
    def number(self) -> int:
        """The number of this process; 0 if it shares no sessions."""
        return self._bus.number

    async def tell(self, kind: str, to: int | None = None, **members: Any) -> bool:
        """Send a message to one process, or to all others. Return False if the receiver has ended.

        Raises:
            StoreUnavailableError: it could not be sent.
        """
        if not self._bus.number:
            return to is None
        with REACHING:
            return await self._bus.send(self._topic, encode({"kind": kind, **members}), to)

    def _receive(self, body: bytes, sender: int) -> None:
        message = decode(body)
        handler = self.handlers.get(message["kind"])
        if handler is not None:
            handler(message, sender)
        elif not self._is_warned:
            self._is_warned = True
            logger.warning("ignored a message of process %d, which has a later version", sender)
