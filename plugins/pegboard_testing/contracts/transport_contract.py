"""The rules of transports of message streams (`pegboard.plugin.Transport`, `pegboard.plugin.Connection`)."""

from __future__ import annotations

import asyncio
import logging
import re
from abc import abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from ipaddress import ip_address
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, Protocol
from unittest import SkipTest
from urllib.parse import urlsplit

from pegboard.errors import TransportError
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.plugin.transports import Connection, Transport
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.http import EventStream, Request, Response
from pegboard_testing.contracts.contract import Contract, disposed_of, rule

# --- The client's end of a connection.


class FarEnd(Protocol):
    """The client's end of a connection, as the test of a transport opens it."""

    async def send(self, message: bytes) -> None:
        """Send one message, in the framing of the transport."""

    async def receive(self) -> bytes | None:
        """Return the next message without its framing, None after the host has ended the connection."""

    async def close(self) -> None:
        """End the connection, as a client does."""


class Lines:
    """The client's end of a socket or a pipe with one message per line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: bytes) -> None:
        """Send one message."""
        self._writer.write(message + b"\n")
        await self._writer.drain()

    async def receive(self) -> bytes | None:
        """Return the next message, None at the end."""
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        return line.removesuffix(b"\n") if line else None

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


# --- The host that the rules use.

logger = logging.getLogger("pegboard.testing")

Serving = Callable[[Connection, AsyncIterable[bytes]], Awaitable[None]]

USERS: Mapping[str, Caller] = MappingProxyType(
    {f"Bearer contract-token-of-{name}": Caller(f"contract-{name}") for name in ("ada", "eve")}
)
"""The callers that the host of the rules knows, by their header `Authorization`."""
ADA, EVE = USERS


class Announced(NamedTuple):
    """An address as the transport announced it (`TransportContext.opened`)."""

    address: str
    local: bool
    policy: str | None


class StandIn:
    """A host for the transport under test. Each rule sets how this host serves connections.

    It admits the callers in `USERS`.

    Attributes:
        announced: the addresses that the transport announced.
        connections: the connections, in their order.
        callers: the caller of each connection, as the transport identified it.
        asked: the requests to authenticate.
        fault: a mistake in a request to authenticate, else "".
        open: set after the announcement, or after the first connection.
        served: set after a connection has ended.
        run: the task of the transport.
    """

    run: asyncio.Task[None]

    def __init__(self, serving: Serving) -> None:
        self.announced: list[Announced] = []
        self.connections: list[Connection] = []
        self.callers: list[Caller] = []
        self.asked: list[Request] = []
        self.fault = ""
        self.open = asyncio.Event()
        self.served = asyncio.Event()
        self.stopping = False
        self.standard_output = 1
        self._serving = serving

    async def wait_stopping(self) -> float:
        """Wait. This host never stops."""
        await asyncio.get_running_loop().create_future()
        return 0.0

    @property
    def public_hosts(self) -> Collection[str]:
        """The names of the host. This host has no routes."""
        return ()

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """Record the address."""
        self.announced.append(Announced(address, local, policy))
        self.open.set()

    async def open_stores(self) -> None:
        """Do nothing. This host has no stores."""

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Return the caller of a known credential, or status 401."""
        self.asked.append(request)
        if not hasattr(request.headers, "getall"):
            self.fault = (
                f"`Request.headers` is a {type(request.headers).__name__}: pass `pegboard.types.header_fields(...)`"
            )
        return USERS.get(request.headers.get("Authorization") or "", Response(401))

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve a connection and close it, and log its errors, as the real host does."""
        self.connections.append(connection)
        self.callers.append(caller)
        self.open.set()
        try:
            await self._serving(connection, messages)
        except Exception:
            logger.exception("the connection of %s ended by a fault", connection.peer)
        finally:
            await connection.close()
            self.served.set()
        return 0

    async def respond(self, request: Request) -> Response | EventStream:
        """Return 404. This host has no routes."""
        return Response(404)

    def begin(self, request: Request) -> Response:
        """Return 404, like `respond`."""
        return Response(404)


async def echo(connection: Connection, messages: AsyncIterable[bytes]) -> None:
    """Send every message back."""
    async for message in messages:
        connection.send(bytes(message).removesuffix(b"\n").removesuffix(b"\r"))


# --- The rules.


class TransportContract(Contract[Transport]):
    """The rules of a transport of message streams.

    Attributes:
        many: it serves several clients, and continues after one is gone; otherwise it ends with its only client.
        announces: it announces its address to the host.
        large: the length of a message that it must carry, in bytes.
        trust: how it identifies callers: "nothing"; "channel" if only the operator has access, such as standard input;
            or "host" if it calls `TransportContext.authenticate`.
    """

    many: ClassVar[bool] = True
    announces: ClassVar[bool] = True
    large: ClassVar[int] = 1_000_000
    trust: ClassVar[Literal["nothing", "channel", "host"]] = "nothing"

    @abstractmethod
    def make(self) -> Transport | Awaitable[Transport]:
        """Return a transport that is not started, on a new channel."""

    @abstractmethod
    async def connect(self, transport: Transport) -> FarEnd:
        """Return a client of a running transport, without credentials; `Lines` if messages are lines."""

    async def connect_with(self, transport: Transport, headers: Mapping[str, str]) -> FarEnd:
        """Return a client that sends these header fields to open the stream. Implement it if `trust` is "host".

        The transport must pass the fields on to `TransportContext.authenticate`.
        """
        raise NotImplementedError('`trust` is "host": implement `connect_with`, whose clients send header fields')

    def make_public(self) -> Transport | Awaitable[Transport] | None:
        """Return a transport that other machines can reach, such as one on all interfaces; None if there is none."""
        return None

    def make_unopenable(self) -> Transport | None:
        """Return a transport whose channel cannot be opened. Return None if every channel can be opened."""
        return None

    # --- name, address and callers

    @rule
    async def test_it_has_a_name(self, transport: Transport) -> None:
        """`[host] transports` lists the name."""
        assert isinstance(transport.name, str), f"its name is {transport.name!r}"
        assert transport.name.strip(), "its name is empty"

    @rule
    async def test_it_announces_its_address(self, transport: Transport) -> None:
        """It announces its address once, when clients can connect."""
        if not self.announces:
            raise SkipTest("it announces no address")
        async with self._running(transport) as host:
            assert len(host.announced) == 1, f"it announced {len(host.announced)} addresses"
            assert host.announced[0].address.strip(), "the address is empty"

    @rule
    async def test_only_local_addresses_are_announced_as_local(self, transport: Transport) -> None:
        """The host requires authentication of a channel that is not local."""
        async with self._running(transport) as host:
            for address, local, _ in host.announced:
                assert not local or _is_local(address), f"it announced {address} with local=True"

    @rule
    async def test_a_public_address_is_announced_as_public(self, transport: Transport) -> None:
        """The host does not start if other machines reach the channel and the policy has no authenticator."""
        made = self.make_public()
        if made is None:
            raise SkipTest("`make_public` returns None")
        async with disposed_of(self, made) as public, self._running(public) as host:
            for address, local, policy in host.announced:
                assert not local, f"it announced {address} with local=True, and other machines reach it"
                assert policy is not None, f"it announced {address} without the policy of its callers"
            assert host.announced, "it announced no address"

    @rule
    async def test_a_connection_names_its_peer(self, transport: Transport) -> None:
        """The log names the peer."""
        async with self._running(transport) as host, self._client(transport) as client:
            await client.send(b'"hello"')
            await client.receive()
            (connection,) = host.connections
            assert isinstance(connection.peer, str), f"the peer is {connection.peer!r}"
            assert connection.peer.strip(), "the peer is empty"

    @rule
    async def test_only_trusted_callers_are_trusted(self, transport: Transport) -> None:
        """A caller is trusted if only the operator has access to the channel, or if the host decides so."""
        async with self._running(transport) as host, self._client(transport) as client:
            await client.send(b'"hello"')
            await client.receive()
            (caller,) = host.callers
            assert isinstance(caller, Caller), f"the caller is {caller!r}"
            assert caller.trusted == (self.trust == "channel"), f"the caller is {caller!r}"

    @rule
    async def test_the_host_identifies_the_caller(self, transport: Transport) -> None:
        """The connection has the caller that `authenticate` returned."""
        if self.trust != "host":
            raise SkipTest("`trust` is not 'host'")
        for credential, caller in USERS.items():
            async with self._running(transport) as host, self._client(transport, credential) as client:
                await client.send(b'"hello"')
                await client.receive()
                assert host.callers == [caller], f"the callers are {host.callers!r}, and {credential!r} was sent"

    @rule
    async def test_a_rejected_caller_is_not_served(self, transport: Transport) -> None:
        """The client receives the rejection, and no stream begins, whoever was served before."""
        if self.trust != "host":
            raise SkipTest("`trust` is not 'host'")
        async with self._running(transport) as host:
            async with self._client(transport) as admitted:
                await admitted.send(b'"hello"')
                await admitted.receive()
            for credential in (None, f"{ADA}x"):
                host.asked.clear()
                answer = None
                with suppress(Exception):  # a client may raise because of the rejection
                    async with self._client(transport, credential) as client:
                        await client.send(b'"hello"')
                        answer = await client.receive()
                assert answer is None, "the client received a message"
                assert host.asked, "the transport did not call `authenticate`"
                assert len(host.connections) == 1, "the connection was served"

    @rule
    async def test_an_unopenable_channel_is_a_transport_error(self, transport: Transport) -> None:
        """The command reports it in one line and has an exit code for it."""
        closed = self.make_unopenable()
        if closed is None:
            raise SkipTest("`make_unopenable` returns None")
        error = None
        try:
            await closed.run(StandIn(echo))
        except TransportError as raised:
            error = raised
        assert error is not None, "it ended without an error"
        assert error.message.strip(), "the error has no message"

    # --- messages

    @rule
    async def test_messages_arrive_unchanged(self, transport: Transport) -> None:
        """All bytes of all messages arrive, in order and in both directions."""
        sent = [
            b"{}",
            b'"\xe2\x82\xac \\n"',
            b'{"a": "' + b"x" * 5000 + b'"}',
            b' \t{"a": " \t"}\t ',
            *(b"%d" % number for number in range(100)),
        ]
        async with self._running(transport), self._client(transport) as client:
            for message in sent:
                await client.send(message)
            received = [await client.receive() for _ in sent]
            assert received == sent, f"{_first_difference(sent, received)}"

    @rule
    async def test_a_large_message_arrives(self, transport: Transport) -> None:
        """Arguments and results may be large."""
        message = b'"' + b"x" * (self.large - 2) + b'"'
        async with self._running(transport), self._client(transport) as client:
            sending = asyncio.create_task(client.send(message))
            received = await client.receive()
            await sending
            assert received == message, f"{len(received or b'')} of {len(message)} bytes arrived"

    @rule
    async def test_drain_waits_for_a_slow_reader(self, transport: Transport) -> None:
        """`send` never waits. `drain` waits until the client has read enough, which limits memory."""
        drained = asyncio.Event()
        many, message = 64, b'"' + b"x" * 262_144 + b'"'

        async def flood(connection: Connection, messages: AsyncIterable[bytes]) -> None:
            async for _ in messages:
                for _ in range(many):
                    connection.send(message)
                await connection.drain()
                drained.set()

        async with self._running(transport, flood), self._client(transport) as client:
            await client.send(b'"go"')
            first = await client.receive()
            assert first == message, "the first message was changed"
            assert not drained.is_set(), f"drain did not wait, with {many} messages of {len(message)} bytes sent"
            for _ in range(many - 1):
                assert await client.receive() == message, "a message was lost or changed"
            await drained.wait()

    # --- ends of connections

    @rule
    async def test_messages_end_with_the_client(self, transport: Transport) -> None:
        """The host then cancels the calls of the client."""
        async with self._running(transport) as host:
            async with self._client(transport) as client:
                await client.send(b'"hello"')
                await client.receive()
            await host.served.wait()

    @rule
    async def test_a_closed_connection_drops_messages(self, transport: Transport) -> None:
        """A client may be gone at any time: `send`, `drain` and `close` do not raise."""
        async with self._running(transport) as host:
            async with self._client(transport) as client:
                await client.send(b'"hello"')
                await client.receive()
            await host.served.wait()
            (connection,) = host.connections
            for _ in range(3):
                connection.send(b'"too late"')
                await connection.drain()
                await connection.close()

    @rule
    async def test_the_host_can_end_a_connection(self, transport: Transport) -> None:
        """Earlier messages arrive. Then the client sees the end, or the transport of the only client ends."""

        async def once(connection: Connection, messages: AsyncIterable[bytes]) -> None:
            async for _ in messages:
                connection.send(b'"bye"')
                return

        async with self._running(transport, once) as host, self._client(transport) as client:
            await client.send(b'"hello"')
            assert await client.receive() == b'"bye"', "a message from before the end did not arrive"
            if self.many:
                assert await client.receive() is None, "the client did not see the end"
            else:
                await asyncio.wait((host.run,))

    @rule
    async def test_clients_are_served_concurrently(self, transport: Transport) -> None:
        """Each client receives its own messages. A client that disconnects does not affect others."""
        if not self.many:
            raise SkipTest("it serves one client only")
        async with self._running(transport) as host, AsyncExitStack() as clients:
            first, second, third = [await clients.enter_async_context(self._client(transport)) for _ in range(3)]
            for number in range(10):
                await first.send(b'"one %d"' % number)
                await second.send(b'"other %d"' % number)
            await third.send(b'"breaks off"')
            await third.close()
            for number in range(10):
                assert await second.receive() == b'"other %d"' % number
                assert await first.receive() == b'"one %d"' % number
            await host.served.wait()
            await first.send(b'"still here"')
            assert await first.receive() == b'"still here"', "a client that disconnected affected another one"

    # --- end of the transport

    @rule
    async def test_it_ends_if_it_is_cancelled(self, transport: Transport) -> None:
        """It ends soon, even with a connected client. The host relies on that when it stops."""
        async with self._running(transport) as host:
            async with self._client(transport) as client:
                await client.send(b'"hello"')
                await client.receive()
                host.run.cancel()
                await asyncio.wait((host.run,))
                assert host.run.cancelled(), "it suppressed the cancellation, or failed"
            await host.served.wait()

    @rule
    async def test_it_can_be_run_again(self, transport: Transport) -> None:
        """The host restarts a transport that failed."""
        if not self.many:
            raise SkipTest("it serves one client only")
        for _ in range(2):
            async with self._running(transport), self._client(transport) as client:
                await client.send(b'"hello"')
                assert await client.receive() == b'"hello"'

    @asynccontextmanager
    async def _running(self, transport: Transport, serving: Serving = echo) -> AsyncIterator[StandIn]:
        host = StandIn(serving)
        host.run = asyncio.create_task(transport.run(host))
        opening = asyncio.create_task(host.open.wait())
        try:
            await asyncio.wait((host.run, opening), return_when=asyncio.FIRST_COMPLETED)
            if not host.open.is_set():
                host.run.result()
                raise AssertionError("it ended before it was open, and without an error")
            yield host
        finally:
            opening.cancel()
            host.run.cancel()
            await asyncio.wait((host.run,))
            assert not host.fault, host.fault

    @asynccontextmanager
    async def _client(self, transport: Transport, credential: str | None = ADA) -> AsyncIterator[FarEnd]:
        """Connect a client, with a credential if the host identifies callers."""
        if self.trust == "host" and credential is not None:
            client = await self.connect_with(transport, {"Authorization": credential})
        else:
            client = await self.connect(transport)
        try:
            yield client
        finally:
            await client.close()


def _is_local(address: str) -> bool:
    """Return True for a path, and for a URL of this machine."""
    is_network = "://" in address or re.fullmatch(r"[^/\\]+:\d+", address)
    host = urlsplit(address if "://" in address else f"//{address}").hostname if is_network else None
    try:
        return host in (None, "localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def _first_difference(sent: list[bytes], received: list[bytes | None]) -> str:
    for message, other in zip(sent, received, strict=True):
        if message != other:
            return f"{message[:80]!r} was sent, and {other and other[:80]!r} arrived"
    return ""
