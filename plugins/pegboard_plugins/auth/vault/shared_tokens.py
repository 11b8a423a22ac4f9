"""The vault in a store that several machines share. Its locks expire with their process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from time import monotonic, time
from typing import TypeAlias

from pegboard.plugin import Record, RecordStore
from pegboard_plugins.auth.vault.kept_tokens import KeptTokens
from pegboard_plugins.auth.vault.provider_client import ProviderClient
from pegboard_plugins.auth.vault.vault_store import VaultCipher, VaultError

LOCKS = "vault-locks"
LOCK_SECONDS = 60.0
"""How long a lock lasts whose process has ended. A renewal takes less: it is one request of at most 30 seconds."""

OpenStore: TypeAlias = Callable[[Callable[[], Awaitable[None]]], Awaitable[RecordStore]]


class SharedTokens(KeptTokens):
    """The tokens and logins in the store.

    Args:
        open_store: opens the store, with the function that the host calls before the store closes.
        cipher: encrypts the records.
        clients: the registrations at providers, by name.
    """

    def __init__(self, open_store: OpenStore, cipher: VaultCipher, clients: Mapping[str, ProviderClient]) -> None:
        super().__init__(clients)
        self._open_store = open_store
        self._cipher = cipher

    async def _open(self) -> RecordStore:
        return await self._open_store(self.close)

    def version(self) -> object:
        """Return a new value each time, because other processes may change logins at any time."""
        return object()

    @asynccontextmanager
    async def lock(self, name: str) -> AsyncIterator[bool]:
        ends = monotonic() + LOCK_SECONDS
        lock = Record(id=f"{LOCKS}/{name}", content=b"", expires_at=time() + LOCK_SECONDS)
        is_ours = await self._use(lambda records: records.create(lock))
        try:
            yield is_ours
        finally:
            if is_ours and monotonic() < ends:
                with suppress(VaultError):  # then it expires
                    await self._use(lambda records: records.delete(lock.id))

    async def close(self) -> None:
        """Wait for renewals that run."""
        await super().close()
        self._records = None
