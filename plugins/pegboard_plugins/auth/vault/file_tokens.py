"""The vault in one SQLite file, which the processes of one machine may use. The owner of a token is not encrypted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pegboard.plugin import RecordStore, StateFiles
from pegboard_plugins.auth.vault.kept_tokens import KeptTokens
from pegboard_plugins.auth.vault.provider_client import ProviderClient
from pegboard_plugins.auth.vault.token_records import LOGINS, TOKENS
from pegboard_plugins.auth.vault.vault_store import VaultCipher, VaultError
from pegboard_plugins.support.sqlite_records import RecordFile

_COUNTER = slice(24, 28)
"""The place of the counter of changes in the file (SQLite database file format, section 1.3.6)."""


class FileTokens(KeptTokens):
    """The tokens and logins in the file. A change is on the disk when its method returns.

    Args:
        find: returns the path of the file, for the first use. It may block.
        keys: returns secrets, for the first use. The first encrypts, all decrypt. It may block.
        clients: the registrations at providers, by name.
    """

    names_owners = True

    def __init__(
        self, find: Callable[[], Path], keys: Callable[[], Sequence[str]], clients: Mapping[str, ProviderClient]
    ) -> None:
        super().__init__(clients)
        self._find = find
        self._keys = keys
        self._path: Path | None = None

    async def exists(self) -> bool:
        """Return True if there is a file. It is not created."""
        return (await asyncio.to_thread(self._find)).exists()

    async def _open(self) -> RecordStore:
        path = await asyncio.to_thread(self._find)
        keys = await asyncio.to_thread(self._keys)
        file = RecordFile(lambda: path, VaultError)
        self._path = path
        self._cipher = VaultCipher(keys)
        if keys[1:]:
            await self._rotate(file)
        return file

    async def _rotate(self, file: RecordStore) -> None:
        """Encrypt all records with the first key, so that the other keys are no longer needed.

        Those that cannot be decrypted stay as they are.
        """
        for record in [*await file.find(TOKENS), *await file.find(LOGINS)]:
            if (content := self._cipher.open([record.id], record.content)) is not None:
                await file.transition(record, record._replace(content=self._cipher.seal([record.id], content)))

    def version(self) -> object:
        """Return the counter of changes of the file, which does not wait for other processes."""
        if self._path is None:
            return b""
        try:
            with open(self._path, "rb", buffering=0) as file:
                return file.read(_COUNTER.stop)[_COUNTER]
        except OSError:
            return b""

    @asynccontextmanager
    async def lock(self, name: str) -> AsyncIterator[bool]:
        with StateFiles(os.environ).lock(name) as is_ours:
            yield is_ours
