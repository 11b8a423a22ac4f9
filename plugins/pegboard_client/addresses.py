"""Addresses of servers, and the limits that apply to every server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from pegboard.types.callers import EMPTY
from pegboard_client.http_auth import HttpAuth
from pegboard_client.http_exchange import HttpExchange


class ClientLimits(NamedTuple):
    """Limits for a server. The client does not trust servers.

    Attributes:
        message_bytes: the largest message.
        list_pages: the largest number of pages of one list.
        list_items: the largest number of items of one list.
        questions: how many questions may wait for an answer at the same time.
        rounds: how many rounds of questions one request may have (2026-07-28).
        request_seconds: how long one round of a request may take, including progress and questions.
    """

    message_bytes: int = 32 * 1024 * 1024
    list_pages: int = 1_000
    list_items: int = 20_000
    questions: int = 16
    rounds: int = 32
    request_seconds: float = 3_600.0


NORMAL_LIMITS = ClientLimits()
"""The default limits of a client."""


class Endpoint(NamedTuple):
    """A server over Streamable HTTP.

    Attributes:
        url: the URL of its endpoint.
        headers: headers to add to each request.
        auth: adds credentials and performs a login; None for no login.
        exchange: sends the HTTP requests; None for aiohttp. The client closes it.
    """

    url: str
    headers: Mapping[str, str] = EMPTY
    auth: HttpAuth | None = None
    exchange: HttpExchange | None = None

    def __repr__(self) -> str:
        """Return the label. Headers and queries must not reach logs."""
        return f"Endpoint({self.label!r})"

    @property
    def label(self) -> str:
        """The name of the server in messages: the URL without credentials, query and fragment."""
        scheme, _, rest = self.url.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}".partition("?")[0].partition("#")[0]


class Program(NamedTuple):
    """A server that the client starts as a process and reaches over its standard input and output.

    Attributes:
        command: the program.
        args: its arguments.
        env: environment variables. The process also gets HOME, LANG, LC_ALL, LOGNAME, PATH, SHELL, TERM, TZ and USER
            of the client's environment, and no other variables.
        cwd: its working directory; None for the client's working directory.
        stderr: receives each line of its standard error; None for the logger `pegboard.client`.
    """

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = EMPTY
    cwd: str | Path | None = None
    stderr: Callable[[str], None] | None = None

    def __repr__(self) -> str:
        """Return the label. Variables and arguments must not reach logs."""
        return f"Program({self.label!r})"

    @property
    def label(self) -> str:
        """The name of the server in messages: the program. Arguments may contain secrets."""
        return self.command


class MessageStream(Protocol):
    """A connection to one server, such as the pipes of a process or a socket. It frames the messages."""

    def send(self, message: bytes) -> None:
        """Queue one JSON-RPC message without framing. Never block. If the stream is closed, drop the message."""

    async def drain(self) -> None:
        """Wait until the queue has room for more messages."""

    def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages of the server until they end.

        Raises:
            TransportError: the server broke the framing or exceeded a limit.
        """

    async def close(self) -> None:
        """Close the stream and release its resources."""


class Stream(NamedTuple):
    """A server at the other end of a message stream.

    Attributes:
        stream: the stream. The client closes it.
        label: the name of the server in messages.
    """

    stream: MessageStream
    label: str = "the stream"
