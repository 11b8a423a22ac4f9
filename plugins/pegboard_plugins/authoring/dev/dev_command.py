"""`pegboard dev FILE`: the main thread reads lines, and an event loop in another thread serves the file."""

from __future__ import annotations

import asyncio
import gc
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from threading import Event, Thread
from types import ModuleType, TracebackType
from typing import Any, Generic, Self, TypeVar

from pegboard.errors import PluginError
from pegboard.plugin import CommandContext
from pegboard.terminal import Terminal, clear_progress, flush, is_interactive, printable, say, send_messages_to
from pegboard_plugins.authoring.dev.prompt_commands import PromptCommands
from pegboard_plugins.authoring.dev.served_file import ServedFile
from pegboard_plugins.servers.other_servers.other_server import ask_at_terminal


def run_dev(command: CommandContext) -> int:
    """Serve a file, and run the lines of a user until the input ends."""
    if not command.options.path.is_file():
        raise PluginError(f"there is no file {command.options.path}: correct the path")
    gc.enable()
    is_terminal = is_interactive() and sys.stdout is not None and sys.stdout.isatty()
    served = _served(command.options, asks=is_terminal)
    commands = PromptCommands(served, command.options)
    prompt = PromptLine(commands.completions, is_terminal=is_terminal)
    code = 0
    with LoopThread() as loop:
        following = loop.start(served.follow())
        try:
            loop.run(served.wait_loaded())
            for line in prompt.lines():
                if line.strip() and not _run(loop, commands, line, is_terminal=is_terminal):
                    code = 1
        finally:
            following.cancel()
    if is_terminal:
        print()
        return 0
    return code


def _served(options: Namespace, *, asks: bool) -> ServedFile:
    if not asks:
        return ServedFile(options, None, {})
    return ServedFile(options, ask_at_terminal(options.path.name), Terminal.capabilities)


def _run(loop: LoopThread, commands: PromptCommands, line: str, *, is_terminal: bool) -> bool:
    """Run one line. Return False if it failed. At a terminal, Ctrl-C ends only the line."""
    try:
        worked = loop.run(commands.run(line))
        flush()
        return worked
    except KeyboardInterrupt:
        if not is_terminal:
            raise
        say("cancelled")
        return False


# --- An event loop in a separate thread, so that the main thread can wait for a line and for Ctrl-C.

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
        """Run a coroutine and return its result.

        Ctrl-C cancels the coroutine, and raises `KeyboardInterrupt` after its end.
        """
        task = self.start(coroutine)
        try:
            return task.result()
        except KeyboardInterrupt:
            task.cancel()
            raise


# --- The lines of a user: at a terminal with editing, history and completion; otherwise from standard input.

PROMPT = "dev> "

Complete = Callable[[list[str], str], list[str]]
"""Returns the completions of the last word of a line, from the words before it and the word itself."""


class PromptLine:
    """Reads lines. Messages that arrive while the user types are printed above the prompt.

    The history of lines is not saved, because arguments may contain secrets.

    Args:
        complete: returns completions.
        is_terminal: True to prompt a user at a terminal.
    """

    def __init__(self, complete: Complete, *, is_terminal: bool) -> None:
        self._readline = _readline_with(complete) if is_terminal else None
        self._is_terminal = is_terminal
        self._is_reading = False
        if self._readline is not None and hasattr(self._readline, "set_pre_input_hook"):
            self._readline.set_pre_input_hook(self._begin)
        send_messages_to(self._print)

    def lines(self) -> Iterator[str]:
        """Yield the lines until the input ends. Ctrl-C discards a line."""
        while True:
            try:
                yield self._read() if self._is_terminal else next(sys.stdin)
            except (EOFError, StopIteration):
                return
            except KeyboardInterrupt:
                if not self._is_terminal:
                    raise
                print()

    def _begin(self) -> None:
        """Note that the prompt is shown, so that later messages show it again."""
        self._is_reading = True

    def _read(self) -> str:
        try:
            return input(PROMPT)
        finally:
            self._is_reading = False

    def _print(self, text: str, _level: int) -> None:
        clear_progress()
        typed = ""
        if self._is_reading:
            typed = f"{PROMPT}{self._readline.get_line_buffer() if self._readline else ''}"
        with suppress(OSError, ValueError):
            print("\r\x1b[K" if typed else "", f"pegboard: {printable(text)}\n", typed, sep="", end="", file=sys.stderr)
            sys.stderr.flush()


def _readline_with(complete: Complete) -> ModuleType | None:
    """Return the module `readline` with completion, or None if Python has no such module, as on Windows."""
    try:
        import readline
    except ImportError:
        return None
    words: list[str] = []

    def next_of(text: str, state: int) -> str | None:
        if state == 0:
            words[:] = complete(readline.get_line_buffer()[: readline.get_begidx()].split(), text)
        return words[state] if state < len(words) else None

    readline.set_completer(next_of)
    readline.set_completer_delims(" \t")
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    return readline
