"""The operator's logins at MCP servers, for plugins that connect to such servers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

from pegboard.plugin import LoginStore, StateFiles
from pegboard_plugins.auth.vault.kept_tokens import LOCK_POLL_SECONDS, KeptTokens


class ServerLogins(LoginStore):
    """The logins in the file of the vault.

    Args:
        tokens: has the file.
    """

    def __init__(self, tokens: KeptTokens) -> None:
        self._tokens = tokens

    async def load(self, server: str) -> Mapping[str, Any] | None:
        """Return the login at a server."""
        return await self._tokens.in_thread(lambda store: store.load_login(server))

    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        """Replace the login at a server. It is on the disk when this method returns."""
        await self._tokens.in_thread(lambda store: store.save_login(server, login))

    @asynccontextmanager
    async def renewing(self, server: str) -> AsyncIterator[None]:
        """Wait until no other process or task renews the login at a server."""
        name = f"vault-{sha256(server.encode()).hexdigest()[:32]}"
        while True:
            with StateFiles(os.environ).lock(name) as is_ours:
                if is_ours:
                    yield
                    return
            await asyncio.sleep(LOCK_POLL_SECONDS)
