"""Tokens in one SQLite file, encrypted with AES-256-GCM. The owner of a row is authenticated, not encrypted."""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard import ToolRuntimeError
from pegboard.plugin import decode, encode
from pegboard_plugins.support.secret_files import create_private_file

logger = logging.getLogger("pegboard.plugins.vault")

MAX_BUSY_SECONDS = 10
"""The limit of the time in which another process may hold the file."""
NONCE_BYTES = 12
_COUNTER = slice(24, 28)
"""The place of the counter of changes in the file (SQLite database file format, section 1.3.6)."""
_TOKENS = """
CREATE TABLE IF NOT EXISTS tokens (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, provider TEXT NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (issuer, subject, provider)
)
"""
_SERVER_LOGINS = "CREATE TABLE IF NOT EXISTS server_logins (server TEXT PRIMARY KEY, sealed BLOB NOT NULL)"


class TokenKey(NamedTuple):
    """The owner of a token, and its provider.

    Attributes:
        issuer: the issuer of the owner; "" for the operator.
        subject: the owner's subject at the issuer; "" for the operator.
        provider: the name of the registration at the provider.
    """

    issuer: str
    subject: str
    provider: str


class VaultToken(NamedTuple):
    """A token of a provider.

    Attributes:
        access_token: the token.
        refresh_token: the token that renews it; None if there is none.
        expires_at: the time from which it must be renewed, in seconds since 1970; None if it does not expire.
        scopes: the scopes that it has.
        account: the name of the user at the provider; "" if it is unknown.
    """

    access_token: str
    refresh_token: str | None = None
    expires_at: float | None = None
    scopes: tuple[str, ...] = ()
    account: str = ""

    def __repr__(self) -> str:
        """Return the scopes. Tokens must not reach logs."""
        return f"VaultToken(scopes={self.scopes!r})"


class VaultError(ToolRuntimeError):
    """The vault cannot be read."""


class VaultCipher:
    """Encrypts and decrypts rows.

    Args:
        keys: secrets. The first encrypts, all decrypt.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._ciphers = [AESGCM(_derived(key.encode())) for key in keys]

    def seal(self, key: Sequence[str], fields: Any) -> bytes:
        """Encrypt a JSON value, which can only be opened with the same `key`."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._ciphers[0].encrypt(nonce, encode(fields), encode(list(key)))

    def open(self, key: Sequence[str], sealed: bytes) -> Any:
        """Return the value of a row, or None if no key decrypts it."""
        for cipher in self._ciphers:
            with suppress(InvalidTag, TypeError, ValueError):  # not this key, or not a row of this host
                return decode(cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], encode(list(key))))
        return None


class VaultStore:
    """The file. Every method is one transaction, and may run in any thread.

    Args:
        path: the file, which is created with mode 0600.
        keys: secrets. The first encrypts, all decrypt.
    """

    def __init__(self, path: Path, keys: Sequence[str]) -> None:
        self._path = path
        self._cipher = VaultCipher(keys)

    def load(self, key: TokenKey) -> VaultToken | None:
        """Return a token, or None if there is none.

        Raises:
            VaultError: the token is encrypted with another key, or other users can read the file.
        """
        with self._file() as file:
            return self._read(file, key)

    def save(self, key: TokenKey, token: VaultToken) -> None:
        """Replace a token. It is on the disk when this method returns."""
        with self._file() as file:
            self._write(file, key, token)

    def replace(self, key: TokenKey, earlier: VaultToken, token: VaultToken) -> bool:
        """Replace a token, unless it is no longer the earlier token. Return False then."""
        with self._file() as file:
            if self._read(file, key) != earlier:
                return False
            self._write(file, key, token)
        return True

    def remove(self, key: TokenKey) -> None:
        """Remove a token."""
        with self._file() as file:
            file.execute("DELETE FROM tokens WHERE issuer = ? AND subject = ? AND provider = ?", key)

    def keys(self) -> list[TokenKey]:
        """Return the owners and providers of all tokens."""
        with self._file() as file:
            rows = file.execute("SELECT issuer, subject, provider FROM tokens ORDER BY 1, 2, 3").fetchall()
        return [TokenKey(*row) for row in rows]

    def version(self) -> bytes:
        """Return the counter of changes of the file. It does not wait for other processes."""
        try:
            with open(self._path, "rb", buffering=0) as file:
                return file.read(_COUNTER.stop)[_COUNTER]
        except OSError:
            return b""

    def load_login(self, server: str) -> Mapping[str, Any] | None:
        """Return the operator's login at an MCP server, or None if there is none that a key decrypts.

        Raises:
            VaultError: other users can read the file.
        """
        with self._file() as file:
            row = file.execute("SELECT sealed FROM server_logins WHERE server = ?", (server,)).fetchone()
        login: Mapping[str, Any] | None = None if row is None else self._cipher.open([server], row[0])
        if row is not None and login is None:
            logger.warning("the login at %s is damaged or encrypted with another key; it is not used", server)
        return login

    def save_login(self, server: str, login: Mapping[str, Any] | None) -> None:
        """Replace the operator's login at an MCP server. None removes it."""
        with self._file() as file:
            if login is None:
                file.execute("DELETE FROM server_logins WHERE server = ?", (server,))
            else:
                sealed = self._cipher.seal([server], login)
                file.execute("INSERT OR REPLACE INTO server_logins VALUES (?, ?)", (server, sealed))

    def logins(self) -> list[str]:
        """Return the names of all logins at MCP servers, and of what belongs to them."""
        with self._file() as file:
            return [str(name) for (name,) in file.execute("SELECT server FROM server_logins ORDER BY 1").fetchall()]

    def rotate(self) -> None:
        """Encrypt all tokens and logins with the first key, so that the other keys are no longer needed.

        Those that cannot be decrypted stay as they are.
        """
        with self._file() as file:
            for *key, sealed in file.execute("SELECT issuer, subject, provider, sealed FROM tokens").fetchall():
                own = TokenKey(*key)
                with suppress(VaultError):
                    self._write(file, own, token_of(own, self._cipher.open(own, sealed)))
            for server, sealed in file.execute("SELECT server, sealed FROM server_logins").fetchall():
                if (login := self._cipher.open([server], sealed)) is not None:
                    new = self._cipher.seal([server], login)
                    file.execute("INSERT OR REPLACE INTO server_logins VALUES (?, ?)", (server, new))

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
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

    def _read(self, file: sqlite3.Connection, key: TokenKey) -> VaultToken | None:
        row = file.execute(
            "SELECT sealed FROM tokens WHERE issuer = ? AND subject = ? AND provider = ?", key
        ).fetchone()
        return None if row is None else token_of(key, self._cipher.open(key, row[0]))

    def _write(self, file: sqlite3.Connection, key: TokenKey, token: VaultToken) -> None:
        sealed = self._cipher.seal(key, token._asdict())
        file.execute("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)", (*key, sealed))


def token_of(key: TokenKey, fields: Mapping[str, Any] | None) -> VaultToken:
    """Return the token with the fields of a row.

    Raises:
        VaultError: there are none, because no key decrypts the row.
    """
    if fields is None:
        raise VaultError(
            f"the token of {key.provider} is damaged or encrypted with another key: add that key to "
            f"[plugins.vault] keys, or log in again after `pegboard logout {key.provider}`"
        )
    return VaultToken(**{**fields, "scopes": tuple(fields["scopes"])})


def _derived(key: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=b"pegboard vault").derive(key)
