"""The vault in one SQLite file, which the processes of one machine may use. The owner of a row is not encrypted."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pegboard.plugin import StateFiles
from pegboard_plugins.auth.vault.kept_tokens import KeptTokens
from pegboard_plugins.auth.vault.provider_client import ProviderClient
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultCipher, VaultError, VaultToken, token_of
from pegboard_plugins.support.secret_files import create_private_file

logger = logging.getLogger("pegboard.plugins.vault")

MAX_BUSY_SECONDS = 10
"""The limit of the time in which another process may hold the file."""
_COUNTER = slice(24, 28)
"""The place of the counter of changes in the file (SQLite database file format, section 1.3.6)."""
_TOKENS = """
CREATE TABLE IF NOT EXISTS tokens (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, provider TEXT NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (issuer, subject, provider)
)
"""
_SERVER_LOGINS = "CREATE TABLE IF NOT EXISTS server_logins (server TEXT PRIMARY KEY, sealed BLOB NOT NULL)"

T = TypeVar("T")


class VaultFile:
    """The file. Every transaction may run in any thread.

    Args:
        path: the file, which is created with mode 0600.
        keys: secrets. The first encrypts, all decrypt.

    Attributes:
        cipher: encrypts the rows with these keys.
    """

    def __init__(self, path: Path, keys: Sequence[str]) -> None:
        self._path = path
        self.cipher = VaultCipher(keys)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction. What it writes is on the disk after the block.

        Raises:
            VaultError: the file cannot be used, or other users can read it.
        """
        try:
            create_private_file(self._path, VaultError)
        except OSError as error:
            raise VaultError(f"the vault {self._path} cannot be used: {error.strerror}") from error
        file = sqlite3.connect(self._path, timeout=MAX_BUSY_SECONDS, isolation_level=None)
        try:
            file.execute("PRAGMA synchronous = EXTRA")
            file.execute("PRAGMA secure_delete = ON")
            file.execute("BEGIN IMMEDIATE")
            file.execute(_TOKENS)
            file.execute(_SERVER_LOGINS)
            yield file
            file.execute("COMMIT")
        except sqlite3.Error as error:
            raise VaultError(f"the vault {self._path} cannot be used: {error}") from error
        finally:
            file.close()  # rolls back what is not committed

    def version(self) -> bytes:
        """Return the counter of changes of the file. It does not wait for other processes."""
        try:
            with open(self._path, "rb", buffering=0) as file:
                return file.read(_COUNTER.stop)[_COUNTER]
        except OSError:
            return b""

    def rotate(self) -> None:
        """Encrypt all tokens and logins with the first key, so that the other keys are no longer needed.

        Those that cannot be decrypted stay as they are.
        """
        with self.transaction() as file:
            for *key, sealed in file.execute("SELECT issuer, subject, provider, sealed FROM tokens").fetchall():
                own = TokenKey(*key)
                with suppress(VaultError):
                    self.write_token(file, own, token_of(own, self.cipher.open(own, sealed)))
            for server, sealed in file.execute("SELECT server, sealed FROM server_logins").fetchall():
                if (login := self.cipher.open([server], sealed)) is not None:
                    self.write_login(file, server, login)

    def read_token(self, file: sqlite3.Connection, key: TokenKey) -> VaultToken | None:
        """Return a token, or None if there is none."""
        row = file.execute(
            "SELECT sealed FROM tokens WHERE issuer = ? AND subject = ? AND provider = ?", key
        ).fetchone()
        return None if row is None else token_of(key, self.cipher.open(key, row[0]))

    def write_token(self, file: sqlite3.Connection, key: TokenKey, token: VaultToken) -> None:
        """Replace a token."""
        sealed = self.cipher.seal(key, token._asdict())
        file.execute("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)", (*key, sealed))

    def write_login(self, file: sqlite3.Connection, server: str, login: Mapping[str, Any]) -> None:
        """Replace a login at an MCP server."""
        file.execute("INSERT OR REPLACE INTO server_logins VALUES (?, ?)", (server, self.cipher.seal([server], login)))


class FileTokens(KeptTokens):
    """The tokens and logins in the file. A change is on the disk when its method returns.

    Args:
        open_vault: returns the file, for the first use. It may block.
        clients: the registrations at providers, by name.
    """

    def __init__(self, open_vault: Callable[[], VaultFile], clients: Mapping[str, ProviderClient]) -> None:
        super().__init__(clients)
        self._open_vault = open_vault
        self._vault: VaultFile | None = None

    async def load(self, key: TokenKey) -> VaultToken | None:
        return await self._use(lambda vault, file: vault.read_token(file, key))

    async def save(self, key: TokenKey, token: VaultToken) -> None:
        await self._use(lambda vault, file: vault.write_token(file, key, token))

    async def replace(self, key: TokenKey, earlier: VaultToken, token: VaultToken) -> bool:
        def exchange(vault: VaultFile, file: sqlite3.Connection) -> bool:
            is_same = vault.read_token(file, key) == earlier
            if is_same:
                vault.write_token(file, key, token)
            return is_same

        return await self._use(exchange)

    async def remove(self, key: TokenKey) -> None:
        query = "DELETE FROM tokens WHERE issuer = ? AND subject = ? AND provider = ?"
        await self._use(lambda _, file: file.execute(query, key))

    async def keys(self) -> list[TokenKey]:
        query = "SELECT issuer, subject, provider FROM tokens ORDER BY 1, 2, 3"
        return [TokenKey(*row) for row in await self._use(lambda _, file: file.execute(query).fetchall())]

    async def load_login(self, row: str) -> Mapping[str, Any] | None:
        def read(vault: VaultFile, file: sqlite3.Connection) -> Mapping[str, Any] | None:
            found = file.execute("SELECT sealed FROM server_logins WHERE server = ?", (row,)).fetchone()
            login: Mapping[str, Any] | None = None if found is None else vault.cipher.open([row], found[0])
            if found is not None and login is None:
                logger.warning("the login at %s is damaged or encrypted with another key; it is not used", row)
            return login

        return await self._use(read)

    async def save_login(self, row: str, login: Mapping[str, Any] | None) -> None:
        if login is None:
            await self._use(lambda _, file: file.execute("DELETE FROM server_logins WHERE server = ?", (row,)))
        else:
            await self._use(lambda vault, file: vault.write_login(file, row, login))

    async def logins(self) -> list[str]:
        query = "SELECT server FROM server_logins ORDER BY 1"
        return [str(server) for (server,) in await self._use(lambda _, file: file.execute(query).fetchall())]

    def version(self) -> bytes:
        """Return the counter of changes of the file."""
        return b"" if self._vault is None else self._vault.version()

    @asynccontextmanager
    async def lock(self, name: str) -> AsyncIterator[bool]:
        with StateFiles(os.environ).lock(name) as is_ours:
            yield is_ours

    async def _use(self, use: Callable[[VaultFile, sqlite3.Connection], T]) -> T:
        """Use the file in one transaction, in a thread. Open it first if necessary."""

        def run() -> T:
            if self._vault is None:
                self._vault = self._open_vault()
            with self._vault.transaction() as file:
                return use(self._vault, file)

        return await asyncio.to_thread(run)
