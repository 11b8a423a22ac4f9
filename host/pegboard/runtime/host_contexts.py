"""The host as protocols and transports see it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Hashable, Sequence
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from pegboard.errors import TransportError
from pegboard.plugin.bus import Bus
from pegboard.plugin.methods import Contributions
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.plugin.stores import RecordStore
from pegboard.plugin.transports import Connection
from pegboard.routing.operator_token import OperatorToken
from pegboard.routing.router import authenticate, check_reach, public_hosts, respond
from pegboard.runtime.dispatcher import Dispatcher
from pegboard.runtime.host_bus import HostBus
from pegboard.runtime.open_stores import OpenStores
from pegboard.runtime.served_catalogue import ServedCatalogue
from pegboard.runtime.supervisor import note_opened, running_transport
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.catalogue import Identity
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.catalogue.registry import Registry
    from pegboard.plugin.observers import SessionInfo
    from pegboard.runtime.observation import Observation

CHECK_SECONDS = 15.0
"""The interval in seconds after which the caller of each connection is authenticated again, and the limit for that."""

logger = logging.getLogger("pegboard")

_NOT_AUTHENTICATED = (
    "its transport did not authenticate the caller; use a transport that calls TransportContext.authenticate and "
    "passes the caller to TransportContext.serve"
)


class HostForProtocols:
    """The `pegboard.plugin.ProtocolContext` of a host: its catalogue, the dispatch of calls, and its stores.

    Args:
        identity: the identity of the host.
        catalogue: the catalogue that the host serves.
        dispatcher: runs calls.
        stores: the open stores.
        bus: the bus of plugins.

    Attributes:
        operator: the token whose bearer is the operator; None without one.
        observation: the record of sessions; None if no plugin observes the host.
        stores: the open stores. A command enters this context to use stores. Leaving it closes them.
    """

    def __init__(
        self,
        identity: Identity,
        catalogue: ServedCatalogue,
        dispatcher: Dispatcher,
        stores: OpenStores,
        bus: HostBus,
    ) -> None:
        self.identity = identity
        self._catalogue = catalogue
        self.stores = stores
        self._bus = bus
        self.operator: OperatorToken | None = None
        self.observation: Observation | None = None
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
        return self._catalogue.assembly.contributed

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        return await authenticate(self._catalogue.assembly.authenticators, policy, request, self.operator)

    def session_started(self, key: Hashable, session: SessionInfo) -> None:
        if self.observation is not None:
            self.observation.started(key, session)

    def session_ended(self, key: Hashable) -> None:
        if self.observation is not None:
            self.observation.ended(key)

    @property
    def problem(self) -> str:
        return self._bus.problem

    async def open_stores(self) -> None:
        """Open the selected stores, and let the bus among them carry messages."""
        await self.stores.open_all(self._catalogue.assembly.stores)
        await self._open_bus()

    async def _open_bus(self) -> None:
        for contract, name in self._catalogue.assembly.stores:
            if contract is Bus:
                self._bus.carry_by(await self.store(Bus, name), self.stores.sealer)

    async def store(self, contract: type[Any], name: str) -> Any:
        """Return a selected store.

        The bus tells a store of records which processes are alive, so the bus is opened first.
        """
        if contract is RecordStore:
            await self._open_bus()
        return await self.stores.get(self._catalogue.assembly.stores, (contract, name))


Ask: TypeAlias = Callable[[], Awaitable[Caller | Response]]


class AdmittedCaller(Caller):
    """A caller whom a policy has admitted with a request.

    Attributes:
        ask: authenticates the request again.
    """

    ask: Ask

    @classmethod
    def of(cls, caller: Caller, ask: Ask) -> Self:
        """Return a caller whose request can be authenticated again."""
        admitted = cls(*caller)
        admitted.ask = ask
        return admitted

    def _replace(self, **changes: Any) -> Self:
        return self.of(super()._replace(**changes), self.ask)

    async def is_admitted(self) -> bool:
        """Return True if the request would be admitted, with no fewer scopes, or if this cannot be known now."""
        try:
            now = await asyncio.wait_for(self.ask(), CHECK_SECONDS)
        except TimeoutError:
            return True
        except Exception:
            logger.exception("an authenticator failed: the connection of its caller ends")
            return False
        if isinstance(now, Caller):
            return now.identity == self.identity and now.scopes >= self.scopes
        return now.status >= 500


class HostForTransports:
    """The `pegboard.plugin.TransportContext` of a host: serves connections and HTTP requests.

    Args:
        protocols: the host as protocols see it.
        catalogue: the catalogue that the host serves.
        registry: checks that routes may be served at an address.
        serving: an event that is set when a channel or a connection is open.

    Attributes:
        on_opened: called with the address and the names of the tools when a channel is open; None for no function.
    """

    def __init__(
        self, protocols: HostForProtocols, catalogue: ServedCatalogue, registry: Registry, serving: asyncio.Event
    ) -> None:
        self._protocols = protocols
        self._catalogue = catalogue
        self._registry = registry
        self.standard_output = 1
        self.serving = serving
        self.on_opened: Callable[[str, Sequence[str]], None] | None = None
        self.stopping = False
        self.wait_stopping = protocols.wait_stopping
        self.open_stores = protocols.open_stores

    @property
    def public_hosts(self) -> frozenset[str]:
        return public_hosts(self._catalogue.assembly.authenticators)

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """Check and record an open channel, and call `on_opened`."""
        self._registry.guard(partial(check_reach, address, local=local, policy=policy))
        if self.on_opened is not None:
            self.on_opened(address, list(self._catalogue.assembly.tools))
        self.serving.set()
        note_opened()

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Return the caller, whom `serve` authenticates again, or the response that refuses the request."""
        ask = partial(self._protocols.authenticate, request, policy)
        found = await ask()
        return AdmittedCaller.of(found, ask) if isinstance(found, Caller) else found

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve one connection until its messages end or its caller is no longer admitted. Then close the connection.

        Returns:
            The number of requests without a response.

        Raises:
            TransportError: no protocol is enabled, or more than one.
        """
        self.serving.set()
        connection.transport = connection.transport or running_transport(self)
        protocols = self._catalogue.assembly.protocols
        if len(protocols) != 1:
            names = ", ".join(protocol.name for protocol in protocols) or "none"
            raise TransportError(f"message streams require exactly one protocol, but these are enabled: {names}")
        limit = asyncio.timeout(None if caller.expires_at is None else caller.expires_at - time())
        checking = asyncio.create_task(self._end_when_refused(caller, limit))
        try:
            if self._accepts(caller):
                async with limit:
                    return await protocols[0].serve(connection, messages, self._protocols, Caller(*caller)) or 0
            logger.error("the connection of %s is refused: %s", connection.peer, _NOT_AUTHENTICATED)
        except Exception:
            if limit.expired():
                logger.info("the connection of %s ended with the caller's token", connection.peer)
            else:
                logger.exception("the connection of %s ended by a fault", connection.peer)
        finally:
            checking.cancel()
            await connection.close()
        return 0

    async def _end_when_refused(self, caller: Caller, limit: asyncio.Timeout) -> None:
        """End the time limit of a connection when its caller is no longer admitted. The operator stays admitted."""
        while not caller.trusted:
            await asyncio.sleep(CHECK_SECONDS)
            if not await self._is_admitted(caller) and not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time())

    async def _is_admitted(self, caller: Caller) -> bool:
        return self._accepts(caller) and (not isinstance(caller, AdmittedCaller) or await caller.is_admitted())

    def _accepts(self, caller: Caller) -> bool:
        """Return True for a known caller, and for each caller while the default policy has no authenticator."""
        authenticators = self._catalogue.assembly.authenticators
        return caller.is_known or all(authenticator.policy != DEFAULT_POLICY for authenticator in authenticators)

    async def respond(self, request: Request) -> Response | EventStream:
        return await self.begin(request)

    def begin(self, request: Request) -> Awaitable[Response | EventStream]:
        return respond(self._catalogue.assembly.routes, request, self._protocols, self._protocols.operator)
