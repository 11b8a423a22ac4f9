"""Stores that plugins offer to other plugins."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from pegboard.types.callers import Caller


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
        in_memory: True if the store keeps its values in the memory of this process. With `[host] state_keys` the host
            encrypts the ids, names and values that it passes to other stores.
        check: a function that raises `PluginError` if the given number of processes cannot serve with the store. The
            host calls it before it opens the store, and `pegboard config check` calls it, too. None for no check.
    """

    contract: type[Any]
    open: Callable[[], AbstractAsyncContextManager[Any]]
    name: str | None = None
    in_memory: bool = False
    check: Callable[[int], None] | None = None


class LoginTerms(NamedTuple):
    """The facts that a person must agree to before the browser leaves the host.

    Attributes:
        program: the client program that will use the login; "" if it is unknown.
        server: the name of the MCP server.
        url: its URL.
        issuer: the authorization server; "" for a key.
        scopes: the scopes that are requested.
        added: those that the person has not agreed to yet; empty if these are all scopes.
        key: the name of the key that the person must paste, which is the field `key` of the response; "" for none.
    """

    program: str
    server: str
    url: str
    issuer: str = ""
    scopes: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    key: str = ""


class LoginPage(ABC):
    """The page of one login. It is a `pegboard_client.RedirectReceiver`, and `show` opens its authorization request.

    Attributes:
        terms: the facts that the person must agree to first; None for none. Set it before `show`.
    """

    terms: LoginTerms | None = None

    @abstractmethod
    async def start(self, state: str, earlier: str, issuer: str) -> str:
        """Return the redirect URI. Responses with another `state`, or at another address, are refused."""

    @abstractmethod
    async def show(self, url: str) -> None:
        """Serve the page, which links to a URL. With "", the page ends when the person agrees."""

    @abstractmethod
    async def receive(self) -> Mapping[str, str]:
        """Return the parameters of the response, or the fields of the page.

        Raises:
            TimeoutError: the page has ended.
        """

    @abstractmethod
    async def close(self) -> None:
        """Do nothing: the page ends with the login."""


class LoginStore(ABC):
    """Keeps logins at MCP servers, encrypted. The methods run on the event loop, and concurrently.

    `pegboard_client.OAuth` accepts such an object as its `store`, and the methods `renewing` and `version`.

    Attributes:
        admits_callers: True if callers from the network can log in.
        asks_person: True if a person from the network must agree to each use of these logins.
        client_metadata_url: the client id metadata document of this host, as `pegboard_client.OAuth` accepts it; "" for
            none.
    """

    admits_callers: bool = False
    asks_person: bool = False
    client_metadata_url: str = ""

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

    def version(self) -> object:
        """Return a value that changes if a login may have changed. It must not wait. By default it is always None."""

    def of(self, caller: Caller) -> "LoginStore | None":
        """Return the logins of one caller; None for a caller that no page can identify."""
        return None

    async def owners(self, server: str) -> Sequence[Caller]:
        """Return the callers from the network that have a login at a server."""
        return ()

    async def begin(
        self, name: str, title: str, log_in: Callable[[LoginPage], Awaitable[object]], seconds: float
    ) -> tuple[str, str]:
        """Start a login of the owner. Return its id and its link when the page is shown.

        The id is the `authorization_id` of the error with which a call asks for the login. The page proves who its
        browser belongs to.

        Args:
            name: a name of the login. While a login of this name waits, it is returned instead.
            title: the name of the server for the person.
            log_in: logs in with the page, and saves the login. It may raise `pegboard_client.LoginFailedError`.
            seconds: the time for which a call waits for the person.

        Raises:
            MCPError: this store has no pages.
            LoginFailedError: the login failed before its page was shown.
        """
        raise NotImplementedError


class Record(NamedTuple):
    """One record. The store reads only the index: all members except `content`. Construct it by keyword.

    Attributes:
        id: the kind of the record and its name: "tasks/786512e2". It has one "/". It is at most 200 characters of
            printable ASCII, and never changes.
        content: the content, which the feature encrypts.
        expires_at: the time after which the record does not exist, in seconds since 1970.
        owner: the owner of the record, for `RecordStore.count`; "" for none. It never changes.
        state: the state of what the record describes, such as "working".
        process: the process that works on it (`RecordStore.process`); "" for none.
        number: how often the record was replaced. The store sets it.
    """

    id: str
    content: bytes
    expires_at: float
    owner: str = ""
    state: str = ""
    process: str = ""
    number: int = 0


class RecordStore(ABC):
    """Stores records. If a method raises, the current request fails.

    The methods run on the event loop and may run concurrently, in several processes too. A change that a method has
    acknowledged survives a crash of the process. A record that has expired does not exist for any method.

    Attributes:
        process: the name of this process in the store. No other process has had it or will get it.
        on_ended: a function without arguments that the store calls on the event loop when it learns that another
            process has ended. The feature sets it. A store that only learns this at its start never calls it.
    """

    process: str
    on_ended: Callable[[], None] | None = None

    @abstractmethod
    async def create(self, record: Record) -> bool:
        """Store a new record with the number 0. Return False, and store nothing, if its id exists.

        The check and the change are one step, also between processes.
        """

    @abstractmethod
    async def get(self, record_id: str) -> Record | None:
        """Return a record as it was stored last, or None if there is none."""

    @abstractmethod
    async def transition(self, expected: Record, new: Record) -> bool:
        """Replace a record, unless it was replaced or deleted since it was read. Increase its number by one.

        The check and the change are one step, also between processes.

        Args:
            expected: the record as it was read. The store compares its number.
            new: the new record. Its id and its owner are those of `expected`. Its number is ignored.

        Returns:
            True if the record is replaced. False if nothing is changed.
        """

    @abstractmethod
    async def delete(self, record_id: str) -> bool:
        """Remove a record. Return False if there is none. Of several callers, one receives True."""

    @abstractmethod
    async def count(self, owner: str) -> int:
        """Return the number of records of an owner."""

    @abstractmethod
    async def find(self, kind: str) -> Sequence[Record]:
        """Return the records whose ids begin with a kind and "/", in any order."""

    @abstractmethod
    async def orphans(self, kind: str) -> Sequence[Record]:
        """Return the records of a kind that name a process that has ended, in any order."""

    @abstractmethod
    async def expire(self) -> None:
        """Free the space of the records that have expired. `create` may do the same."""
