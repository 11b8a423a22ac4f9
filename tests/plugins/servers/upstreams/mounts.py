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
from tests.support.config import section
from tests.support.http import Served, http_config
from tests.support.oidc import OidcProvider, free_port
from tests.support.wire import PEGBOARD

HERE = Path(__file__).parent
ERAS = ("2026-07-28", "2025-06-18")
SCHEMA = {"type": "object"}


def peer(**more: Any) -> dict[str, Any]:
    """Return the section of a `pegboard` process with the toolkit of peers."""
    return {"command": str(PEGBOARD), "args": ["stdio", "--file", str(HERE / "peer_kit.py")], **more}


def served_peer(folder: Path, port: int = 0, more: str = "") -> Served:
    """Return a `pegboard serve` with the toolkit of peers, and with more sections."""
    config = http_config(f"port = {port}", more=more)
    return Served(folder, config, command=(PEGBOARD, "serve", "--file", HERE / "peer_kit.py"))


@asynccontextmanager
async def guarded_peer(folder: Path, **options: Any) -> AsyncIterator[tuple[OidcProvider, Served]]:
    """Serve the toolkit of peers to callers with tokens of the npm package oidc-provider."""
    port = free_port()
    provider = OidcProvider("ES256", f"http://127.0.0.1:{port}/mcp", vault=True, **options)
    async with provider, served_peer(folder, port, provider.guard) as peer:
        yield provider, peer


def scripted(folder: Path, script: dict[str, Any], **more: Any) -> dict[str, Any]:
    path = folder / f"script-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(script))
    return {"command": sys.executable, "args": ["-IS", str(HERE / "scripted.py"), str(path)], **more}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": SCHEMA, **more}


def tools(*names: str) -> dict[str, Any]:
    return {"tools/list": {"tools": [tool(name) for name in names]}}


def toml(name: str, server: dict[str, Any]) -> str:
    """Return the section of a server for a configuration file."""
    return section(f"plugins.upstreams.servers.{name}", server)


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
    return [listed["name"] for listed in await client.tools()]
