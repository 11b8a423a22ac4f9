"""Takes standard input and output over for one client, and gives them back.

While it lasts, descriptor 0 is empty and descriptor 1 leads into the log, for this process and the children it starts;
the client is reached by private duplicates. The descriptors belong to the whole process, so only one may do this.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from threading import Lock
from typing import TextIO

from pegboard.plugin import TransportError
from pegboard_plugins.stdio.output_log import OutputLog
from pegboard_plugins.stdio.running_tools import RunningTools
from pegboard_plugins.stdio.stdout_pipe import StdoutPipe
from pegboard_plugins.stdio.stdout_stream import open_stdout_stream

_FIRST_PRIVATE = 3
_in_use = Lock()
_kept: list[TextIO] = []
"""Every stream that replaced a standard stream. `print` and `input` use `sys.stdout` and `sys.stdin` without holding a
reference: a stream that is freed while another thread prints crashes the interpreter."""


@contextmanager
def redirect_stdio(running: RunningTools, output: int = 1) -> Iterator[tuple[int, int]]:
    """Take the standard streams over. Yield the client's descriptors: one to read from, one to write to.

    Args:
        running: the tools that run, for naming the one that printed.
        output: the descriptor that leads to the client. If it is not 1, the client never sees descriptor 1.

    Raises:
        TransportError: one of them is closed, or this process speaks to a client by them already.
    """
    for name, stream in (("input", sys.__stdin__), ("output", sys.__stdout__)):
        if stream is None:
            raise TransportError(f"standard {name} is closed: there is no client to serve")
    if not _in_use.acquire(blocking=False):
        raise TransportError("standard input and output serve another client of this process already")
    with ExitStack() as stack:
        stack.callback(_in_use.release)
        _hint(os.isatty(0))
        empty = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        stack.callback(os.close, empty)
        stack.enter_context(_standard_error_apart(output, empty))
        incoming = stack.enter_context(_descriptor(0, empty))
        former = stack.enter_context(_output_diverted(running, given_back=output == 1))
        yield incoming, former if output == 1 else output


@contextmanager
def _output_diverted(running: RunningTools, *, given_back: bool) -> Iterator[int]:
    output_log = OutputLog(running)
    pipe = StdoutPipe(running, output_log)
    # Left in this order: python's and C's buffers are emptied into the pipe, the pipe is emptied, what it brought is
    # logged, and only then is descriptor 1 given back: a handler of the log may print.
    try:
        with _descriptor(1, pipe.entrance) as outgoing:
            running.watcher = pipe
            try:
                with _python_streams(output_log, running):
                    yield outgoing
            finally:
                running.watcher = None
                pipe.finish()
                output_log.close()
    finally:
        if given_back:
            pipe.close()
        # else the process ends soon; until then its children write to standard error by way of the pipe


@contextmanager
def _python_streams(output_log: OutputLog, running: RunningTools) -> Iterator[None]:
    """`sys.stdin` is empty and `sys.stdout` leads to the log, and so does whoever kept the former `sys.stdout`."""
    with ExitStack() as stack:
        for former in {id(stream): stream for stream in (sys.stdout, sys.__stdout__)}.values():
            stack.enter_context(_lines_at_once(former))
        empty = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - `_kept` holds it, and the descriptor stays
        stack.enter_context(_attribute("stdin", empty))
        stack.enter_context(_attribute("stdout", open_stdout_stream(output_log, running)))
        yield


@contextmanager
def _lines_at_once(stream: object) -> Iterator[None]:
    """Empty a stream's buffer into what descriptor 1 is now, and again before it is given back."""
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
    """Put `stand_in` in the place of a standard descriptor; gives a private duplicate of what was there."""
    private = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE)
    os.dup2(stand_in, number)
    try:
        yield private
    finally:
        os.dup2(private, number)
        os.close(private)


@contextmanager
def _standard_error_apart(output: int, empty: int) -> Iterator[None]:
    """Silence standard error where it is the very pipe to the client (`2>&1`), which would read the log as messages.

    A terminal is left alone, as a person reads both.
    """
    if sys.__stderr__ is not None and os.path.samestat(os.fstat(output), os.fstat(2)) and not os.isatty(output):
        with _descriptor(2, empty):
            yield
    else:
        yield


def _hint(is_terminal: bool) -> None:
    if is_terminal and sys.stderr is not None:
        sys.stderr.write("pegboard: waiting for an MCP client on standard input, one message a line; Ctrl-D ends\n")
