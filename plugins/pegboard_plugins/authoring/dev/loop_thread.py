"""An event loop in a separate thread, so that the main thread can wait for a line and for Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Event, Thread
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")


class LoopTask(Generic[T]):
    """A coroutine that runs in the event loop of another thread."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ended = Event()
        loop.call_soon_threadsafe(self._begin, coroutine)

    def result(self) -> T:
        """Wait for the end and return the result, or raise the exception."""
        self._ended.wait()
        return self._task.result()

    def cancel(self) -> None:
        """Cancel the coroutine and wait for its end."""
        self._loop.call_soon_threadsafe(self._cancel)
        self._ended.wait()

    def _cancel(self) -> None:
        self._task.cancel()

    def _begin(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._task = self._loop.create_task(coroutine)
        self._task.add_done_callback(lambda _: self._ended.set())


class LoopThread:
    """An event loop in a thread."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="pegboard-loop", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self, coroutine: Coroutine[Any, Any, T]) -> LoopTask[T]:
        """Start a coroutine."""
        return LoopTask(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result. Ctrl-C cancels it, and is raised after its end."""
        task = self.start(coroutine)
        try:
            return task.result()
        except KeyboardInterrupt:
            task.cancel()
            raise
