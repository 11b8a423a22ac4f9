"""The seam between transports of message streams and the protocols spoken on them."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pegboard.plugin.methods import Contributions
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.calls import Call, Outcome
from pegboard.types.catalogue import Change, Identity, ItemKind, Tool
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.errors import MCPError


class Connection(Protocol):
    """A peer's message stream, as a transport sees it.

    A connection may have another method, `async def delivered(self)`. It waits until the peer has read what was sent, a
    few milliseconds at most. A protocol calls it where a client has to read one message before the next is there.
    It may have an attribute `finishes`. If that is True, the calls that run when the messages end are run to their end
    and answered; else they are cancelled.

    Attributes:
        peer: who is at the other end, for logs.
    """

    peer: str

    def send(self, message: bytes) -> None:
        """Queue one JSON-RPC message; framing is the transport's. Never blocks; a closed connection drops it."""

    async def drain(self) -> None:
        """Wait until the peer has taken enough of what was queued for more to be sent."""

    async def close(self) -> None:
        """End the connection."""


class TransportContext(Protocol):
    """The host as a transport sees it."""

    @property
    def standard_output(self) -> int:
        """The descriptor of the client that started this process; 1, unless the program keeps descriptor 1 from it."""
        ...

    @property
    def stopping(self) -> bool:
        """Whether the host is about to end: what is in flight goes on, nothing new should begin."""
        ...

    async def wait_stopping(self) -> None:
        """Wait until the host is about to end."""

    @property
    def public_hosts(self) -> Collection[str]:
        """The hosts by which clients call the routes, as authenticators name them."""
        ...

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """Say that the channel is open.

        Args:
            address: where it is reached, for people: a URL or a path.
            local: only programs of this machine reach it, and no proxy passes on requests of others.
            policy: the route policy that admits callers of message streams there, as `authenticate` is asked for it;
                None for a channel that brings HTTP requests alone.

        Raises:
            ConfigError: others reach it, and something that is served there has no authenticator.
        """

    async def open_stores(self) -> None:
        """Open the stores that settings select. An HTTP server calls this before it listens.

        Raises:
            PluginError: a store cannot be opened.
        """

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Return the caller of a request, or the response that refuses it, as the routes of a policy do.

        For transports that bring message streams over HTTP, such as a WebSocket: ask with the request that opens the
        stream, send a response back as it is, and give a caller to `serve`. Without an authenticator for the policy
        "mcp" the caller is the request's own, or the operator where the request carries the operator token.
        """
        ...

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Answer the messages of one connection until they end, or the caller's token does.

        Cancel what still runs, and close the connection. An anonymous caller is not served while an authenticator is
        configured for the policy "mcp".

        Args:
            connection: takes the answers.
            messages: what the peer sends.
            caller: who sends it: `pegboard.LOCAL` where the channel itself proves that it is the operator, else what
                `authenticate` returned.

        Returns:
            The number of requests that were not answered.
        """
        ...

    async def respond(self, request: Request) -> Response | EventStream:
        """Answer one HTTP request by the route it belongs to. Never raises, but for `asyncio.CancelledError`.

        The request's `caller` is `pegboard.LOCAL` where the channel proves that the operator sent it, else `ANONYMOUS`.
        """
        ...


class Transport(Protocol):
    """Brings connections to the host."""

    name: str

    async def run(self, host: TransportContext) -> None:
        """Open the channel and serve its connections, until cancelled or until its input ends.

        Raises:
            TransportError: the channel cannot be opened; the message tells the operator why.
        """


class ProtocolContext(Protocol):
    """The host as a protocol sees it."""

    @property
    def stopping(self) -> bool:
        """Whether the host is about to end."""
        ...

    async def wait_stopping(self) -> None:
        """Wait until the host is about to end."""

    @property
    def identity(self) -> Identity:
        """How the host introduces itself."""
        ...

    def offers(self, kind: ItemKind | Literal["completions"]) -> bool:
        """Whether there is anything of that kind to list, or anything to complete."""
        ...

    @property
    def contributed(self) -> Contributions:
        """What plugins add to the protocol, as it is now; the protocol advertises it, and says who may call it."""
        ...

    def hears(self, method: str) -> bool:
        """Whether a notification of that name leads anywhere: to the plugin that handles it, or to middleware."""
        ...

    def tool(self, name: str, caller: Caller) -> Tool | None:
        """The tool that a caller reaches by that name on the wire, None when there is none for them."""
        ...

    def refused(self, uri: str, call: Call) -> MCPError | None:
        """Why a call may not begin to hear of a resource, None where it may: what a `Gate` has against it."""
        ...

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call a listener for every change of what the host serves; returns how to stop.

        It is called on the event loop, once the change can be seen, and must not block; one that raises is logged.
        """
        ...

    async def store(self, contract: type[Any], name: str) -> Any:
        """Return the store of that contract and name, which a setting marked with `StoreName` selects.

        Raises:
            PluginError: no setting selects the store, or it cannot be opened.
        """

    def dispatch(self, call: Call) -> Awaitable[Outcome]:
        """Run one call through middleware to its end. Never raises, but for `asyncio.CancelledError`."""
        ...


class StreamProtocol(Protocol):
    """Speaks a protocol of messages over a connection.

    A protocol may have a method `check_tool(tool: Tool) -> None`. The host calls it with each tool before it serves the
    tool. It raises `ToolDefinitionError` for a tool that clients of the protocol would reject.
    """

    name: str

    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> int | None:
        """Answer every message until they end. Then cancel what still runs, or finish it: see `Connection`.

        All are sent by one caller.

        Returns:
            The number of requests that were not answered.
        """
