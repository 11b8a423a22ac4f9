"""What every transport of message streams must do (`pegboard.Transport`, `pegboard.Connection`)."""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import ClassVar, Literal
from unittest import SkipTest

from pegboard.errors import TransportError
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.plugin.transports import Connection, Transport
from pegboard.testing.contracts.contract import Contract, rule
from pegboard.testing.contracts.stream_clients import FarEnd
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.http import EventStream, Request, Response

logger = logging.getLogger("pegboard.testing")

Serving = Callable[[Connection, AsyncIterable[bytes]], Awaitable[None]]


class StandIn:
    """A host that a transport is run with: it serves connections as a rule wants it.

    Attributes:
        addresses: what the transport has said it is open at.
        connections: those that came, in their order.
        callers: who each of them is, as the transport says.
        asked: the requests that it was asked to authenticate.
        open: the transport has said so, or a connection has come.
        served: a connection is done.
        run: the transport's task.
    """

    run: asyncio.Task[None]

    def __init__(self, serving: Serving, found: Caller | Response = ANONYMOUS) -> None:
        self.addresses: list[str] = []
        self.connections: list[Connection] = []
        self.callers: list[Caller] = []
        self.asked: list[Request] = []
        self._found = found
        self.open = asyncio.Event()
        self.served = asyncio.Event()
        self.stopping = False
        self.standard_output = 1
        self._serving = serving

    async def wait_stopping(self) -> None:
        """It never stops by itself."""
        await asyncio.get_running_loop().create_future()

    @property
    def public_hosts(self) -> Collection[str]:
        """It has no routes."""
        return ()

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """The channel is open."""
        self.addresses.append(address)
        self.open.set()

    async def open_stores(self) -> None:
        """There are none."""

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Give every request the same caller, or the same refusal."""
        self.asked.append(request)
        return self._found

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve a connection and close it, as the real host does, which logs what goes wrong with it."""
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
        """There is no HTTP here."""
        return Response(404)


async def _echo(connection: Connection, messages: AsyncIterable[bytes]) -> None:
    async for message in messages:
        connection.send(bytes(message).strip())


