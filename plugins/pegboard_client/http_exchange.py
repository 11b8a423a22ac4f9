"""The contract for sending HTTP requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol


class HttpReply(NamedTuple):
    """The response to one HTTP request.

    Attributes:
        status: the status.
        headers: the headers. The names are in lower case, or the mapping ignores case.
        chunks: the body, in parts.
    """

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


class HttpExchange(Protocol):
    """Sends HTTP requests. The default uses aiohttp."""

    def __call__(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> AbstractAsyncContextManager[HttpReply]:
        """Send one request. Leaving the context closes the response.

        Raises:
            TransportError: the server cannot be reached, or the connection was lost.
        """

    async def close(self) -> None:
        """Close all connections."""
