"""Stores that plugins offer to other plugins, and the settings that select them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
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
            Another plugin opens a `LoginStore` itself (`PluginContext.find_store`).
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


class LoginStore(ABC):
    """Keeps the operator's logins at MCP servers, encrypted. The methods run on the event loop, and concurrently.

    `pegboard_client.OAuth` accepts such an object as its `store`, and the method `renewing` as its lock.
    """

    @abstractmethod
    async def load(self, server: str) -> Mapping[str, Any] | None:
        """Return the login at a server as it was saved, or None if there is none.

        Args:
            server: the URL of the server.

        Raises:
            MCPError: the login cannot be read.
        """

    @abstractmethod
    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        """Replace the login at a server.

        Args:
            server: the URL of the server.
            login: a JSON object with secrets; None removes the login.

        Raises:
            MCPError: the login cannot be saved.
        """

    @abstractmethod
    def renewing(self, server: str) -> AbstractAsyncContextManager[object]:
        """Return a lock, which only one process and one task holds at a time.

        Args:
            server: the URL of the server.
        """
