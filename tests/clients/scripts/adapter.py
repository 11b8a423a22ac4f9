"""What scenarios know of a client, whichever line of the SDK it is, and what they share.

Runs in the client's environment.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import anyio
import anyio.to_thread

Json = dict[str, Any]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]
OnToken = Callable[[str], Awaitable[None]]


class Events(Protocol):
    """What a client hears of changes."""

    async def next(self) -> str:
        """The next one: the URI of a resource, or the kind of a list."""

    async def end(self) -> str:
        """How it ends: "graceful" or "lost"; what else is heard until then is passed over."""


class Adapter(Protocol):
    """One connected client. Everything it returns has the names of the wire.

    Attributes:
        answers: what it answers when it is asked (`answers.py`).
        connections: what went by over HTTP (`tap.py`).
    """

    answers: Any
    connections: Any

    def opening(self) -> Json:
        """What the client learnt of the server when it connected."""

    async def list(self, kind: str, cursor: str | None) -> Json:
        """A page of "tools", "resources", "resource_templates" or "prompts"."""

    async def call(self, name: str, arguments: Json | None = None, progress: Progress | None = None) -> Json:
        """Call a tool."""

    async def read(self, uri: str) -> Json:
        """Read a resource."""

    async def prompt(self, name: str, arguments: Json | None = None) -> Json:
        """Get a prompt."""

    async def complete(self, ref: Json, argument: Json, chosen: Json | None) -> Json:
        """Complete an argument of what `ref` names, where others have been chosen."""

    async def set_level(self, level: str) -> None:
        """Want log messages of this level and above from now on."""

    def watching(self, kinds: Sequence[str], uris: Sequence[str]) -> AbstractAsyncContextManager[Events]:
        """Hear of changes: of these lists and resources alone in 2026-07-28, in sessions of all lists."""

    async def open_stream(self) -> None:
        """Open another stream for what belongs to no call: the SDK comes back once for one that it has lost."""

    async def begin(self, name: str, arguments: Json, on_token: OnToken) -> Json:
        """Call a tool, and be told where its stream can be resumed."""

    async def resume(self, token: str) -> Json:
        """The result of a call that another connection has begun."""

    async def ping(self) -> Json:
        """Ping the server."""

    async def before_cancel(self) -> None:
        """Tell the server that the call begun last is cancelled, where the SDK does not do so by itself."""

    def error(self, error: Exception) -> Json | None:
        """The JSON-RPC error in an exception of the SDK, None where it is something else."""


async def pages(client: Adapter, kind: str) -> list[Json]:
    """All pages of a list."""
    found = [await client.list(kind, None)]
    while cursor := found[-1].get("nextCursor"):
        found.append(await client.list(kind, cursor))
    return found


async def attempt(client: Adapter, what: Awaitable[Json]) -> Json:
    """A result, or the error that the server answered with."""
    try:
        return {"result": await what}
    except Exception as error:
        told = client.error(error)
        if told is None:
            raise
        return {"error": told}


async def begun(client: Adapter, name: str, arguments: Json, tasks: anyio.abc.TaskGroup) -> None:
    """Begin a call, and return when the tool says that it has begun."""
    started = anyio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    tasks.start_soon(client.call, name, arguments, progress)
    with anyio.fail_after(10):
        await started.wait()


async def told_to_go_on() -> None:
    """Say so, and wait until told to go on."""
    print("called", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.readline)
