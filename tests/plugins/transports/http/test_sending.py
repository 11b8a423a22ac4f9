"""Writes to peers, without sockets. The other tests of this folder and those of the protocol write to sockets."""

from __future__ import annotations

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from typing import Any

from pegboard_plugins.transports.http.sending import unsent_bytes


async def test_a_transport_with_tls_that_was_closed_twice_has_no_unsent_bytes() -> None:
    """asyncio and the server may both close a connection before the server learns that it is lost."""
    loop = asyncio.get_running_loop()
    protocol: Any = SSLProtocol(loop, asyncio.Protocol(), ssl.create_default_context(), loop.create_future())
    transport = protocol._get_app_transport()
    for _ in range(2):
        transport.close()
        assert unsent_bytes(transport) == 0
