"""The client: connections on sockets, which stay open and send prepared requests.

During a measurement the client only finds the end of each response. The responses are checked later.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from benchmarks.http.answers import is_whole, size_of
from benchmarks.messages import WrongAnswerError
from benchmarks.process import TIMEOUT_SECONDS

_CHUNK: Final = 2**18


@dataclass(slots=True)
class Connection:
    """One connection to a server on this machine.

    Attributes:
        received: the received part of the current response.
        size: the size of this response; None if it is not known yet.
        sent_at: the time when its request was sent.
    """

    port: int
    received: bytes = b""
    size: int | None = None
    sent_at: float = 0.0
    socket: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        """Connect."""
        self.socket = socket.create_connection(("127.0.0.1", self.port), TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> None:
        """Send a request that fits the buffer of the kernel."""
        self.received, self.size, self.sent_at = b"", None, time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Read the available bytes. Return True if the response is complete.

        Raises:
            WrongAnswerError: the server has closed the connection.
        """
        chunk = self.socket.recv(_CHUNK)
        if not chunk:
            raise WrongAnswerError(f"the connection was closed; so far {self.received[:300]!r}")
        self.received = self.received + chunk if self.received else chunk
        if self.size is None:
            self.size = size_of(self.received)
        return is_whole(self.received, self.size)

    def exchange(self, request: bytes) -> bytes:
        """Send a request and wait for its response."""
        self.send(request)
        while not self.receive():
            pass
        return self.received

    def open_stream(self, request: bytes) -> bytes:
        """Send a request for a stream, and return the header of the response."""
        self.send(request)
        while self.size is None:
            self.receive()
        return self.received

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()


class Load:
    """Several connections that share the requests. Each sends the next request after its response."""

    def __init__(self, port: int, concurrency: int) -> None:
        self._connections = [Connection(port) for _ in range(concurrency)]
        self._by_file = {connection.socket.fileno(): connection for connection in self._connections}
        self._poll = select.epoll()
        for file in self._by_file:
            self._poll.register(file, select.EPOLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._poll.close()
        for connection in self._connections:
            connection.close()

    def run(self, requests: Sequence[bytes]) -> tuple[list[bytes], list[float]]:
        """Send all requests. Return the responses in the order of their arrival, and their latencies in seconds.

        Raises:
            WrongAnswerError: a response is missing.
        """
        responses: list[bytes] = []
        latencies: list[float] = []
        following = iter(requests)
        missing = len(requests)
        for connection, request in zip(self._connections, requests, strict=False):
            connection.send(request)
            next(following)
        while len(responses) < missing:
            events = self._poll.poll(TIMEOUT_SECONDS)
            if not events:
                raise WrongAnswerError("responses are missing")
            for file, _ in events:
                self._take(self._by_file[file], following, responses, latencies)
        return responses, latencies

    def _take(
        self, connection: Connection, following: Iterator[bytes], responses: list[bytes], latencies: list[float]
    ) -> None:
        if not connection.receive():
            return
        latencies.append(time.perf_counter() - connection.sent_at)
        responses.append(connection.received)
        request = next(following, None)
        if request is not None:
            connection.send(request)
