"""The rules of buses (`pegboard.plugin.Bus`)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Sequence

from pegboard.plugin.bus import Bus
from pegboard_testing.contracts.contract import Contract, rule

TOPIC = "contract/topic"
MANY = 50
UNKNOWN = 2**40


class Received(asyncio.Queue[tuple[bytes, int]]):
    """The messages of a topic that reach a bus."""

    def __init__(self, bus: Bus, topic: str = TOPIC) -> None:
        super().__init__()
        self.end = bus.listen(topic, lambda body, sender: self.put_nowait((body, sender)))

    async def next(self, count: int) -> list[tuple[bytes, int]]:
        """Wait for messages, and return them."""
        return [await self.get() for _ in range(count)]


class BusContract(Contract[Sequence[Bus]]):
    """The rules of a bus."""

    @abstractmethod
    def make(self) -> Sequence[Bus] | Awaitable[Sequence[Bus]]:
        """Return the open buses of three processes that share state."""

    @rule
    async def test_each_process_has_its_own_number(self, buses: Sequence[Bus]) -> None:
        """Ids contain the number of their process, and 0 stands for a process without others."""
        numbers = [bus.number for bus in buses]
        assert len({*numbers}) == len(buses) == 3, f"the numbers of three processes are {numbers}"
        assert min(numbers) > 0, f"a number must be positive: {numbers}"
        assert not any(bus.problem for bus in buses), "an open bus has a problem"

    @rule
    async def test_a_message_for_one_process_reaches_only_this_one(self, buses: Sequence[Bus]) -> None:
        """An answer of a client belongs to the process that asked."""
        first, second, _ = buses
        received = [Received(bus) for bus in buses]
        body = b"\x00\xff body"
        assert await first.send(TOPIC, body, second.number) is True, "send to a process that is alive must return True"
        assert await first.send(TOPIC, b"all") is True, "send to all others must return True"
        messages = await received[1].next(2)
        assert (body, first.number) in messages, f"the receiver got {messages}"
        assert await received[2].next(1) == [(b"all", first.number)], "a third process got a message for the second"
        assert received[0].empty(), "the sender got its own message"

    @rule
    async def test_messages_of_one_sender_arrive_in_order(self, buses: Sequence[Bus]) -> None:
        """An earlier change does not restore a deleted session."""
        received = [Received(bus) for bus in buses[1:]]
        bodies = [str(number).encode() for number in range(MANY)]
        for body in bodies:
            await buses[0].send(TOPIC, body)
        for queue in received:
            assert [body for body, _ in await queue.next(MANY)] == bodies, "messages arrived in another order"

    @rule
    async def test_a_process_can_send_to_itself(self, buses: Sequence[Bus]) -> None:
        """A feature need not know whether an id belongs to its own process."""
        received = Received(buses[0])
        assert await buses[0].send(TOPIC, b"own", buses[0].number) is True, "send to its own number must return True"
        assert await received.next(1) == [(b"own", buses[0].number)], "the message to its own number arrived changed"

    @rule
    async def test_an_unknown_process_gets_nothing(self, buses: Sequence[Bus]) -> None:
        """A forged number is refused."""
        assert await buses[0].send(TOPIC, b"lost", UNKNOWN) is False, "send to an unknown process must return False"

    @rule
    async def test_topics_are_separate_and_listening_ends(self, buses: Sequence[Bus]) -> None:
        """A plugin that was reloaded receives nothing more, and never receives messages of other plugins."""
        ended, stays, other = (Received(buses[1], topic) for topic in (TOPIC, TOPIC, f"{TOPIC}s"))
        await buses[0].send(TOPIC, b"first")
        assert await ended.next(1) == await stays.next(1) == [(b"first", buses[0].number)]
        ended.end()
        await buses[0].send(TOPIC, b"second")
        assert await stays.next(1) == [(b"second", buses[0].number)]
        assert ended.empty(), "a function was called after its listening had ended"
        assert other.empty(), "a function was called for a message of another topic"
