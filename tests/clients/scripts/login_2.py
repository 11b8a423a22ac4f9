"""The login of `login.py` with the SDK's second line. Runs where `mcp` 2.x is installed."""

from __future__ import annotations

from typing import Any

import httpx2
import mcp  # type: ignore[import-not-found]  # of the client's environment
from login import main  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.auth import AuthorizationCodeResult  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment


def answered(query: dict[str, str]) -> Any:
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


def connected(url: str, http: httpx2.AsyncClient) -> Any:
    return mcp.Client(streamable_http_client(url, http_client=http))


main(httpx2, answered, connected)
