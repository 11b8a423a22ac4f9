"""`pegboard upstreams`: connects to each mounted server once, and shows its state."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pegboard import AuthorizationRequiredError, Host, MCPError
from pegboard.plugin import CommandContext, PluginContext, encode
from pegboard.terminal import say
from pegboard.types import ItemKind
from pegboard_client import Client
from pegboard_plugins.servers.upstreams.hops import LoopError
from pegboard_plugins.servers.upstreams.host_login import (
    CALLERS_ADVICE,
    OTHER_ADVICE,
    caller_logins,
    description,
    oauth,
)
from pegboard_plugins.servers.upstreams.mounted_servers import MountedServers, wait_for_all
from pegboard_plugins.servers.upstreams.served_items import LISTED_AS
from pegboard_plugins.servers.upstreams.server_address import server_address
from pegboard_plugins.servers.upstreams.server_log import ServerLog
from pegboard_plugins.servers.upstreams.settings import UpstreamsConfig
from pegboard_plugins.servers.upstreams.upstream_lists import ALL_KINDS, ListReader, UpstreamLists
from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer


def run_upstreams(command: CommandContext) -> int:
    """Print the state of each server. Fail if a server cannot be used."""
    states = asyncio.run(_states(command.settings, command.plugin, command.host))
    none = "no servers are mounted: add sections [plugins.upstreams.servers.NAME]"
    text = "\n".join(map(_line, states)) or none
    command.print(encode(states).decode() if command.options.json else text)
    return int(any(state["state"] == "failed" and not state["optional"] for state in states))


async def _states(config: UpstreamsConfig, context: PluginContext, host: Host) -> list[dict[str, Any]]:
    quiet = context.logger.getChild("status")
    quiet.setLevel(logging.CRITICAL)  # the output has the reasons
    mounted = MountedServers(config, context._replace(logger=quiet))
    seconds = config.connect_seconds
    async with mounted.logins():
        states = {
            server.name: asyncio.ensure_future(_state(server, context, host, seconds)) for server in mounted.servers
        }
        await wait_for_all(states, say)
    return [state.result() for state in states.values()]


async def _state(server: UpstreamServer, context: PluginContext, host: Host, seconds: float) -> dict[str, Any]:
    """Return the state and the login of one server as JSON."""
    state = await _connected_state(server, context, host, seconds)
    try:
        if server.config.callers_log_in:
            return {**state, "logins": await _logins(server)}
        login = None if server.login is None else await server.login.describe()
    except MCPError as error:
        return {**state, "login": {"problem": str(error)}}
    return state if login is None else {**state, "login": login}


async def _logins(server: UpstreamServer) -> list[dict[str, Any]]:
    """Return the logins and the keys of callers as JSON."""
    return [
        await description(oauth(server.config, own, None), server.config, account)
        or {"account": account, "issuer": None, "scopes": [], "expires_at": None, "renewable": False}
        for account, own in await caller_logins(server.config, server.callers.store)
    ]


async def _connected_state(
    server: UpstreamServer, context: PluginContext, host: Host, seconds: float
) -> dict[str, Any]:
    """Return the state of one server as JSON. A server with a connection for each user is not connected."""
    name, config, logger = server.name, server.config, context.logger
    about: dict[str, Any] = {
        "name": name,
        "start": config.start,
        "identity": config.identity,
        "optional": config.optional,
    }
    if config.identity == "user":
        can_log_in = not config.callers_log_in or server.callers.are_possible
        missing = {} if can_log_in else {"reason": f"if it requires a login: {CALLERS_ADVICE}"}
        return {**about, "state": "each user has a connection", **missing}
    try:
        folder = Path(context.directory or Path.cwd())
        async with (
            asyncio.timeout(seconds),
            Client(
                server_address(name, config, folder, ServerLog(name, logger), server.login),
                revision=config.revision,
                capabilities=server.rules.capabilities(),
                timeout=max(config.timeout, seconds),
            ) as client,
        ):
            reader = ListReader(name, config, logger, {}, server.selection)
            lists = await reader.read(client, ALL_KINDS, UpstreamLists())
            if reader.failed:
                return {**about, "state": "failed", "reason": next(iter(reader.failed.values()))}
            await server.items.publish(name, lists)
            await server.memory.remember(lists)
            await server.selection.end(own for items in lists for own in items)
            return {
                **about,
                "state": "connected",
                "revision": client.revision,
                "server": f"{client.server.name} {client.server.version}".strip(),
                **_items(server, lists, host),
            }
    except AuthorizationRequiredError as error:
        advice = OTHER_ADVICE if server.login is None else server.login.advice(error.scopes)
        return {**about, "state": "failed", "reason": f"{str(error).removesuffix('.')}; {advice}"}
    except TimeoutError:
        reason = f"it has not connected within {seconds:g} seconds (connect_seconds)"
        return {**about, "state": "failed", "reason": reason}
    except (MCPError, OSError, LoopError) as error:
        return {**about, "state": "failed", "reason": str(error)}


def _items(server: UpstreamServer, lists: UpstreamLists, host: Host) -> dict[str, Any]:
    """Return the items of a server that the host serves, and those that it does not serve, as JSON."""
    shown: dict[ItemKind, list[str | None]] = {"tools": [], "resources": [], "prompts": []}
    for kind, items in zip(LISTED_AS, lists, strict=True):
        shown[LISTED_AS[kind]] += [server.items.shown(kind, own) for own in items]
    refused = [*server.items.refused.items(), *server.selection.reasons(host.config.source).items()]
    refused += [
        ((item.kind, item.name), item.reason) for item in host.assembly.unserved if item.name in shown[item.kind]
    ]
    return {
        **{kind: [name for name in names if name in host.assembly.items(kind)] for kind, names in shown.items()},
        "refused": [{"kind": kind, "name": name, "reason": reason} for (kind, name), reason in refused],
    }


def _line(state: dict[str, Any]) -> str:
    logins = [state["login"]] if "login" in state else state.get("logins", [])
    login = [f"  {_login_line(login)}" for login in logins]
    if state["state"] != "connected":
        reason = f": {state['reason']}" if "reason" in state else ""
        return "\n".join([f"{state['name']}: {state['state']}{reason}", *login])
    counts = ", ".join(_count(state[kind], kind) for kind in ("tools", "resources", "prompts"))
    lines = [f"{state['name']}: connected to {state['server']} ({state['revision']}), {counts}"]
    lines += [*login, *(f"  {name}" for name in state["tools"])]
    lines += [
        f"  not served: {item['kind'].removesuffix('s')} {item['name']!r}: {item['reason']}"
        for item in state["refused"]
    ]
    return "\n".join(lines)


def _login_line(login: dict[str, Any]) -> str:
    if "problem" in login:
        return f"login: {login['problem']}"
    if login["issuer"] is None:
        return f"key: {login['account']}"
    until = "without an end" if login["expires_at"] is None else f"until {login['expires_at']}"
    renewed = ", is renewed" if login["renewable"] else ""
    return f"login: {login['account']}, at {login['issuer']}, {until}{renewed}"


def _count(items: Sequence[Any], kind: str) -> str:
    return f"{len(items)} {kind.removesuffix('s') if len(items) == 1 else kind}"
