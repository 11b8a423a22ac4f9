"""Effects of an author's code, observed by the audit events of Python (PEP 578).

An audit hook cannot be removed. The process has one hook, which is set when a call is watched for the first time. It
does nothing for code that is not watched.
"""

from __future__ import annotations

import asyncio
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache, partial
from inspect import currentframe, getgeneratorlocals
from pathlib import Path
from threading import get_ident
from types import FrameType, GeneratorType
from typing import Any, NamedTuple

import pegboard
import pegboard_client
from pegboard.context.rounds import in_step

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Place(NamedTuple):
    """A line of code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


class Effect(NamedTuple):
    """A change outside the process or on the disk.

    Attributes:
        kind: the audit event, such as "open" or "socket.connect"; "effect" for an effect that a fake reported.
        what: the object of the effect, such as a path.
        places: the author's lines that caused it, outermost first; empty if they are unknown.
    """

    kind: str
    what: str
    places: tuple[Place, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """The value by which repeated effects are recognized."""
        return (self.kind, self.places or self.what)

    def __str__(self) -> str:
        return f"{self.kind} {self.what}".rstrip()


class Watch:
    """Collects the effects of one run of a function, except those in steps of `context.once`.

    Attributes:
        effects: the effects in their order.
    """

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self._task: asyncio.Task[Any] | None = None
        self._thread = 0

    def begin(self) -> Callable[[], None]:
        """Watch this task and all tasks and threads that it starts. Return a function that ends the watch."""
        _install()
        self._task = asyncio.current_task()
        self._thread = get_ident()
        return partial(_watch.reset, _watch.set(self))

    def note(self, kind: str, what: str, frame: FrameType | None) -> None:
        """Record an effect that the caller of a frame's function caused."""
        lines = _lines(frame and frame.f_back)
        if lines is None:
            return
        # in a thread or a task of a library: find the code that awaits it
        places = _own(lines) or _own(_waiting(self._task, self._thread))
        self.effects.append(Effect(kind, what, places))


_watch: ContextVar[Watch | None] = ContextVar("pegboard.testing.watch", default=None)


def effect(what: str) -> None:
    """Report an effect that must not be repeated. Fakes of services call this function in place of a real effect.

    The report has an effect only in a call of a `TestClient`. The call fails if a tool repeats the effect with each
    answer.

    Args:
        what: a description, such as "charge 5 EUR".
    """
    watch = _watch.get()
    if watch is not None and not in_step.get():
        watch.note("effect", what, currentframe())


# --- audit events


def _written(path: Any, mode: Any, flags: Any) -> str | None:
    if isinstance(path, int) or not isinstance(flags, int) or not flags & _WRITING:
        return None
    text = os.fsdecode(path)
    return None if text == os.devnull else text


def _database(database: Any, *_: Any) -> str | None:
    text = os.fsdecode(database)
    return None if text == ":memory:" else text


def _first(value: Any = None, *_: Any) -> str:
    if value is None:
        return ""
    return os.fsdecode(value) if isinstance(value, bytes | os.PathLike) else str(value)


def _second(_: Any, value: Any, *__: Any) -> str:
    return str(value)


def _pair(source: Any, target: Any, *_: Any) -> str:
    return f"{_first(source)} -> {_first(target)}"


def _request_line(_: Any, data: Any) -> str | None:
    line = bytes(data[:200]).partition(b"\r\n")[0] if isinstance(data, bytes | bytearray) else b""
    return line.rpartition(b" ")[0].decode("latin-1") if b" HTTP/1" in line else None


_EVENTS: Mapping[str, Callable[..., str | None]] = {
    "open": _written,
    "sqlite3.connect": _database,
    "http.client.send": _request_line,
    **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), _second),
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.kill"), _first),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), _pair),
    **dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.utime"), _first),
}


@cache
def _install() -> None:
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    read = _EVENTS.get(event)
    if read is None:
        return
    watch = _watch.get()
    if watch is None or in_step.get():
        return
    what = read(*arguments)
    if what is not None:
        watch.note(event, what, currentframe())


# --- the author's lines


_STEP = asyncio.Handle._run.__code__
"""The lines above it belong to the code that runs the event loop."""


@cache
def _folders() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the folders of the standard library, of libraries, and of the host with its client and the test kit."""
    paths = sysconfig.get_paths()
    python = tuple({paths["stdlib"] + os.sep, paths["platstdlib"] + os.sep})
    libraries = tuple({paths["purelib"] + os.sep, paths["platlib"] + os.sep})
    packages = (pegboard.__file__, pegboard_client.__file__, __file__)
    host = tuple(str(Path(str(file)).parent) + os.sep for file in packages)
    return python, libraries, host


def _lines(frame: FrameType | None) -> list[Place] | None:
    """Return the lines that led to a frame, outermost first; None if an import or the host itself caused it."""
    python, _, host = _folders()
    places: list[Place] = []
    foreign = False
    while frame is not None:
        if frame.f_code is _STEP:
            break
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib"):
            return None
        if file.startswith(host):
            return places[::-1] if foreign else None
        foreign = foreign or not file.startswith((*python, "<frozen"))
        places.append(Place(file, frame.f_lineno, frame.f_code.co_qualname))
        frame = frame.f_back
    return places[::-1]


def _own(lines: list[Place]) -> tuple[Place, ...]:
    """Return the lines in the author's code. If none exist, return the first line in a library."""
    python, libraries, host = _folders()
    foreign = (*python, *host, "<frozen")
    outside = [place for place in lines if place.file.startswith(libraries) or not place.file.startswith(foreign)]
    return tuple([place for place in outside if not place.file.startswith(libraries)] or outside[:1])


def _waiting(task: asyncio.Task[Any] | None, thread: int) -> list[Place]:
    """Return the lines at which the author's function in a task waits, outermost first."""
    _, _, host = _folders()
    places: list[Place] | None = None  # until the host's own lines are passed
    waits: Any = None if task is None else task.get_coro()
    while waits is not None:
        if isinstance(waits, GeneratorType):  # a generator of the host runs the function step by step
            waits = getgeneratorlocals(waits).get("function")
            continue
        frame = getattr(waits, "cr_frame", None)
        if frame is None:
            break
        place = Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)
        if place.file.startswith(host):
            places = []
        elif places is not None:
            places.append(place)
        waits = waits.cr_await
    # a running coroutine has no frames to walk, but its thread has
    return places or _lines(sys._current_frames().get(thread)) or []
