"""Redirection of standard input and output for one client.

Meanwhile descriptor 0 is empty and descriptor 1 leads to the log, for this process and its children. The client is
reached through private duplicates. The descriptors belong to the whole process, so only one client can have them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase, TextIOWrapper
from threading import Lock, get_ident
from typing import TYPE_CHECKING, TextIO

from pegboard import current_context
from pegboard.plugin import TransportError
from pegboard_plugins.transports.stdio.descriptors import CAN_POLL, is_same_file, private_duplicate, write_all
from pegboard_plugins.transports.stdio.output_log import OutputLog
from pegboard_plugins.transports.stdio.running_tools import RunningTools
from pegboard_plugins.transports.stdio.stdout_pipe import StdoutPipe, ThreadStdoutPipe

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_in_use = Lock()
_kept: list[TextIO] = []
"""Every stream that replaced a standard stream. `print` and `input` use `sys.stdout` and `sys.stdin` without holding a
reference. A stream that is freed while another thread prints crashes the interpreter.
"""


@contextmanager
def redirect_stdio(running: RunningTools, output: int = 1) -> Iterator[tuple[int, int]]:
    """Redirect the standard streams. Yield the client's descriptors: one to read from, one to write to.

    Args:
        running: the running tools, to name the tool that printed.
        output: the descriptor that leads to the client. If it is not 1, the client never sees descriptor 1.

    Raises:
        TransportError: a standard stream is closed, or this process already serves a client on them.
    """
    for name, stream in (("input", sys.__stdin__), ("output", sys.__stdout__)):
        if stream is None:
            raise TransportError(f"standard {name} is closed: start pegboard stdio from an MCP client")
    if not _in_use.acquire(blocking=False):
        raise TransportError("standard input and output already serve another client of this process")
    with ExitStack() as stack:
        stack.callback(_in_use.release)
        _hint(os.isatty(0))
        empty = os.open(os.devnull, os.O_RDWR)
        stack.callback(os.close, empty)
        stack.enter_context(_standard_error_apart(output, empty))
        incoming = stack.enter_context(_descriptor(0, empty))
        former = stack.enter_context(_output_diverted(running, given_back=output == 1))
        yield incoming, former if output == 1 else output


@contextmanager
def _output_diverted(running: RunningTools, *, given_back: bool) -> Iterator[int]:
    output_log = OutputLog(running)
    pipe = (StdoutPipe if CAN_POLL else ThreadStdoutPipe)(running, output_log)
    # The order at the end: flush the buffers of Python and C into the pipe, read the pipe, log its data, and only then
    # restore descriptor 1, because a handler of the log may print.
    try:
        with _descriptor(1, pipe.entrance) as outgoing:
            running.pipe = pipe
            try:
                with _python_streams(output_log, running):
                    yield outgoing
            finally:
                running.pipe = None
                pipe.finish()
                output_log.close()
    finally:
        if given_back:
            pipe.close()
        # else the process exits soon; until then its children write to standard error through the pipe


@contextmanager
def _python_streams(output_log: OutputLog, running: RunningTools) -> Iterator[None]:
    """Replace `sys.stdin` by an empty stream and `sys.stdout` by the log, also for code that kept the former stream."""
    with ExitStack() as stack:
        for former in {id(stream): stream for stream in (sys.stdout, sys.__stdout__)}.values():
            stack.enter_context(_lines_at_once(former))
        empty = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - `_kept` holds it, and the descriptor stays
        stack.enter_context(_attribute("stdin", empty))
        stack.enter_context(_attribute("stdout", open_stdout_stream(output_log, running)))
        yield


@contextmanager
def _lines_at_once(stream: object) -> Iterator[None]:
    """Flush a stream's buffer to the current descriptor 1 at each line, and restore the former mode at the end."""
    if not isinstance(stream, TextIOWrapper) or stream.closed:
        yield
        return
    before = stream.line_buffering
    stream.reconfigure(line_buffering=True)
    try:
        yield
    finally:
        if not stream.closed:
            stream.reconfigure(line_buffering=before)


@contextmanager
def _attribute(name: str, stream: TextIO) -> Iterator[None]:
    former = getattr(sys, name)
    _kept.append(stream)
    setattr(sys, name, stream)
    try:
        yield
    finally:
        if getattr(sys, name) is stream:
            setattr(sys, name, former)


@contextmanager
def _descriptor(number: int, stand_in: int) -> Iterator[int]:
    """Replace a standard descriptor by `stand_in`. Yield a private duplicate of the former descriptor."""
    private = private_duplicate(number)
    os.dup2(stand_in, number)
    try:
        yield private
    finally:
        os.dup2(private, number)
        os.close(private)


@contextmanager
def _standard_error_apart(output: int, empty: int) -> Iterator[None]:
    """Silence standard error if it is the pipe to the client (`2>&1`), which would read the log as messages.

    A terminal stays unchanged, because a user reads both.
    """
    if sys.__stderr__ is not None and is_same_file(output, 2) and not os.isatty(output):
        with _descriptor(2, empty):
            yield
    else:
        yield


def _hint(is_terminal: bool) -> None:
    if is_terminal and sys.stderr is not None:
        key = "Ctrl-D" if os.name == "posix" else "Ctrl-C"
        sys.stderr.write(f"pegboard: waiting for an MCP client on standard input, one message a line; {key} ends\n")


# --- The replacement of `sys.stdout`: output goes to the log under the name of the tool that prints.


def open_stdout_stream(output_log: OutputLog, running: RunningTools) -> TextIOWrapper:
    """Return a `sys.stdout` that takes any string, whatever encoding the environment selects."""
    return TextIOWrapper(
        StdoutBuffer(output_log, running), encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True
    )


class StdoutBuffer(BufferedIOBase):
    """The replacement of `sys.stdout.buffer`. Closing it has no effect."""

    name = "<stdout>"
    mode = "wb"

    def __init__(self, output_log: OutputLog, running: RunningTools) -> None:
        super().__init__()
        self._output_log = output_log
        self._running = running
        self._process = os.getpid()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """Return descriptor 1, which also leads to the log."""
        return 1

    def close(self) -> None:
        """Keep the buffer open."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Take all printed data."""
        printed = bytes(data)
        context = current_context()
        if os.getpid() != self._process:
            write_all(1, printed)  # a forked child has no log thread, only the descriptor
        elif context is None:
            self._add(get_ident(), self._running.names(), printed)
        else:
            self._add(context, (context.tool,), printed)
        return len(printed)

    def _add(self, source: object, names: tuple[str, ...], data: bytes) -> None:
        """Add output to the log, or write it to standard error if the log is closed."""
        if not self._output_log.add(source, names, data):
            write_all(2, data)
