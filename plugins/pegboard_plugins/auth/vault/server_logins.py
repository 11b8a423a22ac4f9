"""Logins at MCP servers, of the operator and of callers, for plugins that connect to such servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

from pegboard.plugin import LoginPage, LoginStore, decode, encode
from pegboard.types import Caller
from pegboard_plugins.auth.vault.kept_tokens import LOCK_POLL_SECONDS
from pegboard_plugins.auth.vault.login_flows import OPERATOR, LoginFlows
from pegboard_plugins.auth.vault.vault_store import TokenKey


class ServerLogins(LoginStore):
    """The logins of one owner in the vault.

    Args:
        flows: the logins that wait, and the vault.
        owner: the issuer and the subject of the owner. Both are "" for the operator.
    """

    def __init__(self, flows: LoginFlows, owner: tuple[str, str] = OPERATOR) -> None:
        self._flows = flows
        self._tokens = flows.tokens
        self._owner = owner
        pages = flows.caller_pages
        self.admits_callers = pages is not None
        self.asks_person = owner != OPERATOR
        self.client_metadata_url = "" if pages is None or owner == OPERATOR else pages.client_metadata_url

    def of(self, caller: Caller) -> LoginStore | None:
        owner = self._flows.owner(caller)
        return None if owner is None else ServerLogins(self._flows, owner)

    async def owners(self, server: str) -> Sequence[Caller]:
        rows = [decode(name.encode()) for name in await self._tokens.logins() if name[0] == "["]
        return [Caller(subject, issuer=issuer) for issuer, subject, name in rows if name == server]

    async def begin(
        self, name: str, title: str, log_in: Callable[[LoginPage], Awaitable[object]], seconds: float
    ) -> tuple[str, str]:
        """Start a login of the owner."""
        flow = await self._flows.begin(TokenKey(*self._owner, name), title, log_in, seconds)
        return flow.id, flow.url

    def version(self) -> object:
        return self._tokens.version()

    async def load(self, server: str) -> Mapping[str, Any] | None:
        return await self._tokens.load_login(self._row(server))

    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        """Replace the login at a server. It survives a crash when this method returns."""
        await self._tokens.save_login(self._row(server), login)

    def _row(self, server: str) -> str:
        """Return the name of a row. No URL begins with the bracket of a caller's rows."""
        return server if self._owner == OPERATOR else encode([*self._owner, server]).decode()

    @asynccontextmanager
    async def renewing(self, server: str) -> AsyncIterator[None]:
        """Wait until no other process or task renews the login at a server."""
        name = f"vault-{sha256(self._row(server).encode()).hexdigest()[:32]}"
        while True:
            async with self._tokens.lock(name) as is_ours:
                if is_ours:
                    yield
                    return
            await asyncio.sleep(LOCK_POLL_SECONDS)
