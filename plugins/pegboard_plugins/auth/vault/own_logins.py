"""The logins of one caller from the network, which the caller ends on a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pegboard import MCPError
from pegboard.plugin import decode
from pegboard.types import Response
from pegboard_client import OAuth, browser_page
from pegboard_plugins.auth.vault.login_flows import LoginFlows
from pegboard_plugins.auth.vault.server_logins import ServerLogins
from pegboard_plugins.auth.vault.vault_store import TokenKey


class OwnLogins:
    """The logins of a caller at providers and at MCP servers.

    Args:
        flows: all logins.
        subject: the subject of the caller.
    """

    def __init__(self, flows: LoginFlows, subject: str) -> None:
        self._tokens = flows.tokens
        self._owner = (flows.issuer or "", subject)
        self._store = ServerLogins(flows, self._owner)

    async def page(self, action: str, outcome: str = "") -> Response:
        """Return the page.

        Args:
            action: the path that receives the name of the login to end.
            outcome: what the caller has ended; "" for nothing.
        """
        names = dict.fromkeys([*await self._providers(), *(row.split()[-1] for row in await self._rows())])
        forms = "".join(
            f'<form method="post" action="{action}"><p>{escape(name)}</p>'
            f'<button name="name" value="{escape(name)}">End</button></form>'
            for name in names
        )
        note = f'<p class="note">{escape(outcome)}</p>' if outcome else ""
        return browser_page(200, "Your logins", f"<h1>Your logins</h1>{note}{forms or '<p>There are none.</p>'}")

    async def end(self, name: str) -> str:
        """Revoke and forget a login, and the caller's consent to its use. Return the outcome for the caller."""
        is_revoked = True
        if name in await self._providers():
            is_revoked = await self._end_at_provider(TokenKey(*self._owner, name))
        if await self._rows(name):
            is_revoked = await OAuth(None, store=self._store, renewing=self._store.renewing).log_out(name)
            async with self._store.renewing(name):  # a consent or a renewal under way would be saved later
                for row in await self._rows(name):
                    await self._store.save(row, None)
        rest = "" if is_revoked else " It was not revoked: remove this program in your account there."
        return f"The login at {name} is removed.{rest}"

    async def _end_at_provider(self, key: TokenKey) -> bool:
        try:
            token = await self._tokens.load(key)
            is_revoked = token is None or not await self._tokens.revoke(key, token)
        except MCPError:
            is_revoked = False  # its key is lost
        await self._tokens.remove(key)
        return is_revoked

    async def _providers(self) -> Sequence[str]:
        return [key.provider for key in await self._tokens.keys() if key[:2] == self._owner]

    async def _rows(self, server: str | None = None) -> Sequence[str]:
        """Return the names of the caller's rows, or those of one server. Each ends with the URL of its server."""
        rows = [decode(name.encode()) for name in await self._tokens.logins() if name[0] == "["]
        own = [row for *owner, row in rows if tuple(owner) == self._owner]
        return [row for row in own if server in (None, row.split()[-1])]
