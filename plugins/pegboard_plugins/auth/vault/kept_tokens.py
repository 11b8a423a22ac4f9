"""Tokens of the vault, renewed before they expire: one renewal at a time for each token, also between processes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from hashlib import sha256
from time import time

from pegboard.plugin import encode
from pegboard_client import LoginFailedError
from pegboard_plugins.auth.vault.provider_client import REFUSED_REFRESH, ProviderClient, ProviderRefusedError
from pegboard_plugins.auth.vault.token_records import TokenRecords
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultToken

LOCK_POLL_SECONDS = 0.1
"""The interval at which a process asks whether another process has renewed a token."""
MAX_CLOSE_SECONDS = 30.0
"""The limit of the time that the end of the host waits for renewals."""
_UNREPORTED = frozenset(("offline_access", "openid"))
"""Scopes that providers grant without reporting them."""


class KeptTokens(TokenRecords):
    """The tokens and logins, and the renewals of tokens.

    Args:
        clients: the registrations at providers, by name.
    """

    def __init__(self, clients: Mapping[str, ProviderClient]) -> None:
        self._clients = clients
        self._renewals: dict[TokenKey, asyncio.Task[VaultToken | None]] = {}

    async def fresh(self, key: TokenKey, scopes: Iterable[str] = ()) -> VaultToken | None:
        """Return a valid token with these scopes, or None if its owner must log in.

        Raises:
            LoginFailedError: the provider cannot be reached.
            VaultError: the vault cannot be used.
        """
        token = await self.load(key)
        if token is not None and covers(token, scopes) and has_expired(token):
            token = await self._renewed(key)
        return token if token is not None and covers(token, scopes) else None

    async def _renewed(self, key: TokenKey) -> VaultToken | None:
        """Renew a token. Cancelling a call does not cancel the renewal: the provider may have replaced the token."""
        task = self._renewals.get(key)
        if task is None:
            task = self._renewals[key] = asyncio.get_running_loop().create_task(self._renew(key))
            task.add_done_callback(lambda ended: self._end(key, ended))
        return await asyncio.shield(task)

    def _end(self, key: TokenKey, task: asyncio.Task[VaultToken | None]) -> None:
        del self._renewals[key]
        if not task.cancelled():
            task.exception()  # the calls may have ended

    async def _renew(self, key: TokenKey) -> VaultToken | None:
        name = f"vault-{sha256(encode(list(key))).hexdigest()[:32]}"
        await self._clients[key.provider].find_addresses()  # the lock is for the time of one request
        while True:
            async with self.lock(name) as is_ours:
                token = await self.load(key)
                if token is None or not has_expired(token):
                    return token  # another process has renewed or removed it
                if is_ours:
                    return await self._use_refresh_token(key, token)
            await asyncio.sleep(LOCK_POLL_SECONDS)

    async def _use_refresh_token(self, key: TokenKey, token: VaultToken) -> VaultToken | None:
        if token.refresh_token is None:
            return None
        if not await self.replace(key, token, token):  # raises if the store cannot be written
            return await self.load(key)
        try:
            fresh = await self._clients[key.provider].refresh(token)
        except ProviderRefusedError as error:
            if error.code not in REFUSED_REFRESH:
                raise
            await self.replace(key, token, token._replace(refresh_token=None))
            return None
        if await self.replace(key, token, fresh):
            return fresh
        later = await self.load(key)
        if later is None:  # the owner has logged out
            await self.revoke(key, fresh)
        return later

    async def close(self) -> None:
        """Wait for renewals that run: their providers may already have replaced the refresh tokens."""
        if self._renewals:
            await asyncio.wait(self._renewals.values(), timeout=MAX_CLOSE_SECONDS)

    async def revoke(self, key: TokenKey, token: VaultToken) -> str:
        """Revoke a token at its provider. Return the reason why the provider may still accept a part of it, or "".

        If a provider revokes only access tokens, an expired token is renewed first.
        """
        client = self._clients.get(key.provider)
        if client is None:
            return f"it was not revoked, because there is no section [plugins.vault.providers.{key.provider}]"
        leaves_refresh_token = client.facts.revokes_access_token and token.refresh_token is not None
        try:
            if leaves_refresh_token and has_expired(token):
                renewed = await self._renewed(key)
                if renewed is None:
                    return ""  # the provider has ended the login
                token = renewed
            if not await client.revoke(token):
                return f"{client.facts.title} offers no revocation"
        except LoginFailedError as error:
            return str(error).removesuffix(".")
        rest = f"{client.facts.title} revoked the access token, and may keep the refresh token"
        return rest if leaves_refresh_token else ""


def covers(token: VaultToken, scopes: Iterable[str]) -> bool:
    """Return True if a token has all these scopes."""
    return set(scopes) - _UNREPORTED <= set(token.scopes)


def has_expired(token: VaultToken) -> bool:
    """Return True if a token must be renewed."""
    return token.expires_at is not None and time() >= token.expires_at
