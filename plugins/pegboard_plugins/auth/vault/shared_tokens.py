"""The vault in a store that several machines share: encrypted records, and locks that expire with their process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from time import monotonic, time
from typing import Any, TypeAlias, TypeVar

from pegboard.plugin import PluginError, Record, RecordStore, encode
from pegboard_plugins.auth.vault.kept_tokens import KeptTokens
from pegboard_plugins.auth.vault.provider_client import ProviderClient
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultCipher, VaultError, VaultToken, token_of

TOKENS, LOGINS, LOCKS = "vault-tokens", "vault-logins", "vault-locks"
KEPT_UNTIL = 2.0**33
"""The expiry of tokens and logins, in the year 2242: they end when their owner logs out."""
LOCK_SECONDS = 60.0
"""How long a lock lasts whose process has ended. A renewal takes less."""

OpenStore: TypeAlias = Callable[[Callable[[], Awaitable[None]]], Awaitable[RecordStore]]
T = TypeVar("T")


class SharedTokens(KeptTokens):
    """The tokens and logins of all owners as records.

    Args:
        open_store: opens the store, with the function that the host calls before the store closes.
        cipher: encrypts the records.
        clients: the registrations at providers, by name.
    """

    def __init__(self, open_store: OpenStore, cipher: VaultCipher, clients: Mapping[str, ProviderClient]) -> None:
        super().__init__(clients)
        self._open_store = open_store
        self._cipher = cipher
        self._records: RecordStore | None = None

    async def load(self, key: TokenKey) -> VaultToken | None:
        record = await self._load(TOKENS, key)
        return None if record is None else token_of(key, self._fields(record))

    async def save(self, key: TokenKey, token: VaultToken) -> None:
        await self._save(TOKENS, key, token._asdict())

    async def remove(self, key: TokenKey) -> None:
        await self._save(TOKENS, key, None)

    async def keys(self) -> list[TokenKey]:
        """Return the owners and providers of all tokens that a key decrypts."""
        return sorted(TokenKey(*key) for key in await self._names(TOKENS))

    async def replace(self, key: TokenKey, earlier: VaultToken, token: VaultToken) -> bool:
        record = await self._load(TOKENS, key)
        if record is None or token_of(key, self._fields(record)) != earlier:
            return False
        changed = self._record(TOKENS, key, token._asdict())
        return await self._use(lambda records: records.transition(record, changed))

    async def load_login(self, row: str) -> Mapping[str, Any] | None:
        record = await self._load(LOGINS, [row])
        return None if record is None else self._fields(record)

    async def save_login(self, row: str, login: Mapping[str, Any] | None) -> None:
        await self._save(LOGINS, [row], login)

    async def logins(self) -> list[str]:
        return sorted(row for (row,) in await self._names(LOGINS))

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

    async def _load(self, kind: str, key: Sequence[str]) -> Record | None:
        return await self._use(lambda records: records.get(_record_id(kind, key)))

    async def _save(self, kind: str, key: Sequence[str], fields: Mapping[str, Any] | None) -> None:
        if fields is None:
            await self._use(lambda records: records.delete(_record_id(kind, key)))
            return
        record = self._record(kind, key, fields)
        while not await self._use(lambda records: records.create(record)):
            earlier = await self._load(kind, key)
            if earlier is not None and await self._replaced(earlier, record):
                return

    async def _replaced(self, earlier: Record, record: Record) -> bool:
        return await self._use(lambda records: records.transition(earlier, record))

    async def _names(self, kind: str) -> list[Sequence[str]]:
        records = await self._use(lambda records: records.find(kind))
        opened = [self._cipher.open([record.id], record.content) for record in records]
        return [content["key"] for content in opened if content is not None]

    def _record(self, kind: str, key: Sequence[str], fields: Mapping[str, Any]) -> Record:
        record_id = _record_id(kind, key)
        content = self._cipher.seal([record_id], {"key": list(key), "fields": fields})
        return Record(id=record_id, content=content, expires_at=KEPT_UNTIL)

    def _fields(self, record: Record) -> Mapping[str, Any] | None:
        content = self._cipher.open([record.id], record.content)
        fields: Mapping[str, Any] | None = None if content is None else content["fields"]
        return fields

    async def _use(self, use: Callable[[RecordStore], Awaitable[T]]) -> T:
        try:
            self._records = self._records or await self._open_store(self.close)
            return await use(self._records)
        except (ConnectionError, PluginError) as error:
            raise VaultError(f"the vault cannot be reached: {error}") from error


def _record_id(kind: str, key: Sequence[str]) -> str:
    return f"{kind}/{sha256(encode(list(key))).hexdigest()}"
