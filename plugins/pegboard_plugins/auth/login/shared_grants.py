"""The logins of people in a store that several machines share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from secrets import token_urlsafe
from time import time
from typing import TypeVar

from pegboard.plugin import PluginError, Record, RecordStore
from pegboard_plugins.auth.login.grant_store import MAX_CODE_SECONDS, GrantStore, LoginGrant, content_of, grant_of
from pegboard_plugins.auth.login.login_signing import LoginStateError

KIND = "login"

T = TypeVar("T")


class SharedGrants(GrantStore):
    """The logins as records. Their numbers are those of the records.

    Args:
        open_store: opens the store, with the function that the host calls before the store closes.
    """

    def __init__(self, open_store: Callable[[Callable[[], Awaitable[None]]], Awaitable[RecordStore]]) -> None:
        super().__init__(None)
        self._open_store = open_store
        self._store: RecordStore | None = None

    async def add(self, grant: LoginGrant) -> str:
        kept = grant._replace(id=token_urlsafe(16), expires_at=time() + MAX_CODE_SECONDS)
        await self._use(lambda store: store.create(_record(kept)))
        return kept.id

    async def load(self, grant_id: object) -> LoginGrant | None:
        record = await self._use(lambda store: store.get(f"{KIND}/{grant_id}"))
        return None if record is None else _grant(record)

    async def find(self, matches: Callable[[LoginGrant], bool]) -> list[LoginGrant]:
        grants = map(_grant, await self._use(lambda store: store.find(KIND)))
        used = [grant for grant in grants if grant.number and matches(grant)]
        return sorted(used, key=lambda grant: grant.expires_at)

    async def advance(self, grant: LoginGrant, expires_at: float) -> bool:
        record = _record(grant)
        return await self._use(lambda store: store.transition(record, record._replace(expires_at=expires_at)))

    async def remove(self, *grants: LoginGrant) -> None:
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


def _record(grant: LoginGrant) -> Record:
    return Record(f"{KIND}/{grant.id}", content_of(grant), grant.expires_at, number=grant.number)


def _grant(record: Record) -> LoginGrant:
    return grant_of(record.id.partition("/")[2], record.number, record.expires_at, record.content)
