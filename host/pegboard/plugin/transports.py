"""The contracts for transports, and for protocols that are spoken over message streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Hashable, MutableMapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from pegboard.plugin.methods import Contributions
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.calls import Call, Outcome
from pegboard.types.catalogue import Change, Identity, ItemKind, Tool
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.errors import MCPError
    from pegboard.plugin.observers import SessionInfo

AsgiScope: TypeAlias = MutableMapping[str, Any]
"""The scope of a connection to an ASGI application."""
AsgiReceive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
"""Return the next event of the client."""
AsgiSend: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
"""Send an event to the client."""
AsgiCallable: TypeAlias = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]
"""An ASGI 3 application."""


class Connection(ABC):
    """The message stream of one client. Transports implement this class. Protocols use it on the event loop.

    Attributes:
        peer: the address of the client, for logs.
        transport: the name of its transport, for `Call.transport`; the host sets an empty one.
        finishes: True to complete running calls after the messages end. False, the default, cancels them.
    """

    peer: str
    transport: str = ""
    finishes: bool = False

    @abstractmethod
    def send(self, message: bytes) -> None:
        """Queue one JSON-RPC message without framing. Never block. If the connection is closed, drop the message."""

    @abstractmethod
    async def drain(self) -> None:
        """Wait until the queue has room for more messages."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connection."""

    async def delivered(self) -> None:
        """Wait, at most a few milliseconds, until the client has read all sent messages.

        A protocol calls this method if the client must read one message before the next arrives.
        """


class TransportContext(Protocol):
    """The host as a transport sees it. Its methods run on the host's event loop."""

    @property
    def standard_output(self) -> int:
        """The file descriptor for output to the parent process: 1, unless the command redirects standard output."""

    @property
    def stopping(self) -> bool:
        """True if the host is about to stop. Calls in flight continue. Tell clients to send no further calls."""

    async def wait_stopping(self) -> float:
        """Wait until the host is about to stop. Return the end of the grace period on the event loop's clock."""

    @property
    def public_hosts(self) -> Collection[str]:
        """The host names in the URLs of routes, from all authenticators."""

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """Report that the channel is open.

        Args:
            address: the address of the channel, for people: a URL or a path.
            local: True if only programs on this machine reach the channel, and no proxy forwards requests from other
                machines.
            policy: the route policy that admits the callers of message streams, as passed to `authenticate`. None if
                the channel has only HTTP requests.

        Raises:
            ConfigError: other machines can reach the channel, but a served route or stream has no authenticator.
        """

    async def open_stores(self) -> None:
        """Open the selected stores. An HTTP server calls this before it listens.

        Raises:
            PluginError: a store cannot be opened.
        """

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Authenticate a request with the authenticators of a policy. Return the caller, or the rejecting response.

        Authenticate the request that opens a stream, and pass the caller to `serve`, unchanged. A transport over HTTP,
        such as a WebSocket, passes on its own request, and sends a response unchanged. Another transport puts the
        credential that its client sends into `header_fields({"Authorization": f"Bearer {token}"})`. If a response is
        returned, it closes the channel and sends nothing. If the default policy has no authenticator, the caller is
        that of the request, or the operator if the request carries the operator token.

        A transport with credentials of its own uses a policy of its own, such as its name. Its plugin registers an
        authenticator of this policy, which admits no callers of HTTP routes.
        """

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve one connection until its messages end or its caller is no longer admitted. Then close the connection.

        Calls that still run are cancelled. The caller is no longer admitted when the token expires, or when the request
        of `authenticate`, which is authenticated again every 15 seconds, is refused or has another caller or fewer
        scopes. An anonymous caller is refused while the default policy has an authenticator.

        Args:
            connection: takes the responses.
            messages: the client's messages.
            caller: the caller: `pegboard.types.LOCAL` if the channel itself proves the operator, else the caller that
                `authenticate` returned.

        Returns:
            The number of requests without response.
        """

    async def respond(self, request: Request) -> Response | EventStream:
        """Return the response to one HTTP request. Never raises, except for `asyncio.CancelledError`.

        The request's `caller` must be `pegboard.types.LOCAL` if the channel proves that the operator sent it, else
        `ANONYMOUS`.
        """

    def begin(self, request: Request) -> Response | EventStream | Awaitable[Response | EventStream]:
        """Return the response to one HTTP request like `respond`, or an awaitable if the response is not ready.

        The method may be called outside any task. A task must await the awaitable. Both never raise, except for
        `asyncio.CancelledError` of the awaitable.
        """


