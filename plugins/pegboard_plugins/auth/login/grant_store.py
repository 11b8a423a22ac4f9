"""The logins of people, in one SQLite file that several processes may use. The file has no tokens.

A grant has a number that increases with each use of its code and its refresh tokens. Only the token with the current
number is valid, so each token is valid once.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from time import time
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from pegboard.plugin import StateFiles, decode, encode
from pegboard_plugins.auth.login.login_signing import LoginStateError
from pegboard_plugins.auth.login.settings import Person
from pegboard_plugins.support.secret_files import create_private_file

MAX_FILE_WAIT_SECONDS = 10
"""The limit of the time in which another process may hold the file."""
MAX_CODE_SECONDS = 60.0
"""The lifetime of an authorization code."""
_TABLE = """
CREATE TABLE IF NOT EXISTS grants (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL, expires_at REAL NOT NULL, content TEXT NOT NULL
)
"""

T = TypeVar("T")


class LoginGrant(NamedTuple):
    """The consent of a person to one client.

    Attributes:
        client: the label of the client.
        client_name: the name that the client gave itself; "" for none.
        redirect_uri: the redirect URI that received the code.
        challenge: the PKCE code challenge.
        scopes: the scopes.
        person: the person.
        id: the id of the grant.
        number: the number of the valid token; 0 for the code.
        expires_at: the end of the grant, in seconds since 1970.
    """

    client: str
    client_name: str
    redirect_uri: str
    challenge: str
    scopes: tuple[str, ...]
    person: Person
    id: str = ""
    number: int = 0
    expires_at: float = 0.0

    @property
    def label(self) -> str:
        """The short id by which people choose a login."""
        return sha256(self.id.encode()).hexdigest()[:8]

    @property
    def destination(self) -> str:
        """The host, or the scheme of an application, that received the code."""
        parts = urlsplit(self.redirect_uri)
        return parts.netloc or f"{parts.scheme}:"

    @property
    def until(self) -> str:
        """The end of the grant (RFC 3339)."""
        return datetime.fromtimestamp(self.expires_at, UTC).isoformat("T", "minutes").replace("+00:00", "Z")


class GrantStore:
    """The file. Each method raises `LoginStateError` if the file cannot be used.

    Args:
        path: the file, which is created with mode 0600; None for `login.db` in the state directory.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path

    async def add(self, grant: LoginGrant) -> str:
        """Keep a grant until its code expires, and return its id. Remove the grants that have expired."""
        grant_id, now = token_urlsafe(16), time()
        content = content_of(grant).decode()

        def insert(file: sqlite3.Connection) -> None:
            file.execute("DELETE FROM grants WHERE expires_at < ?", (now,))
            file.execute("INSERT INTO grants VALUES (?, 0, ?, ?)", (grant_id, now + MAX_CODE_SECONDS, content))

        await self._in_thread(insert)
        return grant_id

    async def load(self, grant_id: object) -> LoginGrant | None:
        """Return a grant that has not expired, or None."""
        query = "SELECT * FROM grants WHERE id = ? AND expires_at >= ?"
        row = await self._in_thread(lambda file: file.execute(query, (str(grant_id), time())).fetchone())
        return None if row is None else _of_row(*row)

    async def find(self, matches: Callable[[LoginGrant], bool]) -> list[LoginGrant]:
        """Return the grants that match and have not expired, and whose code was used."""
        query = "SELECT * FROM grants WHERE number > 0 AND expires_at >= ? ORDER BY expires_at"
        rows = await self._in_thread(lambda file: file.execute(query, (time(),)).fetchall())
        return [grant for grant in (_of_row(*row) for row in rows) if matches(grant)]

    async def advance(self, grant: LoginGrant, expires_at: float) -> bool:
        """Use up the valid token of a grant. Return False if another request has used it."""
        query = "UPDATE grants SET number = number + 1, expires_at = ? WHERE id = ? AND number = ?"
        values = (expires_at, grant.id, grant.number)
        return await self._in_thread(lambda file: file.execute(query, values).rowcount == 1)

    async def remove(self, *grants: LoginGrant) -> None:
        """End grants, and with them all their refresh tokens."""
        ids = [(grant.id,) for grant in grants]
        await self._in_thread(lambda file: file.executemany("DELETE FROM grants WHERE id = ?", ids))

    async def _in_thread(self, use: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            path = self._place()
            try:
                with _opened(path) as file:
                    return use(file)
            except (OSError, sqlite3.Error) as error:
                raise LoginStateError(f"the file of logins {path} cannot be used: {error}") from error

        return await asyncio.to_thread(run)

    def _place(self) -> Path:
        if self._path is not None:
            return Path(self._path)
        try:
            directory = StateFiles(os.environ).directory
        except OSError as error:
            raise LoginStateError(f"the file of logins cannot be used: {error}") from error
        if directory is None:
            raise LoginStateError("there is no state directory for logins: set [plugins.login] database")
        return directory / "login.db"


def content_of(grant: LoginGrant) -> bytes:
    """Return what is kept of a grant beside its id, its number and its end."""
    return encode([*grant[:5], grant.person._asdict()])


def grant_of(grant_id: str, number: int, expires_at: float, content: bytes) -> LoginGrant:
    """Return the grant that was kept."""
    client, client_name, redirect_uri, challenge, scopes, person = decode(content)
    owner = Person(**{**person, "groups": tuple(person["groups"])})
    return LoginGrant(client, client_name, redirect_uri, challenge, tuple(scopes), owner, grant_id, number, expires_at)


def _of_row(grant_id: str, number: int, expires_at: float, content: str) -> LoginGrant:
    return grant_of(grant_id, number, expires_at, content.encode())


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    create_private_file(path, LoginStateError)
    with closing(sqlite3.connect(path, timeout=MAX_FILE_WAIT_SECONDS, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        file.execute(_TABLE)
        yield file
        file.execute("COMMIT")