class TransportContract(Contract[Transport]):
    """The rules of a `pegboard.Transport` that brings message streams.

    Attributes:
        many: it takes several clients at once, and goes on when one is gone; else it ends with its only client.
        announces: it tells the host where it is open.
        large: how long a message is that it must carry, in bytes.
        trust: what makes a caller known: "nothing"; "channel", if only the operator has it, such as standard input; or
            "host", if it asks `TransportContext.authenticate`.
    """

    many: ClassVar[bool] = True
    announces: ClassVar[bool] = True
    large: ClassVar[int] = 1_000_000
    trust: ClassVar[Literal["nothing", "channel", "host"]] = "nothing"

    @abstractmethod
    def make(self) -> Transport | Awaitable[Transport]:
        """A transport that does not run yet, on a channel that nobody else uses."""

    @abstractmethod
    async def connect(self, transport: Transport) -> FarEnd:
        """A client of a transport that runs; `Lines` where messages are lines."""

    def make_unopenable(self) -> Transport | None:
        """One whose channel cannot be opened, None where there is no such thing."""
        return None

    # --- what it says of itself

    @rule
    async def test_it_has_a_name(self, transport: Transport) -> None:
        """`[host] transports` lists it."""
        assert isinstance(transport.name, str), f"its name is {transport.name!r}"
        assert transport.name.strip(), "its name is empty"

    @rule
    async def test_it_says_where_it_is_open(self, transport: Transport) -> None:
        """Once, for people, when clients can come."""
        if not self.announces:
            raise SkipTest("it is open from the start")
        async with self._running(transport) as host:
            assert len(host.addresses) == 1, f"it said that it is open {len(host.addresses)} times"
            assert host.addresses[0].strip(), "the address is empty"

    @rule
    async def test_who_is_there_is_known(self, transport: Transport) -> None:
        """The log names the peer."""
        async with self._running(transport) as host, self._client(transport) as client:
            await client.send(b'"hello"')
            await client.receive()
            (connection,) = host.connections
            assert isinstance(connection.peer, str), f"the peer is {connection.peer!r}"
            assert connection.peer.strip(), "the peer is empty"

    @rule
    async def test_nobody_is_trusted_by_accident(self, transport: Transport) -> None:
        """A caller is trusted if the channel is the operator's alone, or if the host says so."""
        async with self._running(transport) as host, self._client(transport) as client:
            await client.send(b'"hello"')
            await client.receive()
            (caller,) = host.callers
            assert isinstance(caller, Caller), f"the caller is {caller!r}"
            assert caller.trusted == (self.trust == "channel"), f"the caller is {caller!r}"

    @rule
    async def test_the_caller_is_the_one_that_the_host_found(self, transport: Transport) -> None:
        """It is nobody else's."""
        if self.trust != "host":
            raise SkipTest("`trust` is not 'host'")
        async with self._running(transport, found=Caller("ada")) as host, self._client(transport) as client:
            await client.send(b'"hello"')
            await client.receive()
            assert host.callers == [Caller("ada")], f"the callers are {host.callers!r}"

    @rule
    async def test_a_caller_that_the_host_refuses_is_not_served(self, transport: Transport) -> None:
        """The refusal goes back as it is, and no stream begins."""
        if self.trust != "host":
            raise SkipTest("`trust` is not 'host'")
        async with self._running(transport, found=Response(401)) as host:
            answer = None
            with suppress(Exception):  # which is how a client may tell of a refusal
                async with self._client(transport) as client:
                    await client.send(b'"hello"')
                    answer = await client.receive()
            assert answer is None, "the client got an answer"
            assert host.asked, "the host was not asked"
            assert not host.connections, "the connection was served"

    @rule
    async def test_a_channel_that_cannot_be_opened_is_a_transport_error(self, transport: Transport) -> None:
        """The operator is told in one line, and the command ends with a code of its own."""
        closed = self.make_unopenable()
        if closed is None:
            raise SkipTest("`make_unopenable` gives none")
        error = None
        try:
            await closed.run(StandIn(_echo))
        except TransportError as raised:
            error = raised
        assert error is not None, "it ended without an error"
        assert error.message.strip(), "the error has no message"

    # --- messages

    @rule
    async def test_messages_arrive_as_they_were_sent(self, transport: Transport) -> None:
        """One by one, in order, every byte of them, in both directions."""
        sent = [
            b"{}",
            b'"\xe2\x82\xac \\n"',
            b'{"a": "' + b"x" * 5000 + b'"}',
            *(b"%d" % number for number in range(100)),
        ]
        async with self._running(transport), self._client(transport) as client:
            for message in sent:
                await client.send(message)
            received = [await client.receive() for _ in sent]
            assert received == sent, f"{_first_difference(sent, received)}"

    @rule
    async def test_a_large_message_arrives_whole(self, transport: Transport) -> None:
        """Results may be long, and arguments too."""
        message = b'"' + b"x" * (self.large - 2) + b'"'
        async with self._running(transport), self._client(transport) as client:
            sending = asyncio.create_task(client.send(message))
            received = await client.receive()
            await sending
            assert received == message, f"of {len(message)} bytes came {len(received or b'')}"

    @rule
    async def test_it_waits_for_who_reads_slowly(self, transport: Transport) -> None:
        """`send` never waits, and `drain` does, until the client has taken enough: memory is not without end."""
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
            assert first == message, "the first message is not what was sent"
            assert not drained.is_set(), f"drain did not wait, with {many} messages of {len(message)} bytes sent"
            for _ in range(many - 1):
                assert await client.receive() == message, "a message was lost or changed"
            await drained.wait()

    # --- how connections end

    @rule
    async def test_the_end_of_a_client_ends_its_messages(self, transport: Transport) -> None:
        """What still runs for it is then cancelled, and nothing is left of it."""
        async with self._running(transport) as host:
            async with self._client(transport) as client:
                await client.send(b'"hello"')
                await client.receive()
            await host.served.wait()

    @rule
    async def test_what_is_sent_to_nobody_is_dropped(self, transport: Transport) -> None:
        """A client may be gone at any time: neither sending nor draining nor closing again is a fault."""
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
    async def test_a_connection_that_the_host_ends_ends(self, transport: Transport) -> None:
        """What was sent before arrives; then the client sees the end, or the only client's transport ends itself."""

        async def once(connection: Connection, messages: AsyncIterable[bytes]) -> None:
            async for _ in messages:
                connection.send(b'"bye"')
                return

        async with self._running(transport, once) as host, self._client(transport) as client:
            await client.send(b'"hello"')
            assert await client.receive() == b'"bye"', "what was sent before the end did not arrive"
            if self.many:
                assert await client.receive() is None, "the client was not told of the end"
            else:
                await asyncio.wait((host.run,))

    @rule
    async def test_clients_are_served_side_by_side(self, transport: Transport) -> None:
        """Each gets its own answers, and one that breaks off harms no other."""
        if not self.many:
            raise SkipTest("it takes one client")
        async with self._running(transport) as host, AsyncExitStack() as clients:
            one, other, third = [await clients.enter_async_context(self._client(transport)) for _ in range(3)]
            for number in range(10):
                await one.send(b'"one %d"' % number)
                await other.send(b'"other %d"' % number)
            await third.send(b'"breaks off"')
            await third.close()
            for number in range(10):
                assert await other.receive() == b'"other %d"' % number
                assert await one.receive() == b'"one %d"' % number
            await host.served.wait()
            await one.send(b'"still here"')
            assert await one.receive() == b'"still here"', "a client that broke off took another along"

    # --- how it ends itself

    @rule
    async def test_it_ends_when_it_is_cancelled(self, transport: Transport) -> None:
        """With a client connected, and soon; the host counts on it when it stops."""
        async with self._running(transport) as host:
            async with self._client(transport) as client:
                await client.send(b'"hello"')
                await client.receive()
                host.run.cancel()
                await asyncio.wait((host.run,))
                assert host.run.cancelled(), "it took the cancellation for its own end, or failed"
            await host.served.wait()

    @rule
    async def test_it_can_be_run_again(self, transport: Transport) -> None:
        """The host starts a transport again that died."""
        if not self.many:
            raise SkipTest("it takes one client, and is then done")
        for _ in range(2):
            async with self._running(transport), self._client(transport) as client:
                await client.send(b'"hello"')
                assert await client.receive() == b'"hello"'

    @asynccontextmanager
    async def _running(
        self, transport: Transport, serving: Serving = _echo, found: Caller | Response = ANONYMOUS
    ) -> AsyncIterator[StandIn]:
        host = StandIn(serving, found)
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

    @asynccontextmanager
    async def _client(self, transport: Transport) -> AsyncIterator[FarEnd]:
        client = await self.connect(transport)
        try:
            yield client
        finally:
            await client.close()


def _first_difference(sent: list[bytes], received: list[bytes | None]) -> str:
    for one, other in zip(sent, received, strict=True):
        if one != other:
            return f"{one[:80]!r} was sent, and {other and other[:80]!r} arrived"
    return ""
