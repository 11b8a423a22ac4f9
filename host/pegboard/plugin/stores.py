"""Stores that plugins offer to other plugins, and the settings that select them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple


class Store(NamedTuple):
    """A store that a plugin offers.

    Attributes:
        contract: the class of the contract that the store fulfils, such as `SessionStore`.
        open: returns an async context manager that gives the store. The host enters it before it serves the first
            request that needs the store, and leaves it when the host stops. Only selected stores are opened, and only
            by a host that serves.
        name: the name by which configuration selects the store; the plugin's name when None.
    """

    contract: type[Any]
    open: Callable[[], AbstractAsyncContextManager[Any]]
    name: str | None = None


class StoreName(NamedTuple):
    """The mark of a setting that names a store: `session_store: Annotated[str, StoreName(SessionStore)] = "memory"`.

    The host refuses a name that no running plugin offers. `ProtocolContext.store` gives the store of that name.

    Attributes:
        contract: the class of the contract that the store must fulfil.
    """

    contract: type[Any]
