"""Tokens of the vault and logins at MCP servers, as encrypted records."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from typing import Any, TypeVar

from pegboard.plugin import PluginError, Record, RecordStore, decode, encode
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultCipher, VaultError, VaultToken, token_of

logger = logging.getLogger("pegboard.plugins.vault")

TOKENS, LOGINS = "vault-tokens", "vault-logins"
KEPT_UNTIL = 2.0**33
"""The expiry of tokens and logins, in the year 2242: they end when their owner logs out."""

T = TypeVar("T")


class TokenRecords(ABC):
    """The tokens of all owners, and their logins at MCP servers. Any method may raise `VaultError`.

    Attributes:
        names_owners: True if records name their owners, so that those that no key decrypts are listed too.
    """

    names_owners = False
    _cipher: VaultCipher
    """The encryption of the records, which `_open` may set."""
    _records: RecordStore | None = None

    @abstractmethod
    async def _open(self) -> RecordStore:
        """Open the store of the records."""

    @abstractmethod
    def version(self) -> object:
        """Return a value that changes if a login may have changed. It does not wait."""

    @abstractmethod
    def lock(self, name: str) -> AbstractAsyncContextManager[bool]:
        """Hold a lock during a block. Yield False, without waiting, if another process holds it."""

    async def load(self, key: TokenKey) -> VaultToken | None:
        """Return a token, even if it has expired. Return None if there is none."""
        record = await self._load(TOKENS, key)
        return None if record is None else token_of(key, self._fields(record))

    async def save(self, key: TokenKey, token: VaultToken) -> None:
        """Keep a token."""
        await self._save(TOKENS, key, token._asdict())

    async def replace(self, key: TokenKey, earlier: VaultToken, token: VaultToken) -> bool:
        """Replace a token, unless it is no longer the earlier token. Return False then."""
        record = await self._load(TOKENS, key)
        if record is None or token_of(key, self._fields(record)) != earlier:
            return False
        changed = self._record(TOKENS, key, token._asdict())
        return await self._use(lambda records: records.transition(record, changed))

    async def remove(self, key: TokenKey) -> None:
        """Forget a token."""
        await self._save(TOKENS, key, None)

    async def keys(self) -> list[TokenKey]:
        """Return the owners and providers of all tokens."""
        return sorted(TokenKey(*key) for key in await self._names(TOKENS))

    async def load_login(self, row: str) -> Mapping[str, Any] | None:
        """Return a login at an MCP server, or None if there is none that a key decrypts."""
        record = await self._load(LOGINS, [row])
        login = None if record is None else self._fields(record)
        if record is not None and login is None:
            logger.warning("the login at %s is damaged or encrypted with another key; it is not used", row)
        return login

    async def save_login(self, row: str, login: Mapping[str, Any] | None) -> None:
        """Replace a login at an MCP server. None removes it."""
        await self._save(LOGINS, [row], login)

    async def logins(self) -> list[str]:
        """Return the names of all logins at MCP servers, and of what belongs to them."""
        return sorted(row for (row,) in await self._names(LOGINS))

    async def _load(self, kind: str, key: Sequence[str]) -> Record | None:
        return await self._use(lambda records: records.get(record_id(kind, key)))

    async def _save(self, kind: str, key: Sequence[str], fields: Mapping[str, Any] | None) -> None:
        if fields is None:
            await self._use(lambda records: records.delete(record_id(kind, key)))
            return

        async def put(records: RecordStore) -> bool:
            record = self._record(kind, key, fields)
            if await records.create(record):
                return True
            earlier = await records.get(record.id)
            return earlier is not None and await records.transition(earlier, record)

        while not await self._use(put):
            pass

    async def _names(self, kind: str) -> list[Sequence[str]]:
        records = await self._use(lambda records: records.find(kind))
        if self.names_owners:
            return [decode(record.owner.encode()) for record in records]
        opened = [self._cipher.open([record.id], record.content) for record in records]
        return [content["key"] for content in opened if content is not None]

    def _record(self, kind: str, key: Sequence[str], fields: Mapping[str, Any]) -> Record:
        name = record_id(kind, key)
        content = self._cipher.seal([name], {"key": list(key), "fields": fields})
        owner = encode(list(key)).decode() if self.names_owners else ""
        return Record(id=name, content=content, expires_at=KEPT_UNTIL, owner=owner)

    def _fields(self, record: Record) -> Mapping[str, Any] | None:
        content = self._cipher.open([record.id], record.content)
        fields: Mapping[str, Any] | None = None if content is None else content["fields"]
        return fields

    async def _use(self, use: Callable[[RecordStore], Awaitable[T]]) -> T:
        try:
            self._records = self._records or await self._open()
            return await use(self._records)
        except (ConnectionError, PluginError) as error:
            raise VaultError(f"the vault cannot be reached: {error}") from error


def record_id(kind: str, key: Sequence[str]) -> str:
    """Return the id of the record of a token or login, which does not name its owner."""
    return f"{kind}/{sha256(encode(list(key))).hexdigest()}"
