"""The logins of people, as records in a file or in a store that several machines share. They contain no tokens.

A grant has a number that increases with each use of its code and its refresh tokens. Only the token with the current
number is valid, so each token is valid once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from time import time
from typing import NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pegboard.plugin import PluginError, Record, RecordStore, decode, encode
from pegboard_plugins.auth.login.login_signing import LoginStateError
from pegboard_plugins.auth.login.settings import Person
from pegboard_plugins.support.sqlite_records import RecordFile, state_path

MAX_CODE_SECONDS = 60.0
"""The lifetime of an authorization code."""
KIND = "login"

OpenStore: TypeAlias = Callable[[Callable[[], Awaitable[None]]], Awaitable[RecordStore]]
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
    """The logins. The number of a grant is that of its record.

    Each method raises `LoginStateError` if the store is unavailable.

    Args:
        open_store: opens the store, with the function that the host calls before the store closes.
    """

    def __init__(self, open_store: OpenStore) -> None:
        self._open_store = open_store
        self._store: RecordStore | None = None

    async def add(self, grant: LoginGrant) -> str:
        """Keep a grant until its code expires, and return its id."""
        kept = grant._replace(id=token_urlsafe(16), expires_at=time() + MAX_CODE_SECONDS)
        await self._use(lambda store: store.create(_record(kept)))
        return kept.id

    async def load(self, grant_id: object) -> LoginGrant | None:
        """Return a grant that has not expired, or None."""
        record = await self._use(lambda store: store.get(f"{KIND}/{grant_id}"))
        return None if record is None else _grant(record)

    async def find(self, matches: Callable[[LoginGrant], bool]) -> list[LoginGrant]:
        """Return the grants that match and have not expired, and whose code was used."""
        grants = map(_grant, await self._use(lambda store: store.find(KIND)))
        used = [grant for grant in grants if grant.number and matches(grant)]
        return sorted(used, key=lambda grant: grant.expires_at)

    async def advance(self, grant: LoginGrant, expires_at: float) -> bool:
        """Use up the valid token of a grant. Return False if another request has used it."""
        record = _record(grant)
        return await self._use(lambda store: store.transition(record, record._replace(expires_at=expires_at)))

    async def remove(self, *grants: LoginGrant) -> None:
        """End grants, and with them all their refresh tokens."""
        ids = [_record(grant).id for grant in grants]
        await self._use(lambda store: asyncio.gather(*map(store.delete, ids)))

    async def _close(self) -> None:
        self._store = None

    async def _use(self, use: Callable[[RecordStore], Awaitable[T]]) -> T:
        try:
            self._store = self._store or await self._open_store(self._close)
            return await use(self._store)
        except (ConnectionError, PluginError) as error:
            raise LoginStateError(f"the logins cannot be reached: {error}") from error


def grants_in_file(path: str | None) -> GrantStore:
    """Return the logins in a file, or in `login.db` in the state directory."""

    def find() -> Path:
        return Path(path) if path else state_path("login.db", LoginStateError)

    async def open_file(closing: object) -> RecordStore:
        return RecordFile(find, LoginStateError)

    return GrantStore(open_file)


def _record(grant: LoginGrant) -> Record:
    content = encode([*grant[:5], grant.person._asdict()])
    return Record(f"{KIND}/{grant.id}", content, grant.expires_at, number=grant.number)


def _grant(record: Record) -> LoginGrant:
    client, client_name, redirect_uri, challenge, scopes, person = decode(record.content)
    owner, grant_id = Person(**{**person, "groups": tuple(person["groups"])}), record.id.partition("/")[2]
    return LoginGrant(
        client, client_name, redirect_uri, challenge, tuple(scopes), owner, grant_id, record.number, record.expires_at
    )
