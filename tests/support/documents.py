"""HTTP exchanges of a client that respond to each request with one document."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pegboard_client import HttpReply


class Documents:
    """Responds to each request with one document; hosts named `slow` respond never.

    Attributes:
        asked: the URLs of the requests.
        is_slow: set after a request to a slow host.
    """

    def __init__(self, document: Mapping[str, Any], status: int = 200) -> None:
        self.document = document
        self.status = status
        self.asked: list[str] = []
        self.is_slow = asyncio.Event()

    @asynccontextmanager
    async def __call__(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> AsyncIterator[HttpReply]:
        self.asked.append(url)
        if url.startswith("https://slow."):
            self.is_slow.set()
            await asyncio.Event().wait()

        async def chunks() -> AsyncIterator[bytes]:
            yield json.dumps(self.document).encode()

        yield HttpReply(self.status, {}, chunks())

    async def close(self) -> None:
        """Close no connection."""
