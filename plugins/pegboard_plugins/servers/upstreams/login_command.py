"""`pegboard login` and `logout` with `--server NAME`, for a mounted server. Tokens are never printed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard import MCPError
from pegboard.plugin import CommandContext, LoginStore, Store, encode
from pegboard.terminal import UsageError
from pegboard_client import Client, Endpoint, LoginRequiredError, UnregisteredError, canonical
from pegboard_plugins.servers.upstreams.caller_login import end_login
from pegboard_plugins.servers.upstreams.host_login import HostLogin, caller_logins, login_problem, oauth
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.support.pasted_redirect import PastedRedirect, show_login_page

if TYPE_CHECKING:
    from pegboard_client import OAuth


def run_server_login(command: CommandContext) -> int:
    """Log in at a mounted server, and print the outcome."""
    options = command.options
    if options.provider is not None or options.device:
        wrong = "--device" if options.device else options.provider
        raise UsageError(f"{wrong} has no effect with --server", program="pegboard login")
    config = _server(command, options.server)
    if config.user_key is not None or not (config.logs_in or config.callers_log_in):
        raise MCPError(
            f"the host needs no login at {options.server!r}: a login requires a url, no auth, and no "
            f"Authorization among the headers of [plugins.upstreams.servers.{options.server}]"
        )
    row = asyncio.run(_log_in(command, config))
    outcome = f"You are logged in at {options.server}, by {row['issuer']}."
    command.print(encode(row).decode() if options.json else outcome)
    return 0


def run_server_logout(command: CommandContext) -> int:
    """Revoke and forget the login at a mounted server: the operator's, or that of a caller."""
    named = command.options.server
    name, _, subject = named.partition("/")
    config = _server(command, name)
    is_revoked = asyncio.run(_log_out(command, config, subject or None))
    rest = "" if is_revoked else " It was not revoked: remove this program in your account there."
    text = f"The login at {named} is removed.{rest}"
    command.print(encode({"server": named, "revoked": is_revoked}).decode() if command.options.json else text)
    return 0


async def _log_out(command: CommandContext, config: ServerConfig, subject: str | None) -> bool:
    async with command.host.for_protocols.stores, _offered(command).open() as store:
        owners = [(None, store)] if subject is None else await caller_logins(config, store)
        own = next((own for account, own in owners if account == subject), None)
        if own is None or await own.load(canonical(config.url or "")) is None:
            raise MCPError(f"there is no login at {command.options.server!r}: `pegboard upstreams` lists the logins")
        return await end_login(config, own)


def _offered(command: CommandContext) -> Store:
    offered = command.plugin.find_store(LoginStore)
    if offered is None:
        raise MCPError("no plugin keeps logins: enable one with `pegboard enable vault`")
    return offered


def _server(command: CommandContext, name: str) -> ServerConfig:
    servers: Mapping[str, ServerConfig] = command.settings.servers if command.settings else {}
    config = servers.get(name)
    if config is None:
        names = f"; mounted servers: {', '.join(servers)}" if servers else ""
        raise MCPError(f"no server {name!r} is mounted: add [plugins.upstreams.servers.{name}] with its url{names}")
    return config


async def _log_in(command: CommandContext, config: ServerConfig) -> dict[str, Any]:
    options, name = command.options, command.options.server

    open_page = partial(show_login_page, at=f" at {name}", pastes=True, opens=not options.no_browser)
    async with command.host.for_protocols.stores, _offered(command).open() as store:
        redirect = PastedRedirect(config.redirect_uri or "")
        login = NewLogin(oauth(config, store, open_page, redirect=redirect, scopes=options.scopes))
        try:
            async with Client(Endpoint(config.url or "", config.fixed_headers, login), revision=config.revision):
                pass
        except LoginRequiredError as error:
            if isinstance(error.__cause__, UnregisteredError):
                raise MCPError(login_problem(name, error)) from None
            raise
        if not login.is_made:
            raise MCPError(f"the server {name!r} requires no login")
        state = HostLogin(name, config, command.plugin)
        state.open(store)
        return {"server": name, **(await state.describe() or {})}


class NewLogin:
    """Logs in at the first response that demands it, even if an earlier login is stored.

    Args:
        auth: the logins.

    Attributes:
        is_made: True after the login.
    """

    def __init__(self, auth: OAuth) -> None:
        self._auth = auth
        self.is_made = False

    async def headers(self, url: str) -> Mapping[str, str]:
        """Return the header with the new token, or none before the login."""
        return await self._auth.headers(url) if self.is_made else {}

    async def challenged(self, url: str, status: int, headers: Mapping[str, str]) -> bool:
        """Log in once. Return False if the server does not accept the new token."""
        if self.is_made:
            return False
        await self._auth.log_in(url, headers)
        self.is_made = True
        return True
