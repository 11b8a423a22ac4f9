"""Serving of one message stream: selects the protocol and refuses callers that must authenticate."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable
from time import time

from pegboard.catalogue.assembly import Assembly
from pegboard.errors import TransportError
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.plugin.transports import Connection, ProtocolContext
from pegboard.types.callers import Caller

logger = logging.getLogger("pegboard")

_NOT_AUTHENTICATED = (
    "its transport did not authenticate the caller; use a transport that calls TransportContext.authenticate and "
    "passes the caller to TransportContext.serve"
)


async def serve_stream(
    assembly: Assembly, host: ProtocolContext, connection: Connection, messages: AsyncIterable[bytes], caller: Caller
) -> int:
    """Serve one connection until its messages end or the caller's token expires. Then close the connection.

    Returns:
        The number of requests without a response.

    Raises:
        TransportError: no protocol is enabled, or more than one.
    """
    protocols = assembly.protocols
    if len(protocols) != 1:
        names = ", ".join(protocol.name for protocol in protocols) or "none"
        raise TransportError(f"message streams require exactly one protocol, but these are enabled: {names}")
    limit = asyncio.timeout(None if caller.expires_at is None else caller.expires_at - time())
    try:
        if caller.is_known or all(authenticator.policy != DEFAULT_POLICY for authenticator in assembly.authenticators):
            async with limit:
                return await protocols[0].serve(connection, messages, host, caller) or 0
        logger.error("the connection of %s is refused: %s", connection.peer, _NOT_AUTHENTICATED)
    except Exception:
        if limit.expired():
            logger.info("the connection of %s ended with the caller's token", connection.peer)
        else:
            logger.exception("the connection of %s ended by a fault", connection.peer)
    finally:
        await connection.close()
    return 0
