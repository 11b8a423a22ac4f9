"""`pegboard login`, `logins`, `logout` and `whoami`. Tokens are never printed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, TypeVar

from pegboard import ToolRuntimeError
from pegboard.plugin import CommandContext, RecordStore, encode
from pegboard.terminal import UsageError
from pegboard_client import LoginFailedError
from pegboard_plugins.auth.vault.login_flows import MAX_LOGIN_SECONDS, LoginFlows, login_flows
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultError, VaultToken

T = TypeVar("T")

NO_LOGINS = "There are no logins. Log in with `pegboard login PROVIDER`."


class LoginCommandError(ToolRuntimeError):
    """A login is not possible."""


def run_login(command: CommandContext) -> int:
    """Log in, and print the outcome."""
    options = command.options
    if options.provider is None:
        raise UsageError("name a provider, or a mounted server with --server", program="pegboard login")

    async def log_in(flows: LoginFlows) -> tuple[str, dict[str, Any] | None]:
        device, no_browser = options.device or None, options.no_browser
        return await _log_in(flows, options.provider, options.scopes, device=device, no_browser=no_browser)

    outcome, row = _with_flows(command, log_in)
    command.print(encode(row).decode() if options.json else f"{outcome}.")
    return 0


async def _log_in(
    flows: LoginFlows, provider: str, scopes: Sequence[str], *, device: bool | None, no_browser: bool
) -> tuple[str, dict[str, Any] | None]:
    if provider not in flows.clients:
        names = ", ".join(flows.clients) or "none"
        raise LoginCommandError(
            f"there is no provider {provider!r}: add [plugins.vault.providers.{provider}] with its client_id; "
            f"providers: {names}"
        )
    key = TokenKey("", "", provider)
    flow = await flows.start(key, scopes, device=device)
    code = f" and enter the code {flow.user_code}" if flow.user_code else ""
    sys.stderr.write(f"pegboard: open this page{code}: {flow.url}\n")
    sys.stderr.write(f"pegboard: the command waits up to {MAX_LOGIN_SECONDS / 60:.0f} minutes; Ctrl-C ends it\n")
    sys.stderr.flush()
    if sys.stderr.isatty() and not no_browser:
        import webbrowser

        await asyncio.to_thread(webbrowser.open, flow.url)
    outcome = await asyncio.shield(flow.done)
    if flow.task is not None:
        await flow.task
    token = await flows.tokens.load(key)
    return outcome, None if token is None else _row(key, token)


def run_logins(command: CommandContext) -> int:
    """Print the logins with their accounts and scopes."""
    rows = _with_flows(command, _logins)
    text = "\n".join(map(_line, rows)) or NO_LOGINS
    command.print(encode(rows).decode() if command.options.json else text)
    return 0


async def _logins(flows: LoginFlows) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for key in await flows.tokens.keys():
        if key.subject:
            continue
        try:
            token = await flows.tokens.load(key)
        except VaultError as error:
            rows.append({"provider": key.provider, "problem": str(error)})
        else:
            rows += [] if token is None else [_row(key, token)]
    return rows


def run_logout(command: CommandContext) -> int:
    """Revoke and forget a token."""
    provider = command.options.provider
    if provider is None:
        raise UsageError("name a provider, or a mounted server with --server", program="pegboard logout")
    rest = _with_flows(command, lambda flows: _log_out(flows, provider))
    problem = {"problem": rest} if rest else {}
    row = {"provider": provider, "revoked": not rest, **problem}
    text = f"The token of {provider} is removed. {rest}".rstrip()
    command.print(encode(row).decode() if command.options.json else text)
    return 0


async def _log_out(flows: LoginFlows, provider: str) -> str:
    """Remove a token. Return the part that the provider may still accept, and the way to end it, or ""."""
    key = TokenKey("", "", provider)
    if key not in await flows.tokens.keys():
        raise LoginCommandError(f"there is no login at {provider!r}: `pegboard logins` lists all")
    try:
        token = await flows.tokens.load(key)
    except ToolRuntimeError:
        token = None  # its key is lost
    rest = "it was not revoked, because its key is lost" if token is None else await flows.tokens.revoke(key, token)
    await flows.tokens.remove(key)
    rest = rest[:1].upper() + rest[1:]
    return f"{rest}: remove this program from the connected applications of your account there." if rest else ""


def run_whoami(command: CommandContext) -> int:
    """Print the account at each provider."""
    rows = _with_flows(command, _accounts)
    unnamed = "logged in; the provider does not name the account"
    lines = [f"{row['provider']}: {row.get('problem') or row['account'] or unnamed}" for row in rows]
    command.print(encode(rows).decode() if command.options.json else "\n".join(lines) or NO_LOGINS)
    return 0


async def _accounts(flows: LoginFlows) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for key in await flows.tokens.keys():
        client = flows.clients.get(key.provider)
        if client is None or key.subject:
            continue
        try:
            token = await flows.tokens.fresh(key)
            account = {"problem": "the login has ended: log in again"}
            if token is not None:
                account = {"account": await client.account(token)}
        except (LoginFailedError, VaultError) as error:
            account = {"problem": f"unknown: {error}"}
        rows.append({"provider": key.provider, **account})
    return rows


def _with_flows(command: CommandContext, use: Callable[[LoginFlows], Awaitable[T]]) -> T:
    async def run() -> T:
        settings = command.settings
        if settings.store is None:
            async with aclosing(login_flows(settings)) as flows:
                return await use(flows)
        host = command.new_host()
        host.load()
        async with host.for_protocols.stores:
            open_store = host.for_protocols.store
            async with aclosing(login_flows(settings, lambda _: open_store(RecordStore, settings.store))) as flows:
                return await use(flows)

    try:
        return asyncio.run(run())
    except LoginFailedError as error:
        raise LoginCommandError(f"the login failed: {error}") from None


def _row(key: TokenKey, token: VaultToken) -> dict[str, Any]:
    until = None if token.expires_at is None else f"{datetime.fromtimestamp(token.expires_at, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return {
        "provider": key.provider,
        "account": token.account,
        "scopes": list(token.scopes),
        "expires_at": until,
        "renewable": token.refresh_token is not None,
    }


def _line(row: dict[str, Any]) -> str:
    if "problem" in row:
        return f"{row['provider']}: {row['problem']}"
    until = "does not expire" if row["expires_at"] is None else f"expires {row['expires_at']}"
    renewed = ", is renewed" if row["renewable"] else ""
    account = f" as {row['account']}" if row["account"] else ""
    return f"{row['provider']}{account}: {' '.join(row['scopes']) or 'no scopes'}; {until}{renewed}"
