"""The contract of buses, with a bus that is sound and some that are not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pegboard.plugin import Bus
from pegboard.runtime.host_bus import HostBus
from pegboard.runtime.sealed_state import StateSealer
from pegboard_testing import BusContract
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, variant
from tests.support.joined_bus import JoinedBus, joined

SEND, LISTEN = JoinedBus.send, JoinedBus.listen


class TestHostBus(BusContract):
    """The bus of plugins, whose messages another bus carries."""

    def make(self) -> Sequence[Bus]:
        buses = [HostBus() for _ in range(3)]
        for bus, carrier in zip(buses, joined(), strict=True):
            bus.carry_by(carrier, StateSealer(["k" * 32]))
        return buses


def faulty(**members: Any) -> Callable[[], Sequence[Bus]]:
    return partial(joined, variant(JoinedBus, **members))


async def send_some_later(bus: Any, topic: str, body: bytes, to: int | None = None) -> bool:
    if body.endswith(b"3"):
        asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(SEND(bus, topic, body, to)))
        return True
    return await SEND(bus, topic, body, to)


async def send_to_others(bus: Any, topic: str, body: bytes, to: int | None = None) -> bool:
    return to != bus.number and await SEND(bus, topic, body, to)


async def send_always(bus: Any, *message: Any) -> bool:
    return await SEND(bus, *message) or True


def listen_for_ever(bus: Any, topic: str, handler: Any) -> Callable[[], None]:
    LISTEN(bus, topic, handler)
    return lambda: None


def deliver_to_all(bus: Any, topic: str, body: bytes, sender: int) -> None:
    for handlers in bus._handlers.values():
        for handler in handlers:
            handler(body, sender)


ONE = "test_a_message_for_one_process_reaches_only_this_one"
LISTENS = "test_topics_are_separate_and_listening_ends"
FAULTS: Faults = [
    (faulty(number=property(lambda bus: 1)), "test_each_process_has_its_own_number"),
    (faulty(problem="it is closed"), "test_each_process_has_its_own_number"),
    (faulty(send=lambda bus, topic, body, to=None: SEND(bus, topic, body)), ONE),
    (faulty(send=send_some_later), "test_messages_of_one_sender_arrive_in_order"),
    (faulty(send=send_to_others), "test_a_process_can_send_to_itself"),
    (faulty(send=send_always), "test_an_unknown_process_gets_nothing"),
    (faulty(listen=listen_for_ever), LISTENS),
    (faulty(deliver=deliver_to_all), LISTENS),
]
MUTANTS = [Mutants(BusContract, joined, FAULTS)]
