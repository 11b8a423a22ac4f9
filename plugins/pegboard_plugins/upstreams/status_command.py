"""`pegboard upstreams`: connects to each mounted server once, and shows its state."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from pegboard import MCPError
from pegboard.plugin import Command, PluginContext, encode
from pegboard_plugins.upstreams.hops import LoopError
from pegboard_plugins.upstreams.mounted import wire_form
from pegboard_plugins.upstreams.server_address import server_address
from pegboard_plugins.upstreams.server_config import ServerConfig, UpstreamsConfig
from pegboard_plugins.upstreams.server_log import ServerLog
from pegboard_plugins.upstreams.upstream_lists import ALL_KINDS, ListReader, UpstreamLists


def upstreams_command(config: UpstreamsConfig, context: PluginContext) -> Command:
    """Return the command."""

    def run(options: Any) -> str:
        found = asyncio.run(_states(config, Path(context.directory or Path.cwd()), context.logger))
        if options.json:
            return encode(found).decode()
        return "\n".join(map(_line, found)) or "no servers are mounted: add sections [plugins.upstreams.servers.NAME]"

    return Command(
        name="upstreams",
        summary="connect to each mounted server, and show its state and its tools",
        run=run,
        examples=("pegboard upstreams", "pegboard upstreams --json"),
    )


async def _states(config: UpstreamsConfig, folder: Path, logger: logging.Logger) -> list[dict[str, Any]]:
    servers = sorted(config.servers.items())
    return list(await asyncio.gather(*(_state(name, one, folder, logger) for name, one in servers)))


async def _state(name: str, config: ServerConfig, folder: Path, logger: logging.Logger) -> dict[str, Any]:
    """Return the state of one server as JSON. A server with a connection for each user is not connected."""
    about: dict[str, Any] = {"name": name, "start": config.start, "identity": config.identity}
    if config.identity == "user":
        return {**about, "state": "each user has a connection"}
    from pegboard.client import Client

    try:
        async with Client(
            server_address(name, config, folder, ServerLog(name, logger), None),
            revision=config.revision,
            timeout=config.timeout,
        ) as client:
            lists = await ListReader(name, config, logger, {}).read(client, ALL_KINDS, UpstreamLists())
            return {
                **about,
                "state": "connected",
                "revision": client.revision,
                "server": f"{client.server.name} {client.server.version}".strip(),
                "tools": [wire_form(config.shown_name(name, one)) for one in lists.tools],
                "resources": [*lists.resources, *lists.templates],
                "prompts": [wire_form(config.shown_name(name, one)) for one in lists.prompts],
            }
    except (MCPError, OSError, LoopError) as error:
        return {**about, "state": "failed", "reason": str(error)}


def _line(found: dict[str, Any]) -> str:
    if found["state"] != "connected":
        return f"{found['name']}: {found['state']}" + (f": {found['reason']}" if "reason" in found else "")
    counts = ", ".join(f"{len(found[kind])} {kind}" for kind in ("tools", "resources", "prompts"))
    lines = [f"{found['name']}: connected to {found['server']} ({found['revision']}), {counts}"]
    return "\n".join([*lines, *(f"  {name}" for name in found["tools"])])
