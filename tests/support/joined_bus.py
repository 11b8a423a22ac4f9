"""A bus of several processes, all in the process of the test."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.plugin import Bus


class JoinedBus(Bus):
    """The bus of one process.

    Args:
        buses: the buses of all processes by number.
    """

    def __init__(self, buses: dict[int, JoinedBus]) -> None:
        super().__init__()
        self.buses = buses
        self._number = len(buses) + 1
        buses[self._number] = self

    @property
    def number(self) -> int:
        return self._number

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        receivers = [bus for number, bus in self.buses.items() if (number == to if to else bus is not self)]
        for bus in receivers:
            bus.deliver(topic, body, self.number)
        return bool(receivers)


def joined(kind: type[JoinedBus] = JoinedBus) -> Sequence[Bus]:
    """Return the buses of three processes."""
    buses: dict[int, JoinedBus] = {}
    return [kind(buses) for _ in range(3)]
