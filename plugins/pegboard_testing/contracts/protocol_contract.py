"""The rules of protocols of message streams (`pegboard.plugin.StreamProtocol`)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from pegboard import Context, Toolkit
from pegboard.errors import ToolDefinitionError
from pegboard.host import Host
from pegboard.plugin.transports import StreamProtocol
from pegboard.types.callers import ANONYMOUS, LOCAL, Caller
from pegboard.types.catalogue import Tool
from pegboard_testing.contracts.contract import Contract, rule
from pegboard_testing.in_memory_host import ConnectOptions, Observed, in_memory_host
from pegboard_testing.protocol_client import MemoryConnection

ANSWER, FAIL, WAIT = "contract_answer", "contract_fail", "contract_wait"
"""The tools of the host. None of them has arguments."""
CANARY = "contract-canary-0123456789"
"""The text of an unexpected exception. No client may receive it."""
INVALID_MESSAGES = (b"", b"\0", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 5000, b"x" * 100_000)
"""Messages that no protocol expects."""
MAX_UNREAD_CALLS = 2000
"""How many calls of a client that reads no answers a protocol may take."""
PATIENCE_TURNS = 500
"""The turns of the event loop without progress after which a protocol counts as waiting."""


class ClientEnd(MemoryConnection):
    """A client of the protocol, and what it received.

    Attributes:
        received: the messages of the protocol.
        readable: set while the client reads; `drain` waits for it.
    """

    def __init__(self, *, finishes: bool = False) -> None:
        self.received: list[bytes] = []
        super().__init__(self.received.append)
        self.finishes = finishes
        self.readable = asyncio.Event()
        self.readable.set()

    async def drain(self) -> None:
        """Wait until the client reads."""
        await super().drain()
        await self.readable.wait()


class Served:
    """The tools of the host, and what their calls have done.

    Attributes:
        callers: the subject of each caller of the tool `contract_answer`.
        waiting: set when the tool `contract_wait` has begun.
        free: set to end the calls of `contract_wait`.
        cancelled: how many calls of `contract_wait` were cancelled.
        host: the host.
    """

    host: Host

    def __init__(self) -> None:
        self.callers: list[str | None] = []
        self.waiting = asyncio.Event()
        self.free = asyncio.Event()
        self.cancelled = 0

    def kit(self) -> Toolkit:
        """Return the toolkit."""
        kit = Toolkit("contract", prefix=False)
        kit.tool(name=ANSWER, inline=True)(self._answer)
        kit.tool(name=FAIL, inline=True)(self._fail)
        kit.tool(name=WAIT)(self._wait)
        return kit

    def _answer(self, context: Context) -> str:
        """Answer."""
        self.callers.append(context.user_id)
        return "contract answer"

    def _fail(self) -> str:
        """Fail."""
        raise KeyError(CANARY)

    async def _wait(self) -> str:
        """Wait."""
        self.waiting.set()
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "contract answer"


class StreamProtocolContract(Contract[StreamProtocol]):
    """The rules of a protocol of message streams. A host serves tools without arguments to clients of the protocol."""

    @abstractmethod
    def make(self) -> StreamProtocol | Awaitable[StreamProtocol]:
        """Return a protocol."""

    @abstractmethod
    def call(self, tool: str, number: int) -> bytes:
        """Return the message that calls a tool without arguments.

        Args:
            tool: the name of the tool.
            number: the number of the call among those of its connection, from 1.
        """

    def opening(self) -> Sequence[bytes]:
        """Return the messages that a client sends before its first call."""
        return ()

    @rule
    async def test_it_has_a_name(self, protocol: StreamProtocol) -> None:
        """Messages name the protocol."""
        assert isinstance(protocol.name, str), f"its name is {protocol.name!r}"
        assert protocol.name.strip(), "its name is empty"

    @rule
    async def test_each_call_is_answered(self, protocol: StreamProtocol) -> None:
        """`serve` ends after the messages, and no request lacks its response."""
        async with _served() as served:
            unanswered, received = await self._finished(protocol, served, [ANSWER] * 3)
            assert len(served.callers) == 3, f"{len(served.callers)} of 3 calls ran"
            assert len(received) >= 3, f"{len(received)} messages answer 3 calls"
            assert all(isinstance(message, bytes) for message in received), f"it sent {received!r}, which are not bytes"
            assert not unanswered, f"serve returned {unanswered!r} after 3 responses"

    @rule
    async def test_a_call_has_the_caller_of_its_connection(self, protocol: StreamProtocol) -> None:
        """A call as the operator, or as another user, would give every client these rights."""
        async with _served() as served:
            for subject in ("ada", "eve"):
                await self._finished(protocol, served, [ANSWER], Caller(subject))
            assert served.callers == ["ada", "eve"], f"the calls of ada and eve had the callers {served.callers}"

    @rule
    async def test_connections_are_independent(self, protocol: StreamProtocol) -> None:
        """Each client receives its own answers, and its calls have its caller."""
        async with _served() as served:
            ada, eve = clients = ClientEnd(), ClientEnd()
            tasks = [self._serve(protocol, served, ada, Caller("ada")), self._serve(protocol, served, eve)]

            def received() -> int:
                return sum(len(client.received) for client in clients)

            await _settled(received)
            for number, client, other in ((1, ada, eve), (1, eve, ada), (2, ada, eve)):
                before = len(client.received), len(other.received)
                client.feed(self.call(ANSWER, number))
                await _settled(received)
                assert len(client.received) > before[0], "a client received no answer while another is connected"
                assert len(other.received) == before[1], "a client received the answer of another"
            assert served.callers == ["ada", None, "ada"], f"the callers are {served.callers}"
            for client in clients:
                client.feed(None)
            await asyncio.gather(*tasks)

    @rule
    async def test_failures_are_answered_and_masked(self, protocol: StreamProtocol) -> None:
        """An unknown tool and an unexpected exception get a response. The text of the exception stays in the log."""
        async with _served() as served:
            for tool in (FAIL, "contract_unknown"):
                _, received = await self._finished(protocol, served, [tool])
                assert received, f"the call of {tool} got no response"
                assert CANARY.encode() not in b"".join(received), "the text of an unexpected exception was sent"

    @rule
    async def test_invalid_messages_do_not_end_the_connection(self, protocol: StreamProtocol) -> None:
        """A client may send any bytes. Its next calls are answered."""
        async with _served() as served:
            client = ClientEnd(finishes=True)
            serving = self._serve(protocol, served, client)
            for message in (*INVALID_MESSAGES, self.call(ANSWER, 1), None):
                client.feed(message)
            await serving
            assert len(served.callers) == 1, "the call after invalid messages did not run"

    @rule
    async def test_calls_end_with_their_client(self, protocol: StreamProtocol) -> None:
        """After the messages, running calls are cancelled. `serve` returns their number."""
        async with _served() as served:
            client, serving = await self._waiting(protocol, served)
            client.feed(None)
            unanswered = await serving
            assert served.cancelled == 1, "the call of a client that has gone was not cancelled"
            assert unanswered == 1, f"serve returned {unanswered!r} for 1 request without response"

    @rule
    async def test_calls_are_finished_if_the_connection_says_so(self, protocol: StreamProtocol) -> None:
        """A client such as `echo ... | pegboard stdio` sends its last message, and still reads (`finishes`)."""
        async with _served() as served:
            client, serving = await self._waiting(protocol, served, finishes=True)
            before = len(client.received)
            client.feed(None)
            await _settled(lambda: len(client.received))
            served.free.set()
            await serving
            assert not served.cancelled, "a call was cancelled after the last message"
            assert len(client.received) > before, "the response of a call was not sent after the last message"

    @rule
    async def test_it_ends_if_it_is_cancelled(self, protocol: StreamProtocol) -> None:
        """The host cancels `serve` when it stops, and when the token of the caller expires."""
        async with _served() as served:
            _, serving = await self._waiting(protocol, served)
            serving.cancel()
            await asyncio.wait((serving,))
            assert serving.cancelled(), "it suppressed the cancellation, or failed"
            assert served.cancelled == 1, "a call goes on after the connection has ended"

    @rule
    async def test_a_client_that_does_not_read_is_not_read(self, protocol: StreamProtocol) -> None:
        """It awaits `Connection.drain`, which limits the memory for responses."""
        async with _served() as served:
            client = ClientEnd()
            taken = 0

            async def messages() -> AsyncIterator[bytes]:
                nonlocal taken
                for message in self.opening():
                    yield message
                client.readable.clear()
                for number in range(1, MAX_UNREAD_CALLS + 1):
                    taken = number
                    yield self.call(ANSWER, number)
                    await asyncio.sleep(0)

            serving = asyncio.ensure_future(protocol.serve(client, messages(), served.host.for_protocols, LOCAL))
            await _settled(lambda: taken)
            serving.cancel()
            await asyncio.wait((serving,))
            assert taken < MAX_UNREAD_CALLS, f"it took {taken} calls of a client that reads no responses"

    @rule
    async def test_it_checks_tools(self, protocol: StreamProtocol) -> None:
        """`check_tool` returns nothing, or raises `ToolDefinitionError` for a tool that clients would reject."""
        for schema in ({"type": "object"}, {}, {"type": "object", "properties": {"a": True}}):
            check: Callable[[Tool], object] = protocol.check_tool
            with suppress(ToolDefinitionError):
                result = check(Tool("contract_tool", "A tool.", schema))
                assert result is None, f"check_tool returned {result!r}"

    def _serve(
        self, protocol: StreamProtocol, served: Served, client: ClientEnd, caller: Caller = ANONYMOUS
    ) -> asyncio.Future[int | None]:
        """Begin to serve a client that has sent its first messages."""
        for message in self.opening():
            client.feed(message)
        host = served.host.for_protocols
        return asyncio.ensure_future(protocol.serve(client, client.messages(), host, caller))

    async def _waiting(
        self, protocol: StreamProtocol, served: Served, *, finishes: bool = False
    ) -> tuple[ClientEnd, asyncio.Future[int | None]]:
        """Begin to serve a client, and wait until its call of `contract_wait` runs."""
        client = ClientEnd(finishes=finishes)
        serving = self._serve(protocol, served, client)
        client.feed(self.call(WAIT, 1))
        await served.waiting.wait()
        return client, serving

    async def _finished(
        self, protocol: StreamProtocol, served: Served, tools: Sequence[str], caller: Caller = LOCAL
    ) -> tuple[int | None, list[bytes]]:
        """Call tools over a connection. Return the result of `serve` and the messages after the opening."""
        client = ClientEnd(finishes=True)
        serving = self._serve(protocol, served, client, caller)
        await _settled(lambda: len(client.received))
        opened = len(client.received)
        for number, tool in enumerate(tools, 1):
            client.feed(self.call(tool, number))
        client.feed(None)
        return await serving, client.received[opened:]


@asynccontextmanager
async def _served() -> AsyncIterator[Served]:
    """Start a host with the tools."""
    served = Served()
    served.host = in_memory_host(ConnectOptions((served.kit(),)), Observed())
    async with served.host:
        yield served


async def _settled(progress: Callable[[], int]) -> None:
    """Wait until nothing has progressed for some turns of the event loop."""
    quiet, last = 0, progress()
    while quiet < PATIENCE_TURNS:
        await asyncio.sleep(0)
        quiet = quiet + 1 if progress() == last else 0
        last = progress()
