"""Runs the stdio transport without the host, started as a process of its own: `python driver.py SCENE`.

A scene reports to standard error, one `report NAME JSON` a line.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
import warnings
from collections.abc import AsyncIterable
from types import SimpleNamespace
from typing import Any

from pegboard.plugin import Connection, TransportError
from pegboard.types import Caller
from pegboard_plugins.transports.stdio.c_library import flush_output
from pegboard_plugins.transports.stdio.running_tools import RunningTools
from pegboard_plugins.transports.stdio.stdio_transport import StdioTransport

LIMIT = 1024 * 1024


def report(name: str, value: Any) -> None:
    os.write(2, f"report {name} {json.dumps(value)}\n".encode())


async def echo(connection: Connection, messages: AsyncIterable[bytes]) -> None:
    async for message in messages:
        connection.send(message)


async def prints(connection: Connection, messages: AsyncIterable[bytes]) -> None:
    """Print each message in the way that it names, then echo it."""
    async for message in messages:
        way, _, text = json.loads(message).partition(" ")
        WAYS[way](text)
        connection.send(message)


def fork(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 and later warn of threads
        child = os.fork()
    if child == 0:
        print(text)
        os._exit(0)
    os.waitpid(child, 0)


WAYS: dict[str, Any] = {
    "print": print,
    "bytes": lambda text: sys.stdout.buffer.write(text.encode() + b"\xff\n"),
    "former": lambda text: print(text, file=sys.__stdout__),
    "descriptor": lambda text: os.write(1, text.encode() + b"\n"),
    "incomplete": lambda text: os.write(1, text.encode()),
    "child": lambda text: os.system(f"echo {text}"),
    "fork": fork,
    "surrogate": lambda text: print(text + "\ud83d"),
    "megabyte": lambda text: print("\n".join([text * 100] * (10_000 // len(text)))),
    "long": lambda text: print(text * 1_000_000),
    "logged": lambda text: logging.getLogger("a.library").warning("%s", text),
    "stderr": lambda text: os.write(2, text.encode() + b"\n"),
    "close": lambda text: sys.stdout.close(),
}


async def run(serve: Any) -> None:
    async def served(connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller) -> int:
        await serve(connection, messages)
        return 0

    host: Any = SimpleNamespace(serve=served, opened=lambda address: None, standard_output=1)
    try:
        await StdioTransport(RunningTools(), LIMIT).run(host)
    except TransportError as error:
        report("refused", str(error))


async def restored() -> None:
    """Run the transport twice, the first time while it runs already."""
    flush_output()  # libffi, which it loads, may keep a file open
    before = state()
    first = asyncio.create_task(run(echo))
    await asyncio.sleep(0)
    await run(echo)
    await first
    report("restored", before == state())
    print("on standard output again")


def state() -> Any:
    """Return everything that the transport changes while it runs."""
    places = [(os.fstat(number).st_dev, os.fstat(number).st_ino) for number in (0, 1, 2)]
    flags = [(os.get_blocking(number), os.get_inheritable(number)) for number in (0, 1, 2)]
    names = [entry for entry in os.listdir("/proc/self/fd") if int(entry) < 20]
    return places, flags, names, sys.stdin, sys.stdout, sys.stdout.line_buffering, threading.active_count()


if __name__ == "__main__":
    if sys.stderr is not None:
        where = sys.stdout if "--log-to-stdout" in sys.argv else sys.stderr
        logging.basicConfig(stream=where, format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(restored() if sys.argv[1] == "restored" else run(globals()[sys.argv[1]]))
