"""The lines of a user: at a terminal with editing, history and completion; otherwise from standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import ModuleType

from pegboard.terminal import clear_progress, printable, send_messages_to

PROMPT = "dev> "

Complete = Callable[[list[str], str], list[str]]
"""Returns the completions of the last word of a line, from the words before it and the word itself."""


class PromptLine:
    """Reads lines. Messages that arrive while the user types are printed above the prompt.

    The history of lines ends with the command, because arguments may contain secrets.

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