class Transport(ABC):
    """Brings connections or HTTP requests to the host.

    Attributes:
        name: the name in `[host] transports`.
        drain_seconds: after SIGTERM, `TransportContext.stopping` is true for that time before `wait_stopping` returns,
            so that clients learn of the end while calls may still begin; 0 by default.
        workers: the number of processes in which `pegboard serve` opens it; 1 by default.
    """

    name: str
    drain_seconds: float = 0.0
    workers: int = 1

    @abstractmethod
    async def run(self, host: TransportContext) -> None:
        """Open the channel and serve it until it is cancelled or its input ends.

        It runs in its own task. If it fails after it has opened, the host starts it again after a delay. If it
        ends, the host stops the other transports.

        When it is cancelled, it stops listening. It may leave the tasks that serve its clients to the end of the
        process. It may also cancel them, since a cancelled `TransportContext.serve` cancels the calls, closes the
        connection and raises `asyncio.CancelledError`. Early releases of Python 3.11 and 3.12 log an error if this
        exception leaves a function of `asyncio.start_server`, so suppress it there.

        Raises:
            TransportError: the channel cannot be opened. The message tells the operator why.
        """

    def check(self, host: TransportContext) -> None:
        """Raise what `run` would raise before it opens the channel. `pegboard config check` calls it. Open nothing.

        Call `host.opened` like `run`, for its check of who can reach the address.
        """

    def asgi(self, host: TransportContext) -> AbstractAsyncContextManager[AsgiCallable] | None:
        """Return the ASGI application of a transport for HTTP, which `Host.asgi` serves. None for other transports.

        The application receives only scopes of the type "http". The host enters the context when it starts, and leaves
        it when it stops. `[host] transports` need not contain the transport.
        """
        return None


class ProtocolContext(Protocol):
    """The host as a protocol sees it. Its methods run on the host's event loop."""

    @property
    def stopping(self) -> bool:
        """True if the host is about to stop."""

    async def wait_stopping(self) -> float:
        """Wait until the host is about to stop. Return the end of the grace period on the event loop's clock."""

    @property
    def restarting(self) -> Collection[str]:
        """The names of the transports that have failed and are not open again yet."""

    @property
    def problem(self) -> str:
        """The reason why this process should get no requests now, such as unreachable shared state; "" for none."""

    @property
    def identity(self) -> Identity:
        """The identity of the host."""

    def offers(self, kind: ItemKind | Literal["completions"]) -> bool:
        """Return True if the host lists items of that kind, or completes any argument."""

    @property
    def contributed(self) -> Contributions:
        """The current additions of plugins. The protocol advertises them and decides which client may call them."""

    def hears(self, method: str) -> bool:
        """Return True if a handler or middleware receives notifications of that name."""

    def tool(self, name: str, caller: Caller) -> Tool | None:
        """Return the tool with that name on the wire. Return None if the caller has no access to such a tool."""

    def subscribe(self, uri: str, call: Call) -> MCPError | None:
        """Notify a resource that a client subscribes to it (`ResourceDefinition.subscribed`).

        Return the error if a `Gate` or the filter of the call (`Call.serves`) rejects the subscription, else None.
        """

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call a listener after every change of the catalogue. Return a function that stops it.

        The listener runs on the event loop, once the change is visible, and must not block. If it raises, the host logs
        it.
        """

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Authenticate a request again, for example to end its stream when its caller is no longer admitted.

        Set `request.caller` to `request.channel` before. Return the caller, or the response that refuses the request;
        a response with status 500 or above does not refuse the caller.
        """

    async def store(self, contract: type[Any], name: str) -> Any:
        """Return the store of that contract and name, which a setting marked with `StoreName` selects.

        Raises:
            PluginError: no setting selects the store, or it cannot be opened.
        """

    def session_started(self, key: Hashable, session: SessionInfo) -> None:
        """Report the start of a session to observers. `key` identifies it among all sessions of the host."""

    def session_ended(self, key: Hashable) -> None:
        """Report the end of a session to observers. Ignore an unknown key."""

    def dispatch(self, call: Call) -> Awaitable[Outcome]:
        """Run one call through middleware and return its outcome. Never raises, except for `asyncio.CancelledError`."""


class StreamProtocol(ABC):
    """Speaks a protocol over message streams.

    Attributes:
        name: the name of the protocol in messages.
    """

    name: str

    @abstractmethod
    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> int | None:
        """Respond to the messages of one connection until they end.

        Then cancel the calls that still run, or complete them (`Connection.finishes`).

        Args:
            connection: takes the responses.
            messages: the messages of one client.
            host: the host.
            caller: the caller of all messages.

        Returns:
            The number of requests without response; None for zero.
        """

    def check_tool(self, tool: Tool) -> None:
        """Check a tool before the host serves it, in the thread that adds the tool.

        Raises:
            ToolDefinitionError: clients of the protocol would reject the tool.
        """
