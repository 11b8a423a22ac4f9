"""The process around a host that serves: its signals, exits that are raised anywhere in it, and its end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Collection, Coroutine
from threading import Thread
from threading import enumerate as enumerate_threads
from types import FrameType
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

TIDY_SECONDS = 0.5
"""How long the functions that are registered with `atexit` may take when a thread does not end."""

logger = logging.getLogger("pegboard")


def stop_on_signals(*, and_on_hang_up: bool) -> asyncio.Future[None]:
    """Return a future that the first SIGTERM or SIGINT completes. The second ends the process at once.

    The second one takes effect even while the event loop is blocked: the first restores the default action, in a
    handler that Python runs between two bytecodes.

    Args:
        and_on_hang_up: whether SIGHUP does the same; else it is only logged. What `nohup` set stays as it is.
    """
    loop = asyncio.get_running_loop()
    stopping: asyncio.Future[None] = loop.create_future()
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        if and_on_hang_up:
            numbers.append(signal.SIGHUP)
        else:
            loop.add_signal_handler(signal.SIGHUP, _stay, signal.SIGHUP)
    # the kernel spares process 1, as in a container, from signals without a handler
    at_once = _leave_now if os.getpid() == 1 else signal.SIG_DFL

    def stop() -> None:
        if not stopping.done():
            stopping.set_result(None)

    def first(_number: int, _frame: FrameType | None) -> None:
        for one in numbers:
            signal.signal(one, at_once)

    for number in numbers:
        loop.add_signal_handler(number, stop)  # this has the event loop woken up
        signal.signal(number, first)
    return stopping


def _leave_now(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def _stay(number: signal.Signals) -> None:
    logger.warning("%s changes nothing: settings are read at the start; restart to use others", number.name)


def run_to_end(loop: asyncio.AbstractEventLoop, main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, whatever leaves the event loop meanwhile.

    `SystemExit` and `KeyboardInterrupt` stop an event loop when a task or a callback raises them, such as one that a
    tool started. A task keeps the exception for whoever awaits it. Ctrl-C is a signal and raises none of them here.

    Raises:
        BaseException: the coroutine raised it.
    """
    task = loop.create_task(main)
    while True:
        try:
            return loop.run_until_complete(task)
        except (SystemExit, KeyboardInterrupt) as error:
            if task.done():
                raise
            _contain(error)


def _contain(error: BaseException) -> None:
    """Log an exit that was raised on the event loop, and fail the call that raised it outside of any task."""
    from pegboard.calls.callback_errors import fail_call

    name = fail_call(error)
    logger.error(
        "%s raised %s on the event loop; the server goes on",
        f"a callback or task of {name}" if name else "a callback or task",
        type(error).__name__,
        exc_info=error,
    )


def has_new_threads(before: Collection[Thread]) -> bool:
    """Return True if there are threads that were not there before and that Python would wait for at its end."""
    return any(not thread.daemon and thread not in before for thread in enumerate_threads())


def end_process(code: int) -> NoReturn:
    """End the process although a thread or a task goes on.

    What is registered with `atexit` runs before, for a moment at most: it removes temporary files, for one.
    """
    tidying = Thread(target=_tidy, daemon=True)
    tidying.start()
    tidying.join(TIDY_SECONDS)
    os._exit(code)


def _tidy() -> None:
    import atexit

    atexit._run_exitfuncs()
    if sys.stderr is not None:
        sys.stderr.flush()
