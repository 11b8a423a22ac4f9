"""`pegboard login`, `logins`, `logout` and `whoami`. Tokens are never printed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pegboard.client import LoginFailedError
from pegboard.plugin import Command, ToolRuntimeError, encode
from pegboard_plugins.vault.login_flows import LoginFlows
from pegboard_plugins.vault.vault_store import TokenKey, VaultError, VaultToken

T = TypeVar("T")


class LoginCommandError(ToolRuntimeError):
    """A login is not possible."""


def login_commands(logins: Callable[[], LoginFlows]) -> Sequence[Command]:
    """Return the commands.

    Args:
        logins: returns the logins of this process.
    """
    commands = LoginCommands(logins)
    provider = ("provider", {"metavar": "PROVIDER", "help": "the name of a section [plugins.vault.providers.NAME]"})
    scopes = {
        "nargs": "+",
        "default": [],
        "metavar": "SCOPE",
        "help": "scopes to request, in the words of the provider",
    }
    device = {"action": "store_true", "help": "log in with a code on any device, not with a browser here"}
    return [
        Command(
            name="login",
            summary="log in at a provider, so that tools can use your account there",
            run=commands.log_in,
            arguments=[provider, ("--scopes", scopes), ("--device", device)],
            examples=("pegboard login github --scopes repo", "pegboard login github --device"),
        ),
        Command(
            name="logins",
            summary="list the logins at providers",
            run=commands.list_logins,
            examples=("pegboard logins",),
        ),
        Command(
            name="logout",
            summary="revoke and forget the token of a provider",
            run=commands.log_out,
            arguments=[provider],
            examples=("pegboard logout github",),
        ),
        Command(
            name="whoami",
            summary="ask each provider for the account that tools act for",
            run=commands.list_accounts,
            examples=("pegboard whoami",),
        ),
    ]


class LoginCommands:
    """The functions of the commands.

    Args:
        logins: returns the logins of this process.
    """

    def __init__(self, logins: Callable[[], LoginFlows]) -> None:
        self._logins = logins

    def log_in(self, options: Any) -> str:
        """Log in, and return the outcome."""
        outcome, row = self._run(self._log_in(options.provider, options.scopes, device=options.device or None))
        return encode(row).decode() if options.json else f"{outcome}."

    async def _log_in(
        self, provider: str, scopes: Sequence[str], *, device: bool | None
    ) -> tuple[str, dict[str, Any] | None]:
        flows = self._logins()
        if provider not in flows.clients:
            known = ", ".join(flows.clients) or "none"
            raise LoginCommandError(
                f"there is no provider {provider!r}: add [plugins.vault.providers.{provider}] with its client_id; "
                f"providers: {known}"
            )
        key = TokenKey("", "", provider)
        flow = await flows.start(key, scopes, device=device)
        code = f" and enter the code {flow.user_code}" if flow.user_code else ""
        sys.stderr.write(f"pegboard: open this page{code}: {flow.url}\n")
        sys.stderr.flush()
        if sys.stderr.isatty():
            import webbrowser

            await asyncio.to_thread(webbrowser.open, flow.url)
        outcome = await asyncio.shield(flow.done)
        if flow.task is not None:
            await flow.task
        token = await flows.tokens.load(key)
        return outcome, None if token is None else _row(key, token)

    def list_logins(self, options: Any) -> str:
        """Return the logins with their accounts and scopes."""
        rows = self._run(self._rows())
        if options.json:
            return encode(rows).decode()
        if not rows:
            return "There are no logins. Log in with `pegboard login PROVIDER`."
        return "\n".join(_line(row) for row in rows)

    async def _rows(self) -> list[dict[str, Any]]:
        tokens, rows = self._logins().tokens, []
        for key in await tokens.keys():
            if key.subject:
                continue
            try:
                token = await tokens.load(key)
            except VaultError as error:
                rows.append({"provider": key.provider, "problem": str(error)})
            else:
                rows += [] if token is None else [_row(key, token)]
        return rows

    def log_out(self, options: Any) -> str:
        """Revoke and forget a token."""
        rest = self._run(self._log_out(options.provider))
        if options.json:
            problem = {"problem": rest} if rest else {}
            return encode({"provider": options.provider, "revoked": not rest, **problem}).decode()
        return f"The token of {options.provider} is removed. {rest}".rstrip()

    async def _log_out(self, provider: str) -> str:
        """Remove a token. Return the part that the provider may still accept, and the way to end it, or ""."""
        flows, key = self._logins(), TokenKey("", "", provider)
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

    def list_accounts(self, options: Any) -> str:
        """Return the account at each provider."""
        rows = self._run(self._accounts())
        if options.json:
            return encode(rows).decode()
        unnamed = "logged in; the provider does not name the account"
        lines = [f"{row['provider']}: {row.get('problem') or row['account'] or unnamed}" for row in rows]
        return "\n".join(lines) or "There are no logins. Log in with `pegboard login PROVIDER`."

    async def _accounts(self) -> list[dict[str, Any]]:
        flows, rows = self._logins(), []
        for key in await flows.tokens.keys():
            client = flows.clients.get(key.provider)
            if client is None or key.subject:
                continue
            try:
                token = await flows.tokens.fresh(key)
                found = {"problem": "the login has ended: log in again"}
                if token is not None:
                    found = {"account": await client.account(token)}
            except (LoginFailedError, VaultError) as error:
                found = {"problem": f"unknown: {error}"}
            rows.append({"provider": key.provider, **found})
        return rows

    def _run(self, work: Awaitable[T]) -> T:
        async def run() -> T:
            try:
                return await work
            finally:
                await self._logins().close()

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
