"""A record of the messages of an HTTP client and its server, in the format of `tests/support/tee.py`.

`>` and `<` stand before the client's and the server's JSON-RPC messages, and `#` before a response's method and status.
Runs in the client's environment, where the HTTP library is httpx or its successor: whichever is given.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import IO, Any

import anyio

TIMEOUT = 30.0
"""Seconds that an answer may keep the client waiting."""


class Connections(list[str]):
    """The method and status of each response so far."""

    def __init__(self) -> None:
        super().__init__()
        self._more = anyio.Event()

    def add(self, response: Any) -> None:
        """Note a response."""
        self.append(f"{response.request.method} {response.status_code}")
        self._more.set()
        self._more = anyio.Event()

    async def reached(self, one: str, many: int) -> None:
        """Wait until there have been so many of a kind."""
        while self.count(one) < many:
            await self._more.wait()


async def told(response: Any, stream: Any, record: IO[bytes]) -> AsyncIterator[bytes]:
    """Pass a body on: its messages are in the record before the client has them."""
    events = response.headers.get("Content-Type") == "text/event-stream"
    unread = b""
    async for chunk in stream:
        unread += chunk
        while events and b"\n\n" in unread:
            event, _, unread = unread.partition(b"\n\n")
            fields = dict(line.split(b": ", 1) for line in event.split(b"\n") if not line.startswith(b":"))
            if fields.get(b"data"):  # one without data only gives an id
                record.write(b"<" + fields[b"data"] + b"\n")
        yield chunk
    if unread:
        record.write(b"<" + unread + b"\n")


def tapped_client(httpx: Any, path: str, connections: Connections) -> Any:
    """An `AsyncClient` whose exchanges are added to a file."""
    record = open(path, "ab", buffering=0)  # noqa: SIM115  # written to until the program ends

    class Tapped(httpx.AsyncByteStream):  # type: ignore[misc]  # of the client's environment
        def __init__(self, response: Any) -> None:
            self.stream = response.stream
            self.told = told(response, self.stream, record)

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self.told

        async def aclose(self) -> None:
            await self.stream.aclose()

    async def asked(request: Any) -> None:
        if request.content:
            record.write(b">" + request.content + b"\n")

    async def answered(response: Any) -> None:
        record.write(b"#%s %d\n" % (response.request.method.encode(), response.status_code))
        response.stream = Tapped(response)
        connections.add(response)

    return httpx.AsyncClient(timeout=TIMEOUT, event_hooks={"request": [asked], "response": [answered]})
