"""The watchdog. It logs the code that blocks the event loop, and does not interrupt the code.

A timer on the event loop records heartbeats, and a thread checks them. Both run only while calls are in flight.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator
from contextvars import Context
from threading import Lock, Thread, get_ident
from time import monotonic
from types import FrameType
from typing import Any

from pegboard.calls.exception_mapping import adapted_by_first
from pegboard.calls.execute import run_function
from pegboard.context import _current
from pegboard.middleware.chain import LinkMethod
from pegboard.middleware.time_limit import RunningLink
from pegboard.types.calls import Call

logger = logging.getLogger("pegboard.runtime.watchdog")

_BEATS = 4
"""The number of beats in the time limit."""
_MAX_PLACES = 8
"""The maximum number of stack frames in a log record."""
_MAX_NAME_CHARACTERS = 200
"""The maximum number of characters of a tool name in a log record."""
_IDLE = ("asyncio", "selectors", "uvloop")
"""Modules in which an idle event loop waits. A late beat there has another cause, such as a suspended machine."""


class Watchdog:
    """Watches the event loop of one host.

    The timer runs in an empty context. The context variables of a call would be kept alive.

    Args:
        seconds: the time in seconds that the loop may be blocked; 0 to disable the watchdog.
        is_busy: a function that returns True while calls are in flight.
        dispatch: the function that handles all calls. Its variable `call` is the call.
    """

    def __init__(self, seconds: float, is_busy: Callable[[], bool], dispatch: Callable[..., Any]) -> None:
        self._seconds = seconds
        self._interval = seconds / _BEATS
        self._is_busy = is_busy
        self._dispatch = dispatch
        self._beat: asyncio.TimerHandle | None = None
        self._lock = Lock()
        self._alarm = Lock()  # always held, so that acquiring it with a timeout sleeps
        self._alarm.acquire()
        self._listening = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._heard = 0.0
        self._blamed: str | None = None

    def wake(self) -> None:
        """Start watching when a call begins."""
        if self._beat is None and self._seconds:
            with self._lock:
                self._loop = asyncio.get_running_loop()
                self._thread = get_ident()
                self._heard = monotonic()
                self._beat = self._loop.call_later(self._interval, self._go_on, context=Context())
                if not self._listening:
                    self._listening = True
                    Thread(target=self._listen, name="pegboard-watchdog", daemon=True).start()

    def close(self) -> None:
        """Stop watching."""
        if self._beat is not None:
            self._beat.cancel()
            self._end()

    def _go_on(self) -> None:
        with self._lock:
            since, self._heard = self._heard, monotonic()
            blamed, self._blamed = self._blamed, None
        if blamed is not None:
            blocked = self._heard - since - self._interval
            logger.warning("the event loop continues; %s had blocked it for %.1f s", blamed, blocked)
        if self._is_busy() and self._loop is not None:
            self._beat = self._loop.call_later(self._interval, self._go_on, context=Context())
        else:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._beat = None

    # --- in the thread

    def _listen(self) -> None:
        while True:
            self._alarm.acquire(timeout=self._interval)
            with self._lock:
                if self._beat is None or (self._loop is not None and self._loop.is_closed()):
                    self._listening = False
                    return
                late = monotonic() - self._heard - self._interval
                if late >= self._seconds and self._blamed is None:
                    self._look(late)

    def _look(self, late: float) -> None:
        frame = sys._current_frames().get(self._thread)
        if frame is None or str(frame.f_globals.get("__name__")).partition(".")[0] in _IDLE:
            return
        self._blamed = self._who(frame) or self._task_of() or "something outside of all calls"
        text = "%s has blocked the event loop for %.1f s, and other calls wait: %s"
        logger.warning(text, self._blamed, late, ", called at ".join(_places(frame)))

    def _who(self, frame: FrameType | None) -> str | None:
        """Return the tool, error adapter, middleware or call to which a stack belongs, or None for other code."""
        passed_on = False
        while frame is not None:
            if (tool := _variable(frame, run_function, "bound")) is not None:
                return str(tool.name)
            if (adapter := _variable(frame, adapted_by_first, "adapter")) is not None:
                return f"the error adapter {adapter.slug}"
            passed_on = passed_on or frame.f_code is RunningLink.call_next.__code__
            if not passed_on and (link := _variable(frame, LinkMethod.run, "self")) is not None:
                return str(link.blame)
            call: Call | None = _variable(frame, self._dispatch, "call")
            if call is not None:
                name = str(call.params.get("name") or call.params.get("uri") or "")[:_MAX_NAME_CHARACTERS]
                return f"code around {call.method} {name!r}".removesuffix(" ''")
            frame = frame.f_back
        return None

    def _task_of(self) -> str | None:
        """Return the name of the tool that started the current task, or None if unknown (always before Python 3.12)."""
        task: Any = asyncio.current_task(self._loop)
        variables: Any = getattr(task, "get_context", dict)()
        context = variables.get(_current)
        return None if context is None else f"a task of {context.name}"


def _variable(frame: FrameType, function: Callable[..., Any], name: str) -> Any:
    """Return a variable of a function in its stack frame. Return None in other frames, and if it is not set."""
    return frame.f_locals.get(name) if frame.f_code is function.__code__ else None


def _places(frame: FrameType | None) -> Iterator[str]:
    """Yield the files and lines of a stack, innermost first, up to the host's own code."""
    count = 0
    while frame is not None and count < _MAX_PLACES:
        module = str(frame.f_globals.get("__name__"))
        if count and module.partition(".")[0] in ("pegboard", *_IDLE):
            return
        yield f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
        count += 1
        frame = frame.f_back
