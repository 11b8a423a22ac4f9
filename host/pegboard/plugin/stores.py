"""Stores that plugins offer to other plugins, and the settings that select them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple


class Store(NamedTuple):
    """A store that a plugin offers. Construct it by keyword.

    Attributes:
        contract: the class of the contract that the store implements, such as `SessionStore`.
        open: returns an async context manager whose value is the store. The host enters it in a separate task before
            the first request that needs the store, and leaves it in the same task when the host stops. Only selected
            stores are opened, and only by a host that serves.
        name: the name that configuration selects; the plugin's name when None.
    """

    contract: type[Any]
    open: Callable[[], AbstractAsyncContextManager[Any]]
    name: str | None = None


class StoreName(NamedTuple):
    """The mark of a setting that names a store: `session_store: Annotated[str, StoreName(SessionStore)] = "memory"`.

    The host refuses a name that no running plugin offers. `ProtocolContext.store` returns the store of that name.

    Attributes:
        contract: the class of the contract that the store must implement.
    """

    contract: type[Any]
