"""The host as protocols and transports see it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.plugin.methods import Contributions
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.plugin.transports import Connection
from pegboard.routing.operator_token import OperatorToken
from pegboard.routing.router import authenticate, begin_response, check_reach, public_hosts, respond
from pegboard.runtime.dispatcher import Dispatcher
from pegboard.runtime.open_stores import OpenStores
from pegboard.runtime.served_catalogue import ServedCatalogue
from pegboard.runtime.streams import serve_stream
from pegboard.runtime.supervisor import note_opened
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.catalogue import Identity
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.catalogue.registry import Registry
    from pegboard.plugin.observers import SessionRecorder


class HostForProtocols:
    """The `pegboard.plugin.ProtocolContext` of a host: its catalogue, the dispatch of calls, and its stores.

    Args:
        identity: the identity of the host.
        catalogue: the catalogue that the host serves.
        dispatcher: runs calls.
        stores: the open stores.

    Attributes:
        operator: the token whose bearer is the operator; None without one.
    """

    def __init__(
        self, identity: Identity, catalogue: ServedCatalogue, dispatcher: Dispatcher, stores: OpenStores
    ) -> None:
        self.identity = identity
        self._catalogue = catalogue
        self._stores = stores
        self.operator: OperatorToken | None = None
        self.sessions: SessionRecorder | None = None
        self.restarting: set[str] = set()
        self.stopping = False
        self.dispatch = dispatcher.dispatch
        self.wait_stopping = dispatcher.calls.wait_stopping
        self.offers = catalogue.offers
        self.hears = catalogue.hears
        self.tool = catalogue.tool
        self.subscribe = catalogue.subscribe
        self.watch = catalogue.watch

    @property
    def contributed(self) -> Contributions:
        """The additions of plugins to the protocol."""
        return self._catalogue.assembly.contributed

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Return the caller of a request, or the response that refuses it."""
        return await authenticate(self._catalogue.assembly.authenticators, policy, request, self.operator)

    async def store(self, contract: type[Any], name: str) -> Any:
        """Return a selected store."""
        return await self._stores.get(self._catalogue.assembly.stores, (contract, name))


class HostForTransports:
    """The `pegboard.plugin.TransportContext` of a host: serves connections and HTTP requests.

    Args:
        protocols: the host as protocols see it.
        catalogue: the catalogue that the host serves.
        registry: checks that routes may be served at an address.
        stores: the open stores.

    Attributes:
        on_opened: called with the address and the names of the tools when a channel is open; None for no function.
    """

    def __init__(
        self, protocols: HostForProtocols, catalogue: ServedCatalogue, registry: Registry, stores: OpenStores
    ) -> None:
        self._protocols = protocols
        self._catalogue = catalogue
        self._registry = registry
        self._stores = stores
        self.standard_output = 1
        self.on_opened: Callable[[str, Sequence[str]], None] | None = None
        self.stopping = False
        self.authenticate = protocols.authenticate
        self.wait_stopping = protocols.wait_stopping

    @property
    def public_hosts(self) -> frozenset[str]:
        """The host names in the URLs of routes."""
        return public_hosts(self._catalogue.assembly.authenticators)

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """Check and record an open channel, and call `on_opened`."""
        self._registry.guard(partial(check_reach, address, local=local, policy=policy))
        if self.on_opened is not None:
            self.on_opened(address, list(self._catalogue.assembly.tools))
        note_opened()

    async def open_stores(self) -> None:
        """Open the selected stores."""
        await self._stores.open_all(self._catalogue.assembly.stores)

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve one connection until its messages end, then close it.

        Raises:
            TransportError: there is no protocol, or more than one.
        """
        return await serve_stream(self._catalogue.assembly, self._protocols, connection, messages, caller)

    async def respond(self, request: Request) -> Response | EventStream:
        """Return the response to one HTTP request. Never raises, except for `asyncio.CancelledError`."""
        return await respond(self._catalogue.assembly.routes, request, self._protocols, self._protocols.operator)

    def begin(self, request: Request) -> Response | EventStream | Awaitable[Response | EventStream]:
        """Return the response to one HTTP request, or an awaitable for it."""
        return begin_response(self._catalogue.assembly.routes, request, self._protocols, self._protocols.operator)
