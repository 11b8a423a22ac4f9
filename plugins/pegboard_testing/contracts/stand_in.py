"""The host that the rules of transports use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.plugin.transports import Connection
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.http import EventStream, Request, Response

logger = logging.getLogger("pegboard.testing")

Serving = Callable[[Connection, AsyncIterable[bytes]], Awaitable[None]]

USERS: Mapping[str, Caller] = MappingProxyType(
    {f"Bearer contract-token-of-{name}": Caller(f"contract-{name}") for name in ("ada", "eve")}
)
"""The callers that the host of the rules knows, by their header `Authorization`."""
ADA, EVE = USERS


class Announced(NamedTuple):
    """An address as the transport announced it (`TransportContext.opened`)."""

    address: str
    local: bool
    policy: str | None


class StandIn:
    """A host for the transport under test. Each rule sets how this host serves connections.

    It admits the callers in `USERS`.

    Attributes:
        announced: the addresses that the transport announced.
        connections: the connections, in their order.
        callers: the caller of each connection, as the transport identified it.
        asked: the requests to authenticate.
        fault: a mistake in a request to authenticate, else "".
        open: set after the announcement, or after the first connection.
        served: set after a connection has ended.
        run: the task of the transport.
    """

    run: asyncio.Task[None]

    def __init__(self, serving: Serving) -> None:
        self.announced: list[Announced] = []
        self.connections: list[Connection] = []
        self.callers: list[Caller] = []
        self.asked: list[Request] = []
        self.fault = ""
        self.open = asyncio.Event()
        self.served = asyncio.Event()
        self.stopping = False
        self.standard_output = 1
        self._serving = serving

    async def wait_stopping(self) -> float:
        """Wait. This host never stops."""
        await asyncio.get_running_loop().create_future()
        return 0.0

    @property
    def public_hosts(self) -> Collection[str]:
        """The names of the host. This host has no routes."""
        return ()

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """Record the address."""
        self.announced.append(Announced(address, local, policy))
        self.open.set()

    async def open_stores(self) -> None:
        """Do nothing. This host has no stores."""

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Return the caller of a known credential, or status 401."""
        self.asked.append(request)
        if not hasattr(request.headers, "getall"):
            self.fault = (
                f"`Request.headers` is a {type(request.headers).__name__}: pass `pegboard.types.header_fields(...)`"
            )
        return USERS.get(request.headers.get("Authorization") or "", Response(401))

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve a connection and close it, and log its errors, as the real host does."""
        self.connections.append(connection)
        self.callers.append(caller)
        self.open.set()
        try:
            await self._serving(connection, messages)
        except Exception:
            logger.exception("the connection of %s ended by a fault", connection.peer)
        finally:
            await connection.close()
            self.served.set()
        return 0

    async def respond(self, request: Request) -> Response | EventStream:
        """Return 404. This host has no routes."""
        return Response(404)

    def begin(self, request: Request) -> Response:
        """Return 404, like `respond`."""
        return Response(404)


async def echo(connection: Connection, messages: AsyncIterable[bytes]) -> None:
    """Send every message back."""
    async for message in messages:
        connection.send(bytes(message).removesuffix(b"\n").removesuffix(b"\r"))
