"""The login of `login.py` with the SDK's first line. Runs where `mcp` 1.x is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from login import main  # type: ignore[import-not-found]  # of the client's environment
from mcp import ClientSession  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment


def answered(query: dict[str, str]) -> Any:
    return query["code"], query.get("state")


@asynccontextmanager
async def connected(url: str, http: httpx.AsyncClient) -> AsyncIterator[Any]:
    async with (
        streamable_http_client(url, http_client=http) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


main(httpx, answered, connected)
