"""Peers that hang up while the server does not read from them. Event loops do not notice them."""

from __future__ import annotations

import asyncio
import select

LOOK_SECONDS = 1.0
"""The interval of looks at a connection from which the server does not read."""


def has_hung_up(transport: asyncio.BaseTransport) -> bool:
    """Return True if the peer has closed its connection or its sending side, even if unread bytes precede the end.

    Return False where the system cannot tell.
    """
    socket = transport.get_extra_info("socket")
    if socket is None or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(socket, getattr(select, "POLLRDHUP", 0))  # the system adds POLLHUP and POLLERR
    return bool(poll.poll(0))
