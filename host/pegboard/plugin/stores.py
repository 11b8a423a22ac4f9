"""Stores that plugins offer to other plugins, and the settings that select them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple


class Store(NamedTuple):
    """A store that a plugin offers. Construct it by keyword.

    Attributes:
        contract: the contract class from which the class of the store derives, such as `SessionStore`.
        open: a function that returns an async context manager whose value is the store. The host enters it before the
            first request that requires the store, and leaves it when the host stops. Both happen in the same separate
            task. The host opens only stores that settings select, and only while it serves. If the contract has the
            methods `claim` and `release`, the host claims the store as `SessionStore` describes.
        name: the name by which the configuration selects the store. If None, the plugin's name.
    """

    contract: type[Any]
    open: Callable[[], AbstractAsyncContextManager[Any]]
    name: str | None = None


class StoreName(NamedTuple):
    """The mark of a setting that names a store: `session_store: Annotated[str, StoreName(SessionStore)] = "memory"`.

    The host refuses a name that no running plugin offers. `ProtocolContext.store` returns the store of that name.

    Attributes:
        contract: the contract class that the store must implement.
    """

    contract: type[Any]
