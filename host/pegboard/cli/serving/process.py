"""The process of a host that serves: its signals, its exits and its end."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import signal
import sys
from collections.abc import Callable, Collection, Coroutine
from contextvars import Context as Variables
from functools import partial
from threading import Thread
from threading import enumerate as enumerate_threads
from types import FrameType
from typing import Any, NoReturn, TypeVar

from pegboard.context import Context, _current
from pegboard.terminal.printing import say

T = TypeVar("T")

TIDY_SECONDS = 0.5
"""How long functions registered with `atexit` may take if a thread does not end."""

logger = logging.getLogger("pegboard")


def reload_on_signals(reload: Callable[[], None], *, and_on_hang_up: bool) -> None:
    """Call a function at SIGUSR1, and at SIGHUP if wanted. Windows has neither. Ignored signals stay ignored."""
    for number in [*_signals("SIGUSR1"), *(_signals("SIGHUP") if and_on_hang_up else ())]:
        if signal.getsignal(number) is not signal.SIG_IGN:
            _wake_on(asyncio.get_running_loop(), number, reload)
        else:
            say(f"{number.name} is ignored, as nohup requires: run `pegboard reload` to apply changes")


def stop_on_signals(*, and_on_hang_up: bool) -> asyncio.Future[int]:
    """Return a future whose result is the number of the first SIGTERM or SIGINT.

    The second signal ends the process at once.

    On Windows, SIGBREAK does the same: Ctrl-Break, or a closed console.

    The second signal works even if the event loop is blocked: the first one restores the default action, in a handler
    that Python runs between two bytecodes.

    Args:
        and_on_hang_up: SIGHUP completes the future as well; otherwise it is logged. A SIGHUP that `nohup` ignores stays
            ignored.
    """
    loop = asyncio.get_running_loop()
    stopping: asyncio.Future[int] = loop.create_future()
    numbers = [signal.SIGTERM, signal.SIGINT, *_signals("SIGBREAK")]
    for hang_up in _signals("SIGHUP"):
        if signal.getsignal(hang_up) is signal.SIG_IGN:
            continue
        if and_on_hang_up:
            numbers.append(hang_up)
        else:
            loop.add_signal_handler(hang_up, _stay, hang_up)
    # process 1, as in a container, receives no signals without a handler
    at_once = _leave_now if os.getpid() == 1 else signal.SIG_DFL

    def stop(number: int) -> None:
        if not stopping.done():
            stopping.set_result(number)

    def first(number: int, _frame: FrameType | None) -> None:
        for other in numbers:
            signal.signal(other, at_once)
        if not has_handlers:
            loop.call_soon_threadsafe(stop, number)

    has_handlers = all(_wake_on(loop, number, partial(stop, number)) for number in numbers)
    for number in numbers:
        signal.signal(number, first)
    return stopping


def stop_at_end_of_input(stopping: asyncio.Future[int]) -> None:
    """Complete the future, as SIGTERM does, when standard input ends, because the parent process is gone."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_reader(0)
        if not stopping.done():
            stopping.set_result(signal.SIGTERM)

    loop.add_reader(0, stop)


def _signals(name: str) -> list[signal.Signals]:
    """Return the signal of that name, if the system has it."""
    return [getattr(signal, name)] if hasattr(signal, name) else []


def _wake_on(loop: asyncio.AbstractEventLoop, number: signal.Signals, act: Callable[[], None]) -> bool:
    """Let a signal call a function in the event loop.

    Return False on Windows, where every signal wakes the event loop and it has no handlers.
    """
    try:
        loop.add_signal_handler(number, act)
    except NotImplementedError:
        return False
    return True


def _leave_now(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def _stay(number: signal.Signals) -> None:
    logger.warning("%s is ignored: restart to apply changed settings", number.name)


def run_to_end(loop: asyncio.AbstractEventLoop, main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, even if `SystemExit` or `KeyboardInterrupt` stops the event loop meanwhile.

    `SystemExit` and `KeyboardInterrupt` stop an event loop if a task or a callback raises them. The task keeps the
    exception for its awaiter. Ctrl-C is handled as a signal and raises neither.

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
    """Log an exit that was raised on the event loop, and fail the call that caused it."""
    name = fail_call(error)
    logger.error(
        "%s raised %s on the event loop; the server continues",
        f"a callback or task of {name}" if name else "a callback or task",
        type(error).__name__,
        exc_info=error,
    )


def has_new_threads(before: Collection[Thread]) -> bool:
    """Return True if there are new threads that Python would wait for at its end."""
    return any(not thread.daemon and thread not in before for thread in enumerate_threads())


def end_process(code: int) -> NoReturn:
    """End the process although a thread or a task is still running.

    Functions registered with `atexit` run for `TIDY_SECONDS` at most. They remove temporary files, for example.
    """
    tidying = Thread(target=_tidy, daemon=True)
    tidying.start()
    tidying.join(TIDY_SECONDS)
    os._exit(code)


def _tidy() -> None:
    atexit._run_exitfuncs()
    if sys.stderr is not None:
        sys.stderr.flush()


# --- Exceptions of event loop callbacks that belong to a call. Such an exception fails only that call.


def fail_call(error: BaseException) -> str | None:
    """Fail the call whose callback raised an exception. Return the name of the call, or None if the call is unknown.

    Exceptions of tasks are not handled here: the code that awaits a task receives its exception.
    """
    handle = _handle_of(error)
    variables: Variables | None = getattr(handle, "_context", None)
    context: Context | None = None if variables is None else variables.get(_current)
    if context is None:
        return None
    is_step = isinstance(getattr(getattr(handle, "_callback", None), "__self__", None), asyncio.Future)
    if not is_step and context.clock is not None:
        context.clock.fail(error)
    return context.name


def _handle_of(error: BaseException) -> asyncio.Handle | None:
    """Return the event loop's handle of the callback, or None under uvloop."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is asyncio.Handle._run.__code__:
            handle: asyncio.Handle = trace.tb_frame.f_locals["self"]
            return handle
        trace = trace.tb_next
    return None
