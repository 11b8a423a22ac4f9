"""Mounted servers for tests: the sections of peers, and a client of a host that mounts them."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pegboard_testing import connect
from tests.support.wire import PEGBOARD

HERE = Path(__file__).parent
ERAS = ("2026-07-28", "2025-06-18")
SCHEMA = {"type": "object"}


def peer(**more: Any) -> dict[str, Any]:
    """Return the section of a `pegboard` process with the toolkit of peers."""
    return {"command": str(PEGBOARD), "args": ["stdio", "--file", str(HERE / "peer_kit.py")], **more}


def scripted(folder: Path, script: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the section of a scripted server."""
    path = folder / f"script-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(script))
    return {"command": sys.executable, "args": ["-IS", str(HERE / "scripted.py"), str(path)], **more}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": SCHEMA, **more}


def tools(*names: str) -> dict[str, Any]:
    """Return a script with tools."""
    return {"tools/list": {"tools": [tool(name) for name in names]}}


@asynccontextmanager
async def mounting(
    servers: dict[str, Any],
    first_list_seconds: float = 30,
    *,
    listed: bool = True,
    settings: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> AsyncIterator[Any]:
    """Return a client of a host that mounts servers, after its first list if `listed`."""
    config = {"servers": servers, "first_list_seconds": first_list_seconds, **settings}
    async with connect("upstreams", config=config, **options) as client:
        if listed:
            await names(client)
        yield client


async def names(client: Any) -> list[str]:
    """Return the names of the tools that a client sees."""
    return [listed["name"] for listed in await client.tools()]
