"""The contract for messages between the processes that share state."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

Handler: TypeAlias = Callable[[bytes, int], None]

MISSED = ""
"""The topic of messages that a bus itself delivers; see `Bus.listen`."""


class Bus:
    """Messages between the processes that share the state of `[host] state`. Use it on the event loop's thread.

    This class itself connects no other process. A plugin that shares state offers a subclass: a `Store`
    whose contract is `Bus`. The host encrypts messages and opens the bus before the first request.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {}

    @property
    def number(self) -> int:
        """The number of this process. No other process has had it or will get it; 0 without other processes.

        It changes if the process was suspended for so long that the others assumed its end.
        """
        return 0

    @property
    def problem(self) -> str:
        """The reason why messages cannot be sent now; "" if they can."""
        return ""

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        """Send a message to one process, or to all others.

        Args:
            topic: the topic, which begins with the name of the plugin: "mcp/answers".
            body: the message.
            to: the number of the receiver; None for all other processes.

        Returns:
            False if the receiver has ended. A receiver that ends in this moment may not have handled the message.

        Raises:
            ConnectionError: the message could not be sent within a second.
        """
        if to == self.number:
            self.deliver(topic, body, self.number)
        return to in (None, self.number)

    def listen(self, topic: str, handler: Handler) -> Callable[[], None]:
        """Call a function for each message of a topic, with its body and the number of the sender.

        The returned function ends this. A plugin that may be reloaded calls it at the end of its lifespan.

        The function runs on the event loop and must not block. Messages of one sender arrive in order. A plugin ignores
        messages of a later version of itself. A message of the topic "" means that messages may be lost, or that
        `number` has changed: discard all values that other processes may have changed.
        """
        handlers = self._handlers.setdefault(topic, [])
        handlers.append(handler)
        return partial(handlers.remove, handler)

    def deliver(self, topic: str, body: bytes, sender: int) -> None:
        """Call the functions of a topic. Subclasses call this for each message."""
        for handler in tuple(self._handlers.get(topic, ())):
            handler(body, sender)
