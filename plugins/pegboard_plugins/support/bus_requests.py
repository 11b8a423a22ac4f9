"""Requests to one of the processes that share state, and their responses, through the bus."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from pegboard import RetryableToolError
from pegboard.plugin import Bus, decode, encode

PATIENCE_SECONDS = 10.0
"""How long a request waits before it is sent again, which finds out if the other process has ended."""
RETRY_SECONDS = 1.0
"""How long a response waits that could not be sent."""
MAX_SILENT = 3
"""The number of times that a request is sent to a process that does not respond."""
ID_BYTES = 24
MAX_NUMBER_DIGITS = 19

logger = logging.getLogger("pegboard")


class BusRequests:
    """The requests of one topic. They concern data that only one process keeps.

    The ids of the data may name the process.

    Args:
        bus: the bus of the plugin.
        topic: the topic.
        answer: returns the response to a request of another process. Both are JSON values; None means no response.
    """

    def __init__(self, bus: Bus, topic: str, answer: Callable[[Any], Awaitable[Any]]) -> None:
        self._bus = bus
        self._topic = topic
        self._answer = answer
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._answering: dict[str, asyncio.Task[None]] = {}
        self._silent: dict[str, int] = {}  # how often each request was sent since the other process spoke
        self._telling: set[asyncio.Task[None]] = set()
        self._end = bus.listen(topic, self._receive)

    def new_id(self) -> str:
        """Return an id that nobody can guess, with the number of this process."""
        return f"{self._bus.number}-{secrets.token_urlsafe(ID_BYTES)}"

    async def ask(self, number: int, request: Any) -> Any:
        """Send a request to a process. Cancel it there if this task is cancelled.

        Returns:
            The response. None if the process has ended or has no response, and for this process.

        Raises:
            RetryableToolError: the process cannot be reached now.
        """
        if number in (0, self._bus.number):
            return None
        key = secrets.token_urlsafe(ID_BYTES)
        response = self._waiting[key] = asyncio.get_running_loop().create_future()
        self._silent[key] = 0
        try:
            while not response.done():
                if self._silent[key] == MAX_SILENT:
                    raise RetryableToolError("Another process does not answer. Try again later.")
                if not await self._bus.send(self._topic, encode({"key": key, "request": request}), number):
                    return None
                self._silent[key] += 1
                await asyncio.wait([response], timeout=PATIENCE_SECONDS)
            return response.result()
        except ConnectionError as error:
            raise RetryableToolError("Another process cannot be reached now. Try again later.", str(error)) from None
        except asyncio.CancelledError:
            with suppress(ConnectionError):
                await self._bus.send(self._topic, encode({"key": key}), number)
            raise
        finally:
            del self._waiting[key], self._silent[key]

    def close(self) -> None:
        """Answer no more requests. Requests that wait end with an error, because the other process may be alive."""
        self._end()
        for answering in self._answering.values():
            answering.cancel()
        for response in self._waiting.values():
            if not response.done():
                response.set_exception(RetryableToolError("This process cannot ask others now. Try again later."))

    def _receive(self, body: bytes, sender: int) -> None:
        message = decode(body)
        key = message["key"]
        if "response" in message:
            if (response := self._waiting.get(key)) is not None and not response.done():
                response.set_result(message["response"])
        elif "works" in message:
            if key in self._silent:
                self._silent[key] = 0
        elif "request" not in message:
            if (answering := self._answering.get(key)) is not None:
                answering.cancel()
        elif key in self._answering:  # it is sent again
            telling = asyncio.create_task(self._tell_works(key, sender))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)
        else:
            answering = asyncio.create_task(self._respond(key, message["request"], sender))
            self._answering[key] = answering
            answering.add_done_callback(lambda _: self._answering.pop(key))

    async def _respond(self, key: str, request: Any, receiver: int) -> None:
        response = None
        try:
            response = await self._answer(request)
        except Exception:
            logger.exception("a request of process %d failed", receiver)
        while True:  # a request that is sent again must not be answered twice
            try:
                await self._bus.send(self._topic, encode({"key": key, "response": response}), receiver)
                return
            except ConnectionError:
                await asyncio.sleep(RETRY_SECONDS)

    async def _tell_works(self, key: str, receiver: int) -> None:
        with suppress(ConnectionError):  # the request is sent again
            await self._bus.send(self._topic, encode({"key": key, "works": True}), receiver)


def number_in(name: str) -> int:
    """Return the number of the process in an id; 0 if there is none."""
    number = name.partition("-")[0]
    return int(number) if number.isdecimal() and len(number) <= MAX_NUMBER_DIGITS else 0
