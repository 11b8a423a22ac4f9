"""The open stores of a host, and the keys that can be used once. Each store is opened once and closed at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING, Any

from pegboard.catalogue.store_selection import OfferedStore, StoreKey, Stores
from pegboard.errors import InteractionError, PluginError
from pegboard.messages.error_fields import describe_error
from pegboard.plugin.origin import Origin
from pegboard.plugin.sessions import SessionStore
from pegboard.plugin.stores import Record, RecordStore
from pegboard.runtime.store_claim import StoreClaim
from pegboard.secrets.redaction import redacted

if TYPE_CHECKING:
    from pegboard.runtime.sealed_state import StateSealer

_UNSHARED = (
    "This tool cannot prevent that it acts twice. Its operator must fix that.",
    "once_only needs a store that all workers share: set [host] state, or serve with --workers 1",
)


logger = logging.getLogger("pegboard")


class OpenStores(AbstractAsyncContextManager["OpenStores"]):
    """The open stores of one host, for use on the event loop's thread. Leaving the context closes all stores.

    Args:
        claims: True to claim the stores whose contracts have a method `claim`. False to look at them only.
        keys: the keys that encrypt what stores outside of the process's memory keep; none to encrypt nothing.
        workers: the number of processes that serve together.
    """

    def __init__(self, *, claims: bool = True, keys: Sequence[str] = (), workers: int = 1) -> None:
        self._claims = claims
        self._keys = keys
        self._workers = workers
        self._lost: asyncio.Future[None] | None = None
        self._opened: dict[StoreKey, asyncio.Future[Any]] = {}
        self._keepers: dict[asyncio.Task[None], asyncio.Future[Any]] = {}
        self._closing = asyncio.Event()

    @cached_property
    def sealer(self) -> StateSealer | None:
        """The encryption of stores and of the bus; None without keys."""
        if not self._keys:
            return None
        from pegboard.runtime.sealed_state import StateSealer  # most hosts share no state

        return StateSealer(self._keys)

    async def open_all(self, stores: Stores) -> None:
        """Open all selected stores except stores of records, which plugins open (`PluginContext.store`).

        Raises:
            PluginError: a store cannot be opened.
        """
        for contract, name in stores:
            if contract is not RecordStore:
                await self.get(stores, (contract, name))

    async def get(self, stores: Stores, key: StoreKey) -> Any:
        """Return a store, and open it on first use.

        Raises:
            PluginError: no setting selects the store, or the store cannot be opened.
        """
        opened = self._opened.get(key)
        if opened is None:
            if key not in stores:
                raise PluginError(f"no setting selects a {key[0].__name__} named {key[1]!r}")
            opened = self._opened[key] = asyncio.get_running_loop().create_future()
            keeper = asyncio.create_task(self._keep(stores[key], key, opened))
            self._keepers[keeper] = opened
            keeper.add_done_callback(self._keepers.pop)
        return await asyncio.shield(opened)

    def check(self, offered: OfferedStore, key: StoreKey) -> None:
        """Check that the processes can serve with a store, without opening it.

        Raises:
            PluginError: they cannot.
        """
        origin, definition = offered
        try:
            if definition.check is not None:
                definition.check(self._workers)
        except PluginError as error:
            raise PluginError(f"{_title(origin, key)} cannot be opened: {error}") from error

    async def _keep(self, offered: OfferedStore, key: StoreKey, opened: asyncio.Future[Any]) -> None:
        """Enter and leave the context of a store in the same task, as many libraries require."""
        closing = self._closing
        contract = key[0]
        origin, definition = offered
        title = _title(origin, key)
        try:
            if definition.check is not None:
                definition.check(self._workers)
            async with definition.open() as store:
                claim = self._claim(store, contract, title)
                if claim is not None:
                    await claim.take()
                sealer = None if definition.in_memory else self.sealer
                opened.set_result(store if sealer is None else sealer.sealed_store(store))
                await (closing.wait() if claim is None else self._keep_claim(claim, closing))
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if opened.done():
                logger.exception("%s failed to close", title)
                return
            self._opened.pop(key, None)
            reason = str(error) if isinstance(error, PluginError) else redacted(describe_error(error))
            opened.set_exception(PluginError(f"{title} cannot be opened: {reason}"))
            opened.exception()  # the waiting task may be cancelled at the same time
            logger.debug("%s cannot be opened", title, exc_info=True)

    def _claim(self, store: Any, contract: type[Any], title: str) -> StoreClaim | None:
        """Return the claim on a store, or None if there is nothing to claim.

        Raises:
            TypeError: the class of the store does not derive from the contract.
        """
        if not isinstance(store, contract):
            raise TypeError(f"{type(store).__name__} does not derive from {contract.__name__}")
        if not (self._claims and hasattr(contract, "claim")) or (isinstance(store, SessionStore) and store.shared):
            return None
        lacking = _inherited(store, contract)
        if not lacking:
            return StoreClaim(store, title)
        text = "%s has no method %s, so nothing keeps a second process from overwriting its data: use it in one process"
        logger.warning(text, title, ", ".join(lacking))
        return None

    async def _keep_claim(self, claim: StoreClaim, closing: asyncio.Event) -> None:
        """Keep a claim until the store closes.

        If the claim is lost, `lost` raises, or the loss is logged if no task waits.
        """
        try:
            await claim.keep(closing)
        except PluginError as error:
            if self._lost is None:
                logger.error("%s", error)
            elif not self._lost.done():
                self._lost.set_exception(error)
            await closing.wait()

    async def lost(self) -> None:
        """Wait until another process takes over a store.

        Raises:
            PluginError: a store is lost. The message names the store and the process.
        """
        self._lost = self._lost or asyncio.get_running_loop().create_future()
        await asyncio.shield(self._lost)

    async def __aexit__(self, *_: object) -> None:
        """Close all stores. A later call opens a closed store again."""
        self._closing.set()
        self._closing = asyncio.Event()
        self._lost = None
        self._opened.clear()
        keepers, self._keepers = self._keepers, {}
        for keeper, opened in keepers.items():
            if not opened.done():
                keeper.cancel()
        if keepers:
            await asyncio.wait(tuple(keepers))


class UsedKeys:
    """The keys that were used, in the shared state or in the memory of this process.

    Args:
        open_store: opens the store of the shared state; None without shared state.
        workers: the number of processes that serve together.
    """

    def __init__(self, open_store: Callable[[], Awaitable[RecordStore]] | None, workers: int) -> None:
        self._open_store = open_store
        self._workers = workers
        self._ends: dict[str, float] = {}

    async def use(self, key: str, seconds: float) -> bool:
        """Use a key. Return False if it was used before.

        Args:
            key: the key.
            seconds: how long the use is remembered.

        Raises:
            ConnectionError: the shared state cannot be reached.
            InteractionError: the processes share no state.
        """
        name = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        now = time()
        if self._open_store is not None:
            store = await self._open_store()
            return await store.create(Record(id=f"once/{name}", content=b"", expires_at=now + seconds))
        if self._workers > 1:
            raise InteractionError(*_UNSHARED)
        while self._ends and next(iter(self._ends.values())) <= now:
            del self._ends[next(iter(self._ends))]
        if self._ends.get(name, now) > now:
            return False
        self._ends[name] = now + seconds
        return True


def _title(origin: Origin, key: StoreKey) -> str:
    contract, name = key
    return f"the {contract.__name__} {name!r} of {origin}"


def _inherited(store: object, contract: type[Any]) -> list[str]:
    """Return the names of a contract's methods that a store does not implement."""
    methods = [name for name, member in vars(contract).items() if callable(member) and not name.startswith("_")]
    return [name for name in methods if getattr(type(store), name) is getattr(contract, name)]
