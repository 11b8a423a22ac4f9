"""Questions to another process of the shared state, and its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from secrets import token_bytes

from pegboard.plugin import Bus

NAME_BYTES = 8
"""The size of the name of a question, with which its answer begins too."""


class BusQuestions:
    """Asks other processes, and answers their questions. Use it on the thread of the event loop.

    Args:
        bus: the bus.
        topic: the topic of the questions. Their answers have the topic with "/answers".
        answer: returns the answer to a question of another process.
    """

    def __init__(self, bus: Bus, topic: str, answer: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._bus = bus
        self._topic = topic
        self._answer = answer
        self._waiting: dict[bytes, asyncio.Future[bytes]] = {}
        self._jobs: set[asyncio.Task[None]] = set()
        self._ends = [bus.listen(topic, self._receive), bus.listen(f"{topic}/answers", self._settle)]

    async def ask(self, number: int, question: bytes, seconds: float) -> bytes | None:
        """Return the answer of a process, or None if the process has ended.

        Args:
            number: the number of the process.
            question: the question.
            seconds: how long the answer may take.

        Raises:
            ConnectionError: the question could not be sent.
            TimeoutError: there was no answer in time.
        """
        name = token_bytes(NAME_BYTES)
        waiting = self._waiting[name] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                return await waiting if await self._bus.send(self._topic, name + question, number) else None
        finally:
            del self._waiting[name]

    def _receive(self, body: bytes, sender: int) -> None:
        job = asyncio.create_task(self._reply(body[:NAME_BYTES], body[NAME_BYTES:], sender))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _reply(self, name: bytes, question: bytes, sender: int) -> None:
        with suppress(ConnectionError):
            await self._bus.send(f"{self._topic}/answers", name + await self._answer(question), sender)

    def _settle(self, body: bytes, sender: int) -> None:
        waiting = self._waiting.get(body[:NAME_BYTES])
        if waiting is not None and not waiting.done():
            waiting.set_result(body[NAME_BYTES:])

    def close(self) -> None:
        """Answer no more questions."""
        for end in self._ends:
            end()
